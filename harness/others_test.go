package harness

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"sessdex/session"
)

// others are the harnesses that are built on a dialog, and where their goldens are.
var others = []struct {
	harness *Harness
	dir     string
	trees   bool
}{
	{CopilotCLI, "copilot", true},
	{QwenCode, "qwen", false},
	{Pi, "pi", false},
	{Droid, "droid", false},
	{Amp, "amp", false},
	{CursorAgent, "cursor", false},
	{Unknown, "unknown", false},
}

func TestOthersGoldens(t *testing.T) {
	for _, o := range others {
		t.Run(o.harness.Name, func(t *testing.T) {
			if o.trees {
				goldenTrees(t, o.harness, o.dir)
			} else {
				golden(t, o.harness, o.dir)
			}
		})
	}
}

// Each file of a golden is taken for a file of its own harness and of no other, whichever
// is asked first: the order of All decides between Qwen and Claude alone.
func TestOthersDetectOnlyTheirs(t *testing.T) {
	theirs := map[*Harness][]string{ClaudeCode: {"claude"}, CodexCLI: {"codex"}, GeminiCLI: {"gemini"}}
	for _, o := range others {
		theirs[o.harness] = append(theirs[o.harness], o.dir)
	}
	for h, dirs := range theirs {
		for _, dir := range dirs {
			for name, data := range goldenFiles(t, dir) {
				head := newHead(data[:min(len(data), HeadBytes)])
				for _, other := range others {
					if other.harness != h && other.harness != Unknown && h != Unknown && other.harness.Detect(head) {
						t.Errorf("%s/%s of %s is taken by %s", dir, name, h.Name, other.harness.Name)
					}
				}
				if h == Unknown || !h.Detect(head) {
					continue // shared shapes, and files that are no session
				}
				if got, err := Detect(data); got != h {
					t.Errorf("%s/%s: %v, %v", dir, name, got, err)
				}
			}
		}
	}
}

// goldenFiles are the transcripts in a harness's goldens.
func goldenFiles(t testing.TB, dir string) map[string][]byte {
	archives, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no goldens in testdata/%s: %v", dir, err)
	}
	files := map[string][]byte{}
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if f.Name != "want" {
				files[filepath.Base(name)+":"+f.Name] = f.Data
			}
		}
	}
	return files
}

func TestOthersClaims(t *testing.T) {
	for _, c := range []struct {
		harness *Harness
		rel     string
		want    bool
	}{
		{CopilotCLI, "abc/events.jsonl", true},
		{CopilotCLI, "abc/workspace.yaml", true},
		{CopilotCLI, "abc.jsonl", true},
		{CopilotCLI, "session_1.json", true},
		{CopilotCLI, "abc/checkpoints/index.md", false},
		{CopilotCLI, "abc/files/events.jsonl", false},
		{QwenCode, "-home-bo/chats/s.jsonl", true},
		{QwenCode, "-home-bo/subagents/s/agent-a.jsonl", true},
		{QwenCode, "-home-bo/chats/s.json", false},
		{QwenCode, "-home-bo/shell_history", false},
		{QwenCode, "-home-bo/memory/s.jsonl", false},
		{Pi, "--home-cy--/t_id.jsonl", true},
		{Pi, "t_id.jsonl", true},
		{Pi, "--home-cy--/t_id.jsonl.lock", false},
		{Droid, "-home-dee/d.jsonl", true},
		{Droid, "-home-dee/d.settings.json", false},
		{Amp, "T-1.json", true},
		{Amp, "T-1.json.amptmp", false},
		{Amp, "x/T-1.json", false},
		{CursorAgent, "p/agent-transcripts/a/a.jsonl", true},
		{CursorAgent, "p/agent-transcripts/a.jsonl", true},
		{CursorAgent, "p/agent-transcripts/a/subagents/b.jsonl", true},
		{CursorAgent, "p/agent-transcripts/a.txt", false},
		{CursorAgent, "p/terminals/1.jsonl", false},
		{Unknown, "chat.jsonl", false},
	} {
		if got := c.harness.Claims(c.rel); got != c.want {
			t.Errorf("%s claims %s: %v", c.harness.Name, c.rel, got)
		}
	}
}

func TestOthersRoots(t *testing.T) {
	set := map[string]string{}
	env := Env{Home: "/h", Getenv: func(k string) string { return set[k] }}
	check := func(h *Harness, want ...string) {
		t.Helper()
		if got := strings.Join(h.Roots(env), " "); got != strings.Join(want, " ") {
			t.Errorf("%s: %s", h.Name, got)
		}
	}
	check(CopilotCLI, "/h/.copilot/session-state", "/h/.copilot/history-session-state")
	check(QwenCode, "/h/.qwen/projects", "/h/.qwen/tmp")
	check(Pi, "/h/.pi/agent/sessions")
	check(Droid, "/h/.factory/sessions")
	check(Amp, "/h/.local/share/amp/threads")
	check(CursorAgent, "/h/.cursor/projects")
	check(Unknown)
	set = map[string]string{"COPILOT_HOME": "/c", "QWEN_HOME": "/q", "PI_CODING_AGENT_DIR": "~/p", "XDG_DATA_HOME": "/x"}
	check(CopilotCLI, "/c/session-state", "/c/history-session-state")
	check(QwenCode, "/q/projects", "/q/tmp")
	check(Pi, "/h/p/sessions")
	check(Amp, "/x/amp/threads")
	set["QWEN_RUNTIME_DIR"] = "/r"
	check(QwenCode, "/r/projects", "/r/tmp")
}

func TestOthersResume(t *testing.T) {
	for _, c := range []struct {
		harness *Harness
		meta    session.Meta
		want    string
	}{
		{CopilotCLI, session.Meta{NativeID: "a"}, "copilot --resume=a"},
		{QwenCode, session.Meta{NativeID: "a"}, "qwen --resume a"},
		{Pi, session.Meta{NativeID: "a"}, "pi --session a"},
		{Droid, session.Meta{NativeID: "a"}, "droid --resume a"},
		{Amp, session.Meta{NativeID: "T-a"}, "amp threads continue T-a"},
		{CursorAgent, session.Meta{NativeID: "a"}, "cursor-agent --resume a"},
	} {
		c.meta.Dir = "/d"
		cmd := c.harness.Resume(&c.meta)
		if got := strings.Join(cmd.Argv, " "); got != c.want || cmd.Dir != "/d" {
			t.Errorf("%s: %s in %s", c.harness.Name, got, cmd.Dir)
		}
	}
	if Unknown.Resume != nil || Unknown.Start != nil || Amp.Start != nil {
		t.Error("a command that is not known")
	}
	for _, h := range []*Harness{Pi, Droid, CursorAgent, CopilotCLI, QwenCode} {
		for _, word := range h.Start("/d", "--force").Argv[1:] {
			if word == "--force" {
				t.Errorf("%s: a prompt is read as an option", h.Name)
			}
		}
	}
}

func TestTouchedPaths(t *testing.T) {
	for _, c := range []struct{ tool, input, edits, reads string }{
		{"Read", `{"file_path":"/a"}`, "", "/a"},
		{"edit_file", `{"path":"/a"}`, "/a", ""},
		{"str_replace_editor", `{"command":"view","path":"/a"}`, "", "/a"},
		{"str_replace_editor", `{"command":"create","path":"/a"}`, "/a", ""},
		{"ApplyPatch", `{"input":"*** Begin Patch\n*** Add File: b\n+x\n*** End Patch"}`, "b", ""},
		{"bash", `{"command":"echo x > y.txt"}`, "y.txt", ""},
		{"Shell", `{"command":"echo x > y.txt","working_directory":"/w"}`, "/w/y.txt", ""},
		{"Bash", `{"cmd":"rm z","cwd":"/w"}`, "/w/z", ""},
		{"Glob", `{"path":"/a"}`, "", ""},
		{"Write", `{"file_path":"/a/*.go"}`, "", ""},
		{"view", `{"path":"file:///a/b"}`, "", "/a/b"},
		{"Write", `"text"`, "", ""},
	} {
		got := touchedPaths(c.tool, gjson.Parse(c.input))
		if strings.Join(got.edits, " ") != c.edits || strings.Join(got.reads, " ") != c.reads {
			t.Errorf("%s %s: %+v", c.tool, c.input, got)
		}
	}
}

func TestCursorTime(t *testing.T) {
	for in, want := range map[string]time.Time{
		"Friday, Jan 2, 2026, 3:04 PM (UTC+2)":     time.Date(2026, 1, 2, 13, 4, 0, 0, time.UTC),
		"Friday, Jan 2, 2026, 3:04 PM (UTC-3:30)":  time.Date(2026, 1, 2, 18, 34, 0, 0, time.UTC),
		"Friday, January 2, 2026, 3:04 PM (UTC)":   time.Date(2026, 1, 2, 15, 4, 0, 0, time.UTC),
		"Friday, Jan 2, 2026, 3:04 PM (UTC+later)": {},
		"later": {},
		"":      {},
	} {
		if got := cursorTime(in); !got.Equal(want) {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// A conversation without an id is named by its file where that name is its own, else by
// what it begins with, so that going on with it keeps the name.
func TestUnknownName(t *testing.T) {
	parse := func(path string, lines ...string) string {
		p := Unknown.New(Source{Path: path})
		for _, line := range lines {
			p.Line([]byte(line))
		}
		meta, _ := p.Finish()
		return meta.NativeID
	}
	ask, other, reply := `{"role":"user","content":"a"}`, `{"role":"user","content":"b"}`, `{"role":"assistant","content":"c"}`
	if got := parse("/x/run-20260101.jsonl", ask, reply); got != "run-20260101" {
		t.Error(got)
	}
	one, longer, two := parse("/x/chat.jsonl", ask, reply), parse("/y/chat.jsonl", ask, reply, other), parse("/z/chat.jsonl", other, reply)
	if one != longer || one == two || !strings.HasPrefix(one, "chat-") {
		t.Error(one, longer, two)
	}
	if got := parse("", ask, reply); got != "" {
		t.Error(got)
	}
}

// A conversation may be cut into lines in any way: the same document, printed, is the same.
func TestUnknownPrinted(t *testing.T) {
	for _, doc := range []string{
		`{"id":"x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"k\":{\"l\":1}}"}}]}]}`,
		`[{"role":"user","content":"a"},{"role":"model","parts":[{"text":"b"},{"functionCall":{"name":"f","args":{"k":{"l":1}}}}]}]`,
	} {
		var want string
		for i, printed := range []string{doc, gjson.Get(doc, "@pretty").Raw, strings.ReplaceAll(doc, `},{"role"`, "},\n{\"role\""), gjson.Get(doc, `@pretty:{"indent":"\t","width":1}`).Raw} {
			if h, err := Detect([]byte(printed)); h != Unknown {
				t.Fatalf("%v, %v for\n%s", h, err, printed)
			}
			p := Unknown.New(Source{Path: "/x/session-20260101.json"})
			for line := range strings.Lines(printed) {
				p.Line([]byte(line))
			}
			var got bytes.Buffer
			meta, turns := p.Finish()
			render(&got, meta, slices.Collect(turns))
			if i == 0 {
				want = got.String()
			} else if got.String() != want {
				t.Errorf("printed\n%s\nis\n%s\nnot\n%s", printed, got.String(), want)
			}
		}
		if !strings.Contains(want, "turns: 1 user, 1 assistant, 1 tool") {
			t.Error(want)
		}
	}
}

// Nesting that would overflow the stack of a recursive reader is a line that cannot be
// read, to every harness.
func TestDeepNesting(t *testing.T) {
	deep := []byte(strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000))
	for _, h := range All {
		p := h.New(Source{})
		p.Line(deep)
		meta, turns := p.Finish()
		if h != OpenCode && meta.BadLines != 1 || len(slices.Collect(turns)) != 0 { // OpenCode's passes over what it does not ask for
			t.Errorf("%s: %d bad lines", h.Name, meta.BadLines)
		}
	}
}

// The same in a string that holds JSON: a tool's arguments or its output.
func TestDeepNestingInString(t *testing.T) {
	const levels = 400_000
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20)) // a reader that recurses ends the process
	deep := `{\"a\":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	for h, lines := range map[*Harness][]string{
		CodexCLI: {
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call","name":"f","call_id":"c","arguments":"` + deep + `"}}`,
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":` + deep[6:] + `"}}`,
		},
		GrokBuild: {`{"type":"assistant","content":"x","model_id":"m","tool_calls":[{"id":"c","name":"f","arguments":"` + deep + `"}]}`},
		Unknown:   {`{"role":"assistant","content":"x","tool_calls":[{"id":"c","function":{"name":"f","arguments":"` + deep + `"}}]}`},
	} {
		p := h.New(Source{})
		for _, line := range lines {
			p.Line([]byte(line))
		}
		if meta, _ := p.Finish(); meta.Turns.Tool != 1 {
			t.Errorf("%s: %+v", h.Name, meta.Turns)
		}
	}
}

// FuzzOthers holds these parsers to what they promise of any bytes: no panic, counts
// that agree with the turns, numbers without gaps, text that is valid.
func FuzzOthers(f *testing.F) {
	for i, o := range others {
		for _, data := range goldenFiles(f, o.dir) {
			f.Add(i, data)
		}
	}
	f.Add(6, []byte(`[[{"role":"user","content":[[["x"]]]}]]`))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		h := others[uint(which)%uint(len(others))].harness
		p := h.New(Source{Path: "/home/x/projects/p-q/agent-transcripts/a/a.jsonl"})
		for line := range bytes.Lines(data) {
			p.Line(line)
		}
		meta, turns := p.Finish()
		var counts session.Counts
		n := 0
		for turn := range turns {
			n++
			counts.Add(turn.Role)
			if turn.N != n {
				t.Fatalf("turn %d is numbered %d", n, turn.N)
			}
			for _, s := range []string{turn.Text, turn.Thinking, turn.Tool, turn.Input, turn.Output, turn.Ref} {
				if !utf8.ValidString(s) {
					t.Fatalf("turn %d holds invalid UTF-8: %q", n, s)
				}
			}
			if turn.Words() && turn.Text == "" && turn.Thinking == "" {
				t.Fatalf("turn %d says nothing", n)
			}
			if turn.Failed && len(turn.Edits) > 0 {
				t.Fatalf("turn %d failed and edited %v", n, turn.Edits)
			}
		}
		if counts != meta.Turns || meta.Harness != h.Name {
			t.Fatalf("counted %+v, meta says %+v of %s", counts, meta.Turns, meta.Harness)
		}
		for _, s := range []string{meta.NativeID, meta.Title, meta.Opening, meta.Parent, meta.Dir} {
			if !utf8.ValidString(s) {
				t.Fatalf("facts hold invalid UTF-8: %q", s)
			}
		}
	})
}

// Real conversations of programs that have no harness here are imported, or refused
// with a reason; none fails, and none is another harness's.
func TestUnknownCorpus(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "fixtures", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", root, err)
	}
	for _, file := range files {
		src, err := FileSource(file)
		if err != nil {
			continue // a folder
		}
		h, err := Identify(src)
		if err != nil {
			t.Logf("%s: %v", filepath.Base(file), err)
			continue
		}
		meta, turns := parseSource(t, h, src)
		t.Logf("%s: %s, %d turns", filepath.Base(file), meta.Harness, len(turns))
		if h == Unknown && (meta.Turns.User == 0 || meta.Turns.Assistant == 0 || meta.NativeID == "") {
			t.Errorf("%s: %+v named %q", filepath.Base(file), meta.Turns, meta.NativeID)
		}
	}
}

// What one of the five harnesses above these in All takes without them, it takes with
// them: over every real file.
func TestOthersTakeNothing(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	five := []*Harness{CodexCLI, GeminiCLI, ClaudeCode, GrokBuild, OpenCode}
	files := 0
	w := Walk{File: func(path, rel string) {
		src, err := FileSource(path)
		if err != nil {
			return
		}
		r, err := src.Open()
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		defer r.Close()
		data, _ := io.ReadAll(io.LimitReader(r, HeadBytes))
		head := newHead(data)
		for _, h := range five {
			if h.Detect(head) {
				if got, err := Detect(data); got != h {
					t.Errorf("%s of %s: %v, %v", rel, h.Name, got, err)
				}
				files++
				return
			}
		}
	}}
	w.Folder(root)
	if files < 50 {
		t.Errorf("%d files of the five", files)
	}
	t.Logf("%d files", files)
}
