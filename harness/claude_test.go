package harness

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"sessdex/session"
)

func TestClaudeRoots(t *testing.T) {
	home := filepath.FromSlash("/home/ann")
	for _, c := range []struct {
		name string
		vars map[string]string
		want []string
	}{
		{"plain", nil, []string{"/home/ann/.claude/projects", "/home/ann/.config/claude/projects"}},
		{"list", map[string]string{"CLAUDE_CONFIG_DIR": "/srv/a, ~/b,/srv/a"},
			[]string{"/srv/a/projects", "/home/ann/b/projects", "/home/ann/.config/claude/projects"}},
		{"xdg", map[string]string{"XDG_CONFIG_HOME": "/xdg"}, []string{"/home/ann/.claude/projects", "/xdg/claude/projects"}},
		{"same", map[string]string{"CLAUDE_CONFIG_DIR": "/home/ann/.config/claude"}, []string{"/home/ann/.config/claude/projects"}},
	} {
		got := ClaudeCode.Roots(Env{Home: home, Getenv: func(k string) string { return c.vars[k] }})
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	if got := ClaudeCode.Roots(Env{Home: home}); len(got) != 2 {
		t.Errorf("without variables: %v", got)
	}
}

func TestClaudeClaims(t *testing.T) {
	for rel, want := range map[string]bool{
		"-home-ann-shop/8d0e.jsonl":                               true,
		"-home-ann-shop/agent-12ab34cd.jsonl":                     true,
		"-home-ann-shop/8d0e/subagents/agent-1.jsonl":             true,
		"-home-ann-shop/8d0e/subagents/workflows/w/agent-1.jsonl": true,
		"-home-ann-shop/8d0e/subagents/workflows/w/journal.jsonl": false,
		"-home-ann-shop/8d0e/subagents/agent-1.meta.json":         false,
		"-home-ann-shop/8d0e/tool-results/x.jsonl":                false,
		"-home-ann-shop/8d0e/tool-results/x.txt":                  false,
		"-home-ann-shop/memory/notes.md":                          false,
		"-home-ann-shop/memory/agent-1.jsonl":                     false,
		"-home-ann-shop/sessions-index.json":                      false,
		"-home-ann-shop/.8d0e.jsonl":                              false,
		"-home-ann-shop/journal.jsonl":                            false,
		"history.jsonl":                                           false,
	} {
		if got := ClaudeCode.Claims(rel); got != want {
			t.Errorf("Claims(%q) = %v, want %v", rel, got, want)
		}
	}
}

func TestClaudeDetect(t *testing.T) {
	big := strings.Repeat("A", HeadBytes)
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"message", `{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"},"uuid":"u"}`, true},
		{"sidechain only", `{"isSidechain":true,"sessionId":"s","type":"user","message":{"content":"hi"}}`, true},
		{"summary first", `{"type":"summary","summary":"x","leafUuid":"u"}`, true},
		{"queue first", `{"type":"queue-operation","operation":"enqueue","content":"x","sessionId":"s"}`, true},
		{"mode first", `{"type":"mode","mode":"normal","sessionId":"s"}`, true},
		{"progress only", `{"parentUuid":"p","isSidechain":false,"sessionId":"s","type":"progress","uuid":"u","data":{}}`, true},
		{"after garbage", "oops\n" + `{"type":"custom-title","customTitle":"x"}`, true},
		{"cut record", `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"image","data":"` + big, true},
		{"cut record, parts", `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","parts":[{"text":"` + big, false},
		{"export", `{"loglines":[{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"}}]}`, true},
		{"cut export", `{"loglines":[{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"}},{"x":"` + big, true},
		{"qwen", `{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"hi"}]},"uuid":"u"}`, false},
		{"qwen after its system record", `{"parentUuid":null,"sessionId":"s","type":"system","subtype":"slash_command"}` + "\n" +
			`{"parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"hi"}]},"uuid":"u"}`, false},
		{"stream-json", `{"type":"system","subtype":"init","session_id":"s"}` + "\n" +
			`{"type":"assistant","session_id":"s","parent_tool_use_id":null,"message":{"role":"assistant","content":[]}}`, false},
		{"codex", `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}`, false},
		{"gemini", `{"id":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"user","content":"hi"}`, false},
		{"another summary", `{"type":"summary","summary":"of a book"}`, false},
		{"another tag", `{"type":"mode","tag":"x"}`, false},
		{"array", `[{"role":"user","parts":[]}]`, false},
		{"empty", ``, false},
		{"text", "Dear diary,\n", false},
	} {
		if got := ClaudeCode.Detect(newHead([]byte(c.head))); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestClaudeResume(t *testing.T) {
	got := ClaudeCode.Resume(&session.Meta{NativeID: "s-1", Dir: "/home/ann/shop"})
	if diff := cmp.Diff(Command{[]string{"claude", "--resume", "s-1"}, "/home/ann/shop"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestClaudeSpoken(t *testing.T) {
	for _, c := range []struct {
		in   string
		kind claudeKind
		text string
	}{
		{"", claudeInjected, ""},
		{"  fix it\n", claudeWords, "fix it"},
		{"<div> is not centred", claudeWords, "<div> is not centred"},
		{"<my-button>ok</my-button> renders twice", claudeWords, "<my-button>ok</my-button> renders twice"},
		{"a < b and <b", claudeWords, "a < b and <b"},
		{"<>", claudeWords, "<>"},
		{"<system-reminder>x</system-reminder>", claudeInjected, ""},
		{"<system-reminder>x</system-reminder>\nfix it", claudeWords, "fix it"},
		{"<system-reminder>never closed", claudeInjected, ""},
		{"fix it\n\n<system-reminder>x</system-reminder>\n<system-reminder>y</system-reminder>", claudeWords, "fix it"},
		{"<ide_selection>l 1</ide_selection><ide_opened_file>f</ide_opened_file>what is this?", claudeWords, "what is this?"},
		{"<ide_diagnostics>e</ide_diagnostics>", claudeInjected, ""},
		{"<user-prompt-submit-hook>ok</user-prompt-submit-hook>go", claudeWords, "go"},
		{"<teammate-message teammate_id=\"bo\">done</teammate-message>", claudeInjected, ""},
		{"<cross-session-message>x</cross-session-message>", claudeInjected, ""},
		{"<task-notification>\n<task-id>1</task-id>\n</task-notification>", claudeInjected, ""},
		{"<brand-new-wrapper>x</brand-new-wrapper>", claudeInjected, ""},
		{"[Request interrupted by user]", claudeInjected, ""},
		{"[Request interrupted by user for tool use]", claudeInjected, ""},
		{"[Request interrupted by user]no, the other", claudeWords, "no, the other"},
		{"[Image #1] what is wrong here?", claudeWords, "[Image #1] what is wrong here?"},
		{"[Image: source: /tmp/x.png]", claudeInjected, ""},
		{"Base directory for this skill: /s", claudeInjected, ""},
		{"Stop hook feedback:\nlint failed", claudeInjected, ""},
		{"Caveat: The messages below were generated by the user while running local commands. DO NOT", claudeInjected, ""},
		{"This session is being continued from a previous conversation that", claudeCompaction, "This session is being continued from a previous conversation that"},
		{"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>", claudeLocal, "/clear"},
		{"<command-name>/model</command-name>\n<command-args>opus</command-args>", claudeLocal, "/model opus"},
		{"<command-message>review</command-message>\n<command-name>/review</command-name>", claudeCommand, "/review"},
		{"<command-message>review</command-message>\n<command-name>review</command-name>\n<command-args> it all </command-args>", claudeCommand, "/review it all"},
		{"<command-message>x</command-message>", claudeInjected, ""},
		{"<local-command-stdout>Bye!</local-command-stdout>", claudeInjected, ""},
		{"<bash-input>ls -l</bash-input>", claudeShell, "!ls -l"},
		{"<bash-stdout>a\n</bash-stdout><bash-stderr></bash-stderr>", claudeShellOutput, "a"},
		{"<bash-stdout></bash-stdout><bash-stderr>no</bash-stderr>", claudeShellOutput, "no"},
	} {
		if got := claudeSpoken(c.in); got != (claudeSaid{c.kind, c.text}) {
			t.Errorf("%q: %+v, want %d %q", c.in, got, c.kind, c.text)
		}
	}
}

// claudeLines are the lines of every golden transcript, file by file.
func claudeLines(t testing.TB) [][][]byte {
	archives, err := filepath.Glob("testdata/claude/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no goldens")
	}
	var all [][][]byte
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if strings.HasSuffix(f.Name, ".jsonl") {
				all = append(all, bytes.Split(bytes.TrimRight(f.Data, "\n"), []byte("\n")))
			}
		}
	}
	return all
}

func parseLines(t testing.TB, lines [][]byte) (session.Meta, []session.Turn) {
	p := ClaudeCode.New(Source{Path: "x.jsonl"})
	for _, l := range lines {
		p.Line(l)
	}
	meta, turns := p.Finish()
	return meta, collectTwice(t, turns)
}

// A record that is written again, anywhere later, changes nothing.
func TestClaudeRepeatedRecords(t *testing.T) {
	files := claudeLines(t)
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SampledFrom(files).Draw(rt, "file")
		_, want := parseLines(t, lines)
		again := append([][]byte{}, lines...)
		for range rapid.IntRange(1, 5).Draw(rt, "copies") {
			from := rapid.IntRange(0, len(again)-1).Draw(rt, "from")
			if !bytes.Contains(again[from], []byte(`"uuid"`)) {
				continue
			}
			to := rapid.IntRange(from+1, len(again)).Draw(rt, "to")
			again = append(again[:to:to], append([][]byte{again[from]}, again[to:]...)...)
		}
		_, got := parseLines(t, again)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

// Records that lost the newline between them are read as if they had it.
func TestClaudeGluedRecords(t *testing.T) {
	files := claudeLines(t)
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SampledFrom(files).Draw(rt, "file")
		meta, want := parseLines(t, lines)
		if meta.BadLines > 0 || len(lines) < 2 {
			return
		}
		at := rapid.IntRange(0, len(lines)-2).Draw(rt, "at")
		glued := append([][]byte{}, lines[:at]...)
		glued = append(glued, append(append([]byte{}, lines[at]...), lines[at+1]...))
		glued = append(glued, lines[at+2:]...)
		meta, got := parseLines(t, glued)
		if diff := cmp.Diff(want, got); diff != "" || meta.BadLines != 0 {
			rt.Fatalf("bad lines %d\n%s", meta.BadLines, diff)
		}
	})
}

// A line that cannot be read costs that line only.
func TestClaudeBadLine(t *testing.T) {
	for _, lines := range claudeLines(t) {
		before, want := parseLines(t, lines)
		torn := append([][]byte{[]byte(`{"type":"user","message":{"role":"us`)}, lines...)
		after, got := parseLines(t, torn)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if after.BadLines != before.BadLines+1 {
			t.Errorf("bad lines %d, want %d", after.BadLines, before.BadLines+1)
		}
	}
}

// What a parser keeps is what was said, not the lines it stood in: images, original
// files and signatures are let go.
func TestClaudeKeepsLittle(t *testing.T) {
	blob := strings.Repeat("QUJD", 256<<10) // 1 MiB
	line := func(i int) []byte {
		return fmt.Appendf(nil, `{"parentUuid":null,"isSidechain":false,"sessionId":"s","cwd":"/d%d","gitBranch":"b%d","version":"2.1.%d",`+
			`"type":"user","uuid":"u%d","toolUseResult":{"originalFile":"%s"},"message":{"role":"user","content":[`+
			`{"type":"tool_result","tool_use_id":"t%d","content":[{"type":"image","source":{"data":"%s"}},{"type":"text","text":"seen %d"}]}]}}`,
			i, i, i, i, blob, i, blob, i)
	}
	p := ClaudeCode.New(Source{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 16 {
		p.Line(line(i))
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	meta, turns := p.Finish()
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 4<<20 {
		t.Errorf("%d MiB stay in memory after 32 MiB with 16 words", kept>>20)
	}
	for turn := range turns {
		if !strings.HasPrefix(turn.Output, "seen ") {
			t.Errorf("output %.40q", turn.Output)
		}
	}
	if meta.Turns.Tool != 16 {
		t.Errorf("%+v", meta.Turns)
	}
}

// Shapes that would cost the square of their length if the parser were naive: it
// ends, and counts right.
func TestClaudeHostileShapes(t *testing.T) {
	const n = 20_000
	record := func(typ, uuid, parent, content string) []byte {
		return fmt.Appendf(nil, `{"parentUuid":"%s","isSidechain":false,"sessionId":"s","type":"%s","uuid":"%s",`+
			`"message":{"id":"m","role":"%s","content":%s}}`, parent, typ, uuid, typ, content)
	}
	for _, c := range []struct {
		name string
		line func(i int) []byte
		want session.Counts
	}{
		{"a chain of nothing", func(i int) []byte { return record("progress", fmt.Sprint("u", i+1), fmt.Sprint("u", i), `""`) }, session.Counts{}},
		{"prompts below a long chain", func(i int) []byte {
			if i < n/2 {
				return record("progress", fmt.Sprint("u", i+1), fmt.Sprint("u", i), `""`)
			}
			return record("user", fmt.Sprint("p", i), fmt.Sprint("u", n/2), `"again"`)
		}, session.Counts{User: n / 2}},
		{"a chain backwards", func(i int) []byte { return record("user", fmt.Sprint("u", n-i), fmt.Sprint("u", n-i-1), `"x"`) }, session.Counts{User: n}},
		{"a queue nobody empties", func(i int) []byte {
			if i%2 == 0 {
				return fmt.Appendf(nil, `{"type":"queue-operation","operation":"enqueue","content":"waiting %d","sessionId":"s"}`, i)
			}
			return record("user", fmt.Sprint("u", i), "", `"hello"`)
		}, session.Counts{User: n}},
		{"one message of many blocks", func(i int) []byte {
			return record("assistant", fmt.Sprint("u", i), "", fmt.Sprintf(`[{"type":"text","text":"part %06d %s"}]`, i, strings.Repeat("y", 100)))
		}, session.Counts{Assistant: 35}},
		{"one message again and again", func(i int) []byte {
			return record("assistant", fmt.Sprint("u", i), "", `[{"type":"text","text":"the same"}]`)
		}, session.Counts{Assistant: 1}},
	} {
		p := ClaudeCode.New(Source{})
		for i := range n {
			p.Line(c.line(i))
		}
		meta, _ := p.Finish()
		if diff := cmp.Diff(c.want, meta.Turns); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
