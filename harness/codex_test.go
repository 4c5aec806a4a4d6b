package harness

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"sessdex/session"
)

func TestCodexRoots(t *testing.T) {
	env := Env{Home: "/home/ann"}
	want := []string{filepath.FromSlash("/home/ann/.codex/sessions"), filepath.FromSlash("/home/ann/.codex/archived_sessions")}
	if got := CodexCLI.Roots(env); !slices.Equal(got, want) {
		t.Errorf("Roots = %q, want %q", got, want)
	}
	env.Getenv = func(name string) string { return map[string]string{"CODEX_HOME": "/data/cx"}[name] }
	want = []string{filepath.FromSlash("/data/cx/sessions"), filepath.FromSlash("/data/cx/archived_sessions")}
	if got := CodexCLI.Roots(env); !slices.Equal(got, want) {
		t.Errorf("Roots with CODEX_HOME = %q, want %q", got, want)
	}
}

func TestCodexClaims(t *testing.T) {
	for rel, want := range map[string]bool{
		"2026/01/02/rollout-2026-01-02T03-04-05-x.jsonl":     true,
		"2026/01/02/rollout-2026-01-02T03-04-05-x.jsonl.zst": true,
		"rollout-2025-05-02-x.json":                          true,
		"rollout-2026-01-02T03-04-05-x.jsonl.zst.tmp":        false,
		"2026/01/02/rollout-x.jsonl.tmp":                     false,
		"session_index.jsonl":                                false,
		"history.jsonl":                                      false,
	} {
		if got := CodexCLI.Claims(rel); got != want {
			t.Errorf("Claims(%q) = %v", rel, got)
		}
	}
}

func TestCodexDetect(t *testing.T) {
	for _, tt := range []struct {
		name, head string
		want       bool
	}{
		{"an event first", `{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started"}}`, true},
		{"a torn line first", "{\"timest\n" + `{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","payload":{}}`, true},
		{"an early header", `{"id":"a","timestamp":"2025-07-01T00:00:00Z","instructions":null}`, true},
		{"early filler", `{"record_type":"state"}`, true},
		{"a whole document", "{\n \"session\": {\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":\"\"},\n \"items\": []\n}", true},
		{"the stream of codex exec --json", `{"type":"thread.started","thread_id":"a"}` + "\n" + `{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"x"}}`, false},
		{"a prompt history", `{"session_id":"a","ts":1,"text":"hello"}`, false},
		{"an index of titles", `{"id":"a","thread_name":"n","updated_at":"t"}`, false},
		{"a Claude transcript", `{"type":"user","parentUuid":null,"isSidechain":false,"sessionId":"s","timestamp":"t","message":{"role":"user","content":"x"}}`, false},
		{"another's events", `{"type":"session.start","data":{"sessionId":"a"},"id":"1","timestamp":"t"}`, false},
		{"nothing", "", false},
		{"no JSON", "rollout\n", false},
	} {
		if got := CodexCLI.Detect(newHead([]byte(tt.head))); got != tt.want {
			t.Errorf("%s: Detect = %v", tt.name, got)
		}
	}
}

func TestCodexResume(t *testing.T) {
	got := CodexCLI.Resume(&session.Meta{NativeID: "abc", Dir: "/srv/x"})
	if !slices.Equal(got.Argv, []string{"codex", "resume", "abc"}) || got.Dir != "/srv/x" {
		t.Errorf("Resume = %+v", got)
	}
}

func TestCodexNameID(t *testing.T) {
	const id = "019b0000-0000-7000-8000-00000000000c"
	for file, want := range map[string]string{
		"/a/rollout-2026-01-01T12-00-00-" + id + ".jsonl":       id,
		"/a/rollout-2026-01-01T12-00-00-" + id + ".jsonl.zst":   id,
		`C:\a\rollout-2025-05-02-` + id + ".json":               id,
		"/a/" + id + ".jsonl":                                   id,
		"/a/talk-about-a-long-thing-with-some-more-dashes.json": "talk-about-a-long-thing-with-some-more-dashes",
		"": "",
	} {
		if got := codexNameID(file); got != want {
			t.Errorf("codexNameID(%q) = %q, want %q", file, got, want)
		}
	}
}

func TestCodexOutput(t *testing.T) {
	for _, tt := range []struct {
		in, text        string
		failed, refused bool
	}{
		{"plain words", "plain words", false, false},
		{`{"output":"a\n","metadata":{"exit_code":0}}`, "a\n", false, false},
		{`{"metadata":{"exit_code":124},"output":"late"}`, "late", true, false},
		{`{"output":"not a command's"`, `{"output":"not a command's"`, false, false},
		{"Exit code: 1\nWall time: 2 seconds\nOutput:\nboom\n", "boom\n", true, false},
		{"Exit code: 1 is what it said", "Exit code: 1 is what it said", false, false},
		{"Chunk ID: x\nWall time: 1 seconds\nProcess running with session ID 5\nOutput:\nso far", "Process running with session ID 5\nso far", false, false},
		{"Wall time: 0 seconds\nOutput:\nExit code: 3\nWall time: 0 seconds\nOutput:\ninner", "inner", true, false},
		{"Script failed\nWall time 0.1 seconds\nOutput:\nerr", "err", true, false},
		{"Wall time: 6.4 seconds\naborted by user", "Wall time: 6.4 seconds\naborted by user", true, true},
		{"exec command rejected by user", "exec command rejected by user", true, true},
		{`[{"type":"text","text":"a"},{"type":"image","data":"AAAA"},{"type":"text","text":"b"}]`, "a\nb", false, false},
		{`{"content":[{"type":"text","text":"no"}],"isError":true}`, "no", true, false},
		{`[{"number":1}]`, `[{"number":1}]`, false, false},
		{"Output:\n", "", false, false},
		{"", "", false, false},
	} {
		if got := codexOutput(tt.in); got != (codexOut{tt.text, tt.failed, tt.refused}) {
			t.Errorf("codexOutput(%q) = %+v", tt.in, got)
		}
	}
}

func TestCodexPatchFiles(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"a patch", "*** Begin Patch\n*** Add File: a b.txt\n+x\n*** Update File: c.go\n*** Move to: d.go\n@@\n*** Delete File: e\n*** End Patch", []string{"a b.txt", "c.go", "d.go", "e"}},
		{"CRLF", "*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch", []string{"a"}},
		{"a patch that adds a patch", "*** Begin Patch\n*** Add File: doc.md\n+*** Begin Patch\n+*** Add File: not\n*** End Patch", []string{"doc.md"}},
		{"a script's string", `apply("*** Begin Patch\n*** Update File: C:\\src\\new.go\n@@\n-a\n+\"b\"\n*** End Patch")`, []string{`C:\src\new.go`}},
		{"two patches", "*** Begin Patch\n*** Add File: a\n*** End Patch\n*** Begin Patch\n*** Add File: b\n*** End Patch", []string{"a", "b"}},
		{"no envelope", "*** Add File: a\n", nil},
	} {
		if got := patchFiles(tt.in); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCodexTyped(t *testing.T) {
	for in, want := range map[string]string{
		"  hello ": "hello",
		"# Context from my IDE setup:\n\n## My request for Codex:\nfix it":                       "fix it",
		"# Files mentioned by the user:\n\n## a.txt: /a.txt\n\n## My request for Codex:\nread\n": "read",
		"I quote: ## My request for Codex: is a heading":                                         "I quote: ## My request for Codex: is a heading",
		"# My own heading\nwords": "# My own heading\nwords",
	} {
		if got := codexTyped(in); got != want {
			t.Errorf("codexTyped(%q) = %q, want %q", in, got, want)
		}
	}
}

// However two streams interleave what they say, each text is taken as often as the
// one that said it more often.
func TestCodexEchoesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"yes", "no", "go on", "go  on"})
		streams := [2][]string{rapid.SliceOf(words).Draw(t, "items"), rapid.SliceOf(words).Draw(t, "events")}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1))
		said := [2]map[string]int{{}, {}}
		taken := map[string]int{}
		var e codexEchoes
		for len(streams[0])+len(streams[1]) > 0 {
			s := order.IntN(2)
			if len(streams[s]) == 0 {
				s = 1 - s
			}
			text := streams[s][0]
			streams[s] = streams[s][1:]
			key := strings.ReplaceAll(text, " ", "")
			said[s][key]++
			if _, fresh := e.fresh(codexModel, codexSource(s), text); fresh {
				taken[key]++
			}
		}
		for _, key := range []string{"yes", "no", "goon"} {
			if want := max(said[0][key], said[1][key]); taken[key] != want {
				t.Fatalf("%q taken %d times, said %d and %d times", key, taken[key], said[0][key], said[1][key])
			}
		}
	})
}

// Lines full of images must not be kept for the few words on them.
func TestCodexForgetsImages(t *testing.T) {
	image := strings.Repeat("A", 1<<20)
	p := newCodexParser(Source{})
	for range 32 {
		p.Line([]byte(`{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{"type":"function_call_output","output":[{"type":"input_text","text":"a boat"},{"type":"input_image","image_url":"data:image/png;base64,` + image + `"}]}}`))
	}
	meta, turns := p.Finish()
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 24<<20 {
		t.Errorf("%d MiB live after 32 MiB of images", mem.HeapAlloc>>20)
	}
	if meta.Turns.Tool != 32 {
		t.Errorf("%d turns", meta.Turns.Tool)
	}
	for turn := range turns {
		if turn.Output != "a boat" {
			t.Fatalf("Output has %d bytes", len(turn.Output))
		}
	}
}

// Newer versions name the same tool "exec" in the namespace "functions": what a
// script ran counts once either way.
func TestCodexNamespacedCodeMode(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/codex/code_mode.txtar")
	if err != nil {
		t.Fatal(err)
	}
	plain := ar.Files[0].Data
	spaced := bytes.ReplaceAll(plain, []byte(`"name":"exec"`), []byte(`"namespace":"functions","name":"exec"`))
	if bytes.Equal(plain, spaced) {
		t.Fatal("the golden has no exec call")
	}
	want, _ := parseFile(t, CodexCLI, ar.Files[0].Name, plain)
	got, turns := parseFile(t, CodexCLI, ar.Files[0].Name, spaced)
	if got.Turns != want.Turns {
		t.Errorf("counts with a namespace %+v, without %+v", got.Turns, want.Turns)
	}
	if !slices.ContainsFunc(turns, func(t session.Turn) bool { return t.Tool == "functions.exec" }) {
		t.Error("the namespace is not shown")
	}
}
