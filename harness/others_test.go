package harness

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// Each file of a golden is taken for a file of its own harness and of no other, whichever
// is asked first: the order of All decides between Qwen and Claude alone.
func TestOthersDetectOnlyTheirs(t *testing.T) {
	for _, e := range examples {
		for name, data := range goldenFiles(t, e.dir) {
			h, head := e.harness, newHead(data[:min(len(data), HeadBytes)])
			for _, other := range All {
				if other != h && other != Unknown && h != Unknown && other.Detect(head) {
					t.Errorf("%s/%s of %s is taken by %s", e.dir, name, h.Name, other.Name)
				}
			}
			if h == Unknown || !h.Detect(head) {
				continue // shared shapes, and files that are no session
			}
			if got, err := Detect(data); got != h {
				t.Errorf("%s/%s: %v, %v", e.dir, name, got, err)
			}
		}
	}
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
	for h, want := range map[*Harness]string{
		CopilotCLI:  "copilot --resume a-1",
		QwenCode:    "qwen --resume a-1",
		Pi:          "pi --session a-1",
		Droid:       "droid --resume a-1",
		Amp:         "amp threads continue a-1",
		CursorAgent: "cursor-agent --resume a-1",
	} {
		cmd := h.Resume(&session.Meta{NativeID: "a-1", Dir: "/d"})
		if got := strings.Join(cmd.Argv, " "); got != want || cmd.Dir != "/d" {
			t.Errorf("%s: %s in %s", h.Name, got, cmd.Dir)
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
