package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

func TestOpenCodeRoots(t *testing.T) {
	for _, tt := range []struct {
		xdg, db string
		want    []string
	}{
		{"", "", []string{"/home/ann/.local/share/opencode"}},
		{"/data", "", []string{"/data/opencode"}},
		{"relative", ":memory:", []string{"/home/ann/.local/share/opencode"}},
		{"", "opencode-beta.db", []string{"/home/ann/.local/share/opencode"}},
		{"", "mine.db", []string{"/home/ann/.local/share/opencode", "/home/ann/.local/share/opencode/mine.db", "/home/ann/.local/share/opencode/mine.db-wal"}},
		{"", "/srv/oc.sqlite", []string{"/home/ann/.local/share/opencode", "/srv/oc.sqlite", "/srv/oc.sqlite-wal"}},
	} {
		env := Env{Home: "/home/ann", Getenv: func(name string) string {
			return map[string]string{"XDG_DATA_HOME": tt.xdg, "OPENCODE_DB": tt.db}[name]
		}}
		got := OpenCode.Roots(env)
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("XDG_DATA_HOME %q, OPENCODE_DB %q: %s", tt.xdg, tt.db, diff)
		}
	}
}

func TestOpenCodeClaims(t *testing.T) {
	for rel, want := range map[string]bool{
		"opencode.db":                                   true,
		"opencode.db-wal":                               true,
		"opencode-beta.db":                              true,
		"opencode.db-shm":                               false, // readers change it too
		"other.db":                                      false,
		"auth.json":                                     false,
		"log/opencode.db":                               false,
		"storage/session/p1/ses_1.json":                 true,
		"storage/session/p1/.oc-1.tmp":                  false,
		"storage/session_share/ses_1":                   false,
		"storage/session_diff/ses_1.json":               false,
		"storage/message/ses_1/msg_1.json":              false, // found from their session
		"storage/part/msg_1/prt_1.json":                 false,
		"project/srv-x/storage/session/info/ses_1.json": true,
		"project/srv-x/storage/session/message/ses_1/msg_1.json":  false,
		"quarantine/storage/session/p1/ses_1.json":                false,
		"snapshot/project/a/storage/session/info/deep/ses_1.json": false,
	} {
		if got := OpenCode.Claims(rel); got != want {
			t.Errorf("Claims(%q) = %v", rel, got)
		}
	}
}

func TestOpenCodeEnter(t *testing.T) {
	for rel, want := range map[string]bool{
		"storage":                               true,
		"storage/session":                       true,
		"storage/session/p1":                    true,
		"storage/session/p1/deeper":             false,
		"storage/message":                       false,
		"storage/part":                          false,
		"storage/session_share":                 false,
		"project":                               true,
		"project/srv-x":                         true,
		"project/srv-x/storage/session/info":    true,
		"project/srv-x/storage/session/message": false,
		"snapshot":                              false,
		"log":                                   false,
	} {
		if got := OpenCode.Enter(rel); got != want {
			t.Errorf("Enter(%q) = %v", rel, got)
		}
	}
}

// Discovery does not even list the folders of messages and parts.
func TestOpenCodeDiscoversWithoutParts(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	writeOpenCodeTree(t, data, false, openCodeTalk("ses_1", openCodeBorn))
	writeTree(t, data, map[string]string{"storage/part/opencode.db": "", "log/ses_2.json": "{}"})
	var entered []string
	h := *OpenCode
	h.Enter = func(rel string) bool {
		if OpenCode.Enter(rel) {
			entered = append(entered, rel)
		}
		return OpenCode.Enter(rel)
	}
	n := 0
	Discover(&h, Env{Home: home}, func(Source) { n++ }, func(p Problem) { t.Error(p) })
	if want := []string{"storage", "storage/session", "storage/session/p1"}; n != 1 || !slices.Equal(entered, want) {
		t.Errorf("%d sessions, through %q", n, entered)
	}
}

func TestOpenCodeDetect(t *testing.T) {
	long := strings.Repeat("x", HeadBytes)
	for _, tt := range []struct {
		name, head string
		want       bool
	}{
		{"an export", `{"info":{"id":"ses_1","time":{"created":1}},"messages":[]}`, true},
		{"a pretty one", "{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"time\": {\"created\": 1}\n  },\n  \"messages\": [\n    {\"info\": {\"role\": \"user\"}, \"parts\": []}\n  ]\n}", true},
		{"a long one, on one line", `{"info":{"id":"ses_1","title":"t","time":{"created":1}},"messages":[{"info":{"role":"user"},"parts":[{"text":"` + long, true},
		{"a canonical document", `{"info":{"id":"msg_1","role":"user","sessionID":"ses_1"},"parts":[]}` + "\n" + `{"info":{"id":"ses_1"}}`, true},
		{"one that begins with a long message", `{"info":{"id":"msg_1","role":"user","sessionID":"ses_1"},"parts":[{"text":"` + long, true},
		{"the stream of opencode run", `{"type":"text","timestamp":1,"sessionID":"ses_1","part":{"id":"prt_1","type":"text","text":"x"}}`, false},
		{"a session's file alone", `{"id":"ses_1","projectID":"p","directory":"/x","title":"t","time":{"created":1}}`, false},
		{"another's document", `{"info":{"id":"4711","cwd":"/x"},"session_summary":"s","messages":[]}`, false},
		{"another's messages", `{"info":{"id":"a","role":"user"},"parts":[]}`, false},
		{"nothing", "", false},
		{"no JSON", "SQLite format 3\x00", false},
	} {
		head := tt.head[:min(len(tt.head), HeadBytes)]
		if got := OpenCode.Detect(newHead([]byte(head))); got != tt.want {
			t.Errorf("%s: Detect = %v", tt.name, got)
		}
		if h, _ := Detect([]byte(head)); tt.want && h != OpenCode {
			t.Errorf("%s: taken for %v", tt.name, h)
		}
	}
}

func TestOpenCodeCommands(t *testing.T) {
	got := OpenCode.Resume(&session.Meta{NativeID: "ses_1", Dir: "/srv/x"})
	if !slices.Equal(got.Argv, []string{"opencode", "-s", "ses_1"}) || got.Dir != "/srv/x" {
		t.Errorf("Resume = %+v", got)
	}
	got = OpenCode.Start("/srv/x", "bake")
	if !slices.Equal(got.Argv, []string{"opencode", "--prompt", "bake"}) || got.Dir != "/srv/x" {
		t.Errorf("Start = %+v", got)
	}
}

func TestOpenCodeTyped(t *testing.T) {
	for in, want := range map[string]string{
		`"fix the oven"`:            "fix the oven",
		`"say \"done\" at the end"`: `say "done" at the end`,
		`"one" and "two"`:           `"one" and "two"`,
		`"word"`:                    `"word"`,
		`fix the "oven door"`:       `fix the "oven door"`,
		`"`:                         `"`,
		`""`:                        `""`,
	} {
		if got := openCodeTyped(in); got != want {
			t.Errorf("openCodeTyped(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOpenCodePlaceholder(t *testing.T) {
	for title, want := range map[string]bool{
		"":                                       true,
		"New session - 2026-01-02T03:04:05.678Z": true,
		"Child session - 2026-01-02T03:04:05.678Z": true,
		"New session - with a name":                false,
		"Renew session - 2026-01-02T03:04:05.678Z": false,
	} {
		if got := openCodePlaceholder(title); got != want {
			t.Errorf("openCodePlaceholder(%q) = %v", title, got)
		}
	}
}

// Ids of 1.18.33, the second one a copy's.
func TestOpenCodeMade(t *testing.T) {
	for _, tt := range []struct {
		id   string
		ms   float64
		want bool
	}{
		{"msg_22dfd46eb001VVp2AK73g8ZNEX", 1796067903211, true},
		{"msg_22dfdc4d5001fKc1KbNu94DlMJ", 1796067903211, false},
		{"msg_22dfd46eb001VVp2AK73g8ZNEX", 1796067903211 + 1<<36, true}, // as often as the clock comes round
		{"msg_short", 1796067903211, false},
		{"msg_nothexadecimal00", 1796067903211, false},
		{"", 0, false},
	} {
		if got := openCodeMade(tt.id, tt.ms); got != tt.want {
			t.Errorf("openCodeMade(%q, %.0f) = %v", tt.id, tt.ms, got)
		}
	}
}

// An export may be far longer than what detection sees, and its name says nothing.
func TestOpenCodeLongExport(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"info":{"id":"ses_1","title":"Long","directory":"/srv/bakery","time":{"created":1777000000000}},"messages":[`)
	const n = 50
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"info":{"id":"msg_%03d","sessionID":"ses_1","role":"user","time":{"created":1777000000000}},"parts":[{"id":"p","type":"text","text":"question %d %s"}]}`,
			i, i, strings.Repeat("flour ", 10_000))
	}
	b.WriteString("]}")
	for _, name := range []string{"export.json", "full.jsonl"} {
		meta, turns := parseFile(t, OpenCode, name, b.Bytes())
		if meta.Turns.User != n || meta.BadLines != 0 || meta.Title != "Long" || !strings.HasPrefix(turns[n-1].Text, "question 49 ") {
			t.Errorf("%s: %+v, %d bad lines", name, meta.Turns, meta.BadLines)
		}
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "full.jsonl")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	srcs, carrier, err := Sources(path)
	if err != nil || carrier != path || len(srcs) != 1 {
		t.Fatalf("%d sources at %s, %v", len(srcs), carrier, err)
	}
	if h, err := Identify(srcs[0]); h != OpenCode {
		t.Errorf("taken for %v, %v", h, err)
	}
}

// However an export is broken over lines, it reads the same.
func TestOpenCodeSplitterLaw(t *testing.T) {
	const doc = `{"info":{"id":"ses_1","n":[1,{"a":"}]\"{"}]},"x":null,"messages":[{"a":1},{"b":[2,"messages"]},3,"s",true],"messages2":[{"no":1}],"n":-1.5e3}`
	split := func(lines []string) (found []string) {
		s := openCodeSplitter{
			begin:   func() { found = append(found, "begin") },
			member:  func(k string, raw []byte) { found = append(found, k+"="+string(raw)) },
			element: func(raw []byte) { found = append(found, "element="+string(raw)) },
			end:     func() { found = append(found, "end") },
			lost:    func() { found = append(found, "lost") },
		}
		for _, l := range lines {
			s.line([]byte(l))
		}
		s.finish()
		return found
	}
	want := []string{"begin", `info={"id":"ses_1","n":[1,{"a":"}]\"{"}]}`, "x=null", `element={"a":1}`, `element={"b":[2,"messages"]}`, "element=3", `element="s"`,
		"element=true", `messages2=[{"no":1}]`, "n=-1.5e3", "end"}
	if diff := cmp.Diff(want, split([]string{doc})); diff != "" {
		t.Fatal(diff)
	}
	inString, escaped := false, false
	var broken []string // a new line after every sign that is outside of strings
	last := 0
	for i, c := range []byte(doc) {
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case !inString && strings.ContainsRune("{[,:", rune(c)):
			broken = append(broken, doc[last:i+1])
			last = i + 1
		}
	}
	broken = append(broken, doc[last:])
	if diff := cmp.Diff(want, split(broken)); diff != "" {
		t.Error(diff)
	}
	for cut := 1; cut < len(doc); cut++ { // cut off and followed by a whole one
		got := split([]string{doc[:cut], doc})
		if tail := got[max(0, len(got)-len(want)):]; !slices.Equal(tail, want) && !strings.ContainsRune("[,:", rune(doc[cut-1])) {
			t.Errorf("after %q: %q", doc[:cut], got)
		}
	}
}
