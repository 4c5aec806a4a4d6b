package harness

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

func TestGeminiRoots(t *testing.T) {
	vars := map[string]string{}
	env := Env{Home: "/home/ann", Getenv: func(name string) string { return vars[name] }}
	for _, tt := range []struct{ set, want string }{
		{"", "/home/ann/.gemini/tmp"},
		{"/data/gem", "/data/gem/.gemini/tmp"},
		{"~/gem", "/home/ann/gem/.gemini/tmp"},
	} {
		vars["GEMINI_CLI_HOME"] = tt.set
		if got := GeminiCLI.Roots(env); !slices.Equal(got, []string{filepath.FromSlash(tt.want)}) {
			t.Errorf("Roots with %q = %q, want %q", tt.set, got, tt.want)
		}
	}
	if got := GeminiCLI.Roots(Env{}); got != nil {
		t.Errorf("Roots without a home = %q", got)
	}
}

func TestGeminiClaims(t *testing.T) {
	for rel, want := range map[string]bool{
		"pier/chats/session-2026-03-01T09-00-aaaaaaaa.jsonl":                   true,
		"0a1b/chats/session-2026-03-01T09-00-aaaaaaaa.json":                    true,
		"pier/chats/some-parent/some-child.jsonl":                              true,
		"pier/chats/session-2026-03-01T09-00-aaaaaaaa.jsonl.tmp-12":            false,
		"pier/chats/session-2026-03-01T09-00-aaaaaaaa.jsonl.unreadable-177235": false,
		"pier/chats/a/b/c.jsonl":                                               false,
		"pier/logs.json":                                                       false,
		"pier/checkpoint-tag.json":                                             false,
		"pier/checkpoints/2026-03-01T09_00-a.txt-replace.json":                 false,
		"pier/tool-outputs/session-x/out.json":                                 false,
		"chats/session-2026-03-01T09-00-aaaaaaaa.jsonl":                        false,
		"pier/chats/.session.json":                                             false,
	} {
		if got := GeminiCLI.Claims(rel); got != want {
			t.Errorf("Claims(%q) = %v", rel, got)
		}
	}
}

func TestGeminiDetect(t *testing.T) {
	facts := `"sessionId":"s","projectHash":"h","startTime":"2026-03-01T09:00:00Z"`
	for _, tt := range []struct {
		name, head string
		want       bool
	}{
		{"a log", "{" + facts + "}\n", true},
		{"a document on one line", "{" + facts + `,"messages":[]}`, true},
		{"a document longer than the head", "{\n  " + facts + ",\n  \"messages\": [\n" + strings.Repeat("    {\"content\": \"x\"},\n", HeadBytes/20), true},
		{"a line longer than the head", "{" + facts + `,"messages":[{"content":"` + strings.Repeat("x", HeadBytes), true},
		{"a patch behind a torn line", "{\"sess\n" + `{"$set":{"lastUpdated":"t"}}`, true},
		{"a rewind behind a torn line", "{\"sess\n" + `{"$rewindTo":"m"}`, true},
		{"a message behind a torn line", "{\"sess\n" + `{"id":"m","timestamp":"t","type":"gemini","content":"","tokens":null,"model":"m"}`, true},
		{"several files", string(partHead{Harness: geminiName, Name: "a.json"}.line()) + "{\n", true},
		{"another's several files", string(partHead{Harness: "grok-build", Name: "updates.jsonl"}.line()), false},
		{"a prompt history", `[{"sessionId":"s","messageId":0,"type":"user","message":"hi","timestamp":"t"}]`, false},
		{"a printed prompt history", "[\n  {\n    \"sessionId\": \"s\",\n    \"messageId\": 0,\n    \"type\": \"user\",\n    \"message\": \"hi\"\n  }\n]", false},
		{"a saved chat", `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"hi"}]}]`, false},
		{"a saved chat with its login", `{"history":[{"role":"user","parts":[{"text":"hi"}]}],"authType":"oauth"}`, false},
		{"a restore point", `{"history":[],"clientHistory":[],"toolCall":{"name":"replace","args":{}},"commitHash":"c"}`, false},
		{"a message with other members", `{"id":"m","timestamp":"t","type":"user","content":"hi","parentId":"p"}`, false},
		{"another's message", `{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}],"metadata":{"timestamp":1}}`, false},
		{"the registry", `{"projects":{"/srv/pier":"pier"}}`, false},
	} {
		if got := GeminiCLI.Detect(newHead([]byte(tt.head[:min(len(tt.head), HeadBytes)]))); got != tt.want {
			t.Errorf("%s: Detect = %v", tt.name, got)
		}
	}
}

func TestGeminiCommands(t *testing.T) {
	m := &session.Meta{NativeID: "child", Dir: "/srv/pier"}
	want := Command{Argv: []string{"gemini", "--resume", "child"}, Dir: "/srv/pier"}
	if diff := cmp.Diff(want, GeminiCLI.Resume(m)); diff != "" {
		t.Error(diff)
	}
	want = Command{Argv: []string{"gemini", "--prompt-interactive=--help me"}, Dir: "/srv/pier"}
	if diff := cmp.Diff(want, GeminiCLI.Start("/srv/pier", "--help me")); diff != "" {
		t.Error(diff)
	}
}

const (
	geminiTestFacts = `{"sessionId":"%","projectHash":"h","startTime":"2026-03-01T09:00:00Z","kind":"main"}` + "\n"
	geminiTestUser  = `{"id":"%","timestamp":"2026-03-01T09:00:01Z","type":"user","content":[{"text":"say %"}]}` + "\n"
	geminiTestSet   = `{"$set":{"messages":[{"id":"e","timestamp":"2026-03-01T09:09:00Z","type":"user","content":[{"text":"<session_context>\nx\n</session_context>"}]}]}}` + "\n"
)

func geminiWith(template string, values ...string) string {
	for _, v := range values {
		template = strings.ReplaceAll(template, "%", v)
	}
	return template
}

// One session in three files is one source, under the name of the first; sessions
// whose names merely look alike stand alone, and so do files that are not there.
func TestGeminiDiscover(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	old := "{\n  \"sessionId\": \"aaaaaaaa-1\",\n  \"projectHash\": \"h\",\n  \"startTime\": \"2026-03-01T08:00:00Z\",\n  \"messages\": [\n    " +
		strings.TrimSpace(geminiWith(geminiTestUser, "m1")) + "\n  ]\n}"
	facts := geminiWith(geminiTestFacts, "aaaaaaaa-1")
	const chats = ".gemini/tmp/pier/chats/"
	writeTree(t, home, map[string]string{
		chats + "session-2026-03-01T08-00-aaaaaaaa.json":  old,
		chats + "session-2026-03-01T08-00-aaaaaaaa.jsonl": facts + geminiWith(geminiTestUser, "m1") + geminiWith(geminiTestUser, "m2"),
		chats + "session-2026-03-01T09-30-aaaaaaaa.jsonl": facts + geminiTestSet, // what going on leaves
		chats + "session-2026-03-01T08-00-bbbbbbbb.jsonl": geminiWith(geminiTestFacts, "bbbbbbbb-1") + geminiWith(geminiTestUser, "b1"),
		chats + "session-2026-03-01T08-05-bbbbbbbb.jsonl": geminiWith(geminiTestFacts, "bbbbbbbb-2") + geminiWith(geminiTestUser, "b2"),
		chats + "aaaaaaaa-1/kid.jsonl":                    geminiWith(geminiTestFacts, "kid") + geminiWith(geminiTestUser, "k1"),
		chats + "session-1772355540000-cccccccc.jsonl": geminiWith(geminiTestFacts, "cccccccc-1") +
			`{"id":"import-1","type":"info","content":"Imported session from ` + filepath.ToSlash(home) + "/" + chats + `session-2026-03-01T08-00-bbbbbbbb.jsonl"}` + "\n" + geminiWith(geminiTestUser, "c1"),
		".gemini/tmp/pier/.project_root":                                              "/srv/pier\n",
		".gemini/tmp/pier/logs.json":                                                  "[]",
		".gemini/tmp/dock/chats/session-x.json":                                       "{}",
		".gemini/tmp/" + geminiHash("/srv/yard") + "/chats/y.jsonl":                   "{}",
		".gemini/tmp/" + geminiHash("/srv/shed") + "/chats/s.jsonl":                   "{}",
		".gemini/tmp/nobody/chats/n.jsonl":                                            "{}",
		".gemini/projects.json":                                                       `{"projects":{"/srv/dock":"dock","/srv/yard":"yard-1"}}`,
		".gemini/trustedFolders.json":                                                 `{"/srv/shed":"TRUST_FOLDER"}`,
		".gemini/tmp/pier/chats/session-2026-03-01T08-00-aaaaaaaa.jsonl.tmp-1":        "{}",
		".gemini/tmp/pier/chats/session-2026-03-01T08-00-aaaaaaaa.jsonl.unreadable-1": "{}",
	})
	found := map[string]Source{}
	Discover(GeminiCLI, Env{Home: home}, func(s Source) {
		rel, _ := filepath.Rel(filepath.Join(home, ".gemini", "tmp"), s.Path)
		found[filepath.ToSlash(rel)] = s
		if s.Harness != GeminiCLI {
			t.Errorf("%s: harness %v", rel, s.Harness)
		}
	}, func(p Problem) { t.Error(p) })
	dirs := map[string]string{}
	for rel, s := range found {
		dirs[rel] = s.Dir
	}
	want := map[string]string{
		"pier/chats/session-2026-03-01T08-00-aaaaaaaa.json":  "/srv/pier",
		"pier/chats/session-2026-03-01T08-00-bbbbbbbb.jsonl": "/srv/pier",
		"pier/chats/session-2026-03-01T08-05-bbbbbbbb.jsonl": "/srv/pier",
		"pier/chats/session-1772355540000-cccccccc.jsonl":    "/srv/pier",
		"pier/chats/aaaaaaaa-1/kid.jsonl":                    "/srv/pier",
		"dock/chats/session-x.json":                          "/srv/dock",
		geminiHash("/srv/yard") + "/chats/y.jsonl":           "/srv/yard",
		geminiHash("/srv/shed") + "/chats/s.jsonl":           "/srv/shed",
		"nobody/chats/n.jsonl":                               "",
	}
	if diff := cmp.Diff(want, dirs); diff != "" {
		t.Fatal(diff)
	}

	whole := found["pier/chats/session-2026-03-01T08-00-aaaaaaaa.json"]
	m, turns := parseSource(t, GeminiCLI, whole)
	if m.Turns.User != 2 || m.NativeID != "aaaaaaaa-1" || m.Dir != "/srv/pier" || m.BadLines != 0 || m.Unknown != nil {
		t.Errorf("three files make %+v", m)
	}
	for _, turn := range turns {
		if turn.Undone {
			t.Errorf("%q was not taken back", turn.Text)
		}
	}
	if h, err := Identify(whole); h != GeminiCLI {
		t.Errorf("three files are taken for %v: %v", h, err)
	}
	// Any of the files leads to the same source, and a change in any changes the stamp.
	last := filepath.Join(home, filepath.FromSlash(chats), "session-2026-03-01T09-30-aaaaaaaa.jsonl")
	srcs, carrier, err := Sources(last)
	if err != nil || len(srcs) != 1 || carrier != whole.Path || srcs[0].Stamp != whole.Stamp || srcs[0].Size != whole.Size {
		t.Errorf("Sources = %+v, %q, %v", srcs, carrier, err)
	}
	f, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(f, geminiWith(geminiTestUser, "m3"))
	f.Close()
	if srcs, _, err = Sources(whole.Path); err != nil || srcs[0].Stamp == whole.Stamp {
		t.Errorf("the stamp did not change: %v", err)
	}

	m, _ = parseSource(t, GeminiCLI, found["pier/chats/session-1772355540000-cccccccc.jsonl"])
	if m.ForkedFrom != "bbbbbbbb-1" {
		t.Errorf("imported from %q", m.ForkedFrom)
	}
	m, _ = parseSource(t, GeminiCLI, found["pier/chats/aaaaaaaa-1/kid.jsonl"])
	if !m.Subagent || m.Parent != "aaaaaaaa-1" {
		t.Errorf("sub-agent %+v", m)
	}
}

func TestGeminiGroupLeavesOthersAlone(t *testing.T) {
	for _, path := range []string{"/srv/pier/notes.jsonl", "/srv/chats/a.txt", "/srv/chats/a/b/c.jsonl", "chats.json"} {
		if g := GeminiCLI.Group(path); g.Carrier != "" {
			t.Errorf("Group(%q) is carried by %q", path, g.Carrier)
		}
	}
	other := t.TempDir()
	writeTree(t, other, map[string]string{"chats/a.json": `{"sessionId":"x"}`, "chats/a.jsonl": `{"sessionId":"x"}`})
	for _, name := range []string{"a.json", "a.jsonl"} {
		path := filepath.Join(other, "chats", name)
		if g := GeminiCLI.Group(path); g.Carrier != path {
			t.Errorf("another's %s is carried by %q", name, g.Carrier)
		}
	}
	gone := filepath.Join(t.TempDir(), "chats", "session-2026-03-01T08-00-aaaaaaaa.jsonl")
	if srcs, carrier, err := Sources(gone); carrier != gone || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Sources of a missing file = %v, %q, %v", srcs, carrier, err)
	}
}

// The records have the hash of the working folder: a folder that the session
// touched and that has it is the one, whatever else is said.
func TestGeminiDirByHash(t *testing.T) {
	session := func(hash, args string) string {
		return `{"sessionId":"s","projectHash":"` + hash + `","startTime":"2026-03-01T09:00:00Z"}` + "\n" +
			`{"id":"g","timestamp":"2026-03-01T09:00:01Z","type":"gemini","content":"","model":"m","toolCalls":[{"id":"c","name":"read_file","args":{"file_path":"` + args + `"},"result":null,"status":"success"}]}` + "\n"
	}
	for _, tt := range []struct{ name, data, beside, want string }{
		{"above a file", session(geminiHash("/srv/pier"), "/srv/pier/planks/p1"), "", "/srv/pier"},
		{"against what lies beside", session(geminiHash("/srv/pier"), "/srv/pier/planks/p1"), "/srv/dock", "/srv/pier"},
		{"not among the files", session(geminiHash("/srv/pier"), "/srv/dock/p1"), "/srv/dock", "/srv/dock"},
		{"another system's", session(geminiHash(`c:\work`), "p1"), `c:\work`, `c:\work`},
		{"no hash", session("h", "/srv/dock/p1"), "", ""},
	} {
		p := GeminiCLI.New(Source{Dir: tt.beside})
		for line := range strings.Lines(tt.data) {
			p.Line([]byte(line))
		}
		if m, _ := p.Finish(); m.Dir != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, m.Dir, tt.want)
		}
	}
}

func TestGeminiCommandsAreNoPaths(t *testing.T) {
	for text, want := range map[string]bool{
		"/help":                  true,
		"/chat save boat":        true,
		"/git:commit the hull":   true,
		"?":                      true,
		"/srv/pier is broken":    false,
		"/etc/hosts":             false,
		"// a comment":           false,
		"/* a comment */":        false,
		"/":                      false,
		"paint it / leave it":    false,
		"/README.md is outdated": false,
	} {
		if got := geminiIsCommand(text); got != want {
			t.Errorf("geminiIsCommand(%q) = %v", text, got)
		}
	}
}

// Messages full of images and screens must not be kept for the few words in them.
func TestGeminiForgetsImages(t *testing.T) {
	image := strings.Repeat("A", 1<<20)
	p := GeminiCLI.New(Source{})
	for i := range 32 {
		id := string(rune('a' + i))
		p.Line([]byte(`{"id":"` + id + `","timestamp":"2026-03-01T09:00:00Z","type":"user","content":[{"text":"a boat"},{"inlineData":{"mimeType":"image/png","data":"` + image + `"}}]}`))
	}
	meta, turns := p.Finish()
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 24<<20 {
		t.Errorf("%d MiB live after 32 MiB of images", mem.HeapAlloc>>20)
	}
	if meta.Turns.User != 32 {
		t.Errorf("%d turns", meta.Turns.User)
	}
	for turn := range turns {
		if turn.Text != "a boat" {
			t.Fatalf("text has %d bytes", len(turn.Text))
		}
	}
}
