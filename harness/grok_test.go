package harness

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

const grokLine = `{"timestamp":1790000001,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"},"_meta":{"promptIndex":0}}}}` + "\n"

// Discovery finds each folder once, by the file that carries it, and nothing that
// lies beside the sessions.
func TestGrokDiscover(t *testing.T) {
	home := t.TempDir()
	summary := `{"info":{"id":"x","cwd":"/d"},"created_at":"2026-01-01T00:00:00Z"}`
	writeTree(t, home, map[string]string{
		".grok/sessions/%2Fd/a/updates.jsonl":          grokLine,
		".grok/sessions/%2Fd/a/summary.json":           summary,
		".grok/sessions/%2Fd/a/chat_history.jsonl":     "{}\n",
		".grok/sessions/%2Fd/a/backup.jsonl":           grokLine,
		".grok/sessions/%2Fd/a/subagents/k/meta.json":  "{}",
		".grok/sessions/%2Fd/b/summary.json":           summary,
		".grok/sessions/%2Fd/b/chat_history.jsonl":     "{}\n",
		".grok/sessions/%2Fd/c/updates.jsonl":          grokLine,
		".grok/sessions/%2Fd/prompt_history.jsonl":     `{"prompt":"x"}`,
		".grok/sessions/session_search.sqlite":         "SQLite format 3\x00",
		".grok/auth.json":                              "{}",
		".grok/grok.db":                                "SQLite format 3\x00",
		"elsewhere/%2Fd/e/updates.jsonl":               grokLine,
		".grok/worktrees/shop/%2Fd/updates.jsonl":      grokLine,
		".grok/sessions/%2Fd/a/terminal/updates.jsonl": grokLine,
	})
	for name, env := range map[string]Env{
		"home": {Home: home},
		"variable": {Home: filepath.Join(home, "nobody"), Getenv: func(k string) string {
			return map[string]string{"GROK_HOME": filepath.Join(home, ".grok")}[k]
		}},
	} {
		var found, problems []string
		Discover(GrokBuild, env, func(s Source) {
			rel, _ := filepath.Rel(home, s.Path)
			found = append(found, filepath.ToSlash(rel))
			if s.Harness != GrokBuild || s.Part != "" {
				t.Errorf("%s: %+v", name, s)
			}
		}, func(p Problem) { problems = append(problems, p.Error()) })
		want := []string{".grok/sessions/%2Fd/a/updates.jsonl", ".grok/sessions/%2Fd/b/chat_history.jsonl", ".grok/sessions/%2Fd/c/updates.jsonl"}
		if diff := cmp.Diff(want, found); diff != "" || problems != nil {
			t.Errorf("%s: %s\n%v", name, diff, problems)
		}
	}
}

// Every file of a session's folder leads to its carrier, also those below it; a
// folder that only looks like one leads nowhere.
func TestGrokGroup(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{
		"s/updates.jsonl":                     grokLine,
		"s/summary.json":                      `{"info":{"id":"x","cwd":"/d"},"session_summary":""}`,
		"s/old.jsonl":                         grokLine,
		"s/compaction_checkpoints/k.json":     "{}",
		"s/workflows/run/state.json":          "{}",
		"s/notes/mine.jsonl":                  grokLine,
		"coverage/summary.json":               `{"total":{}}`,
		"coverage/updates.jsonl":              grokLine,
		"app/sessions/x/y/chat_history.jsonl": `{"role":"user","content":"hi"}` + "\n",
	})
	carrier := filepath.Join(dir, "s", "updates.jsonl")
	for file, want := range map[string]string{
		"s/updates.jsonl":                     carrier,
		"s/summary.json":                      carrier,
		"s/old.jsonl":                         carrier,
		"s/compaction_checkpoints/k.json":     carrier,
		"s/workflows/run/state.json":          carrier,
		"s/notes/mine.jsonl":                  "",
		"coverage/updates.jsonl":              "",
		"app/sessions/x/y/chat_history.jsonl": "",
	} {
		if got := GrokBuild.Group(filepath.Join(dir, filepath.FromSlash(file))).Carrier; got != want {
			t.Errorf("%s is carried by %q", file, got)
		}
	}
}

// What a session's folder was made of can be made again from its document, without
// what is not needed to go on.
func TestGrokRestorable(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"updates.jsonl":      grokLine,
		"chat_history.jsonl": `{"type":"system","content":"x"}` + "\n",
		"summary.json":       "{\n  \"info\": {\"id\":\"x\",\"cwd\":\"/d\"},\n  \"session_summary\": \"\"\n}\n",
		"plan.json":          "{}\n",
	}
	writeTree(t, dir, files)
	writeTree(t, dir, map[string]string{"events.jsonl": "{}\n", "system_prompt.txt": "You are\n", "mcp/out.txt": "x"})
	srcs, carrier, err := Sources(filepath.Join(dir, "plan.json"))
	if err != nil || len(srcs) != 1 || carrier != filepath.Join(dir, "updates.jsonl") {
		t.Fatalf("%v, %s, %v", srcs, carrier, err)
	}
	r, err := srcs[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := splitAll(r, GrokFiles...)
	if diff := cmp.Diff(files, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestGrokTyped(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", "plain"},
		{" \n", ""},
		{"<user_info>\nOS\n</user_info>\n\n<user_query>\ndo it\n</user_query>", "do it"},
		{"<user_query>a <user_query> b</user_query> c</user_query>", "a <user_query> b</user_query> c"},
		{"<user_query>never closed", "never closed"},
		{"<rules>r</rules><git_status>g</git_status>words", "words"},
		{"<system-reminder>x", ""},
		{"words\n<system-reminder>x</system-reminder>", "words"},
		{"<some-new-wrapper>x</some-new-wrapper>", ""},
		{"<div>mine</div>", "<div>mine</div>"},
		{"<some-tag>x</some-tag> is mine", "<some-tag>x</some-tag> is mine"},
		{"<command-name>/plan</command-name><command-args></command-args>", "/plan"},
		{"<command-message>p</command-message>\n<command-name>plan</command-name>\n<command-args>a b</command-args>\nmore", "/plan a b\nmore"},
	} {
		if got := grokTyped(c.in); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestGrokCommands(t *testing.T) {
	m := &session.Meta{NativeID: "019a", Dir: "/d"}
	if diff := cmp.Diff(Command{[]string{"grok", "--resume", "019a"}, "/d"}, GrokBuild.Resume(m)); diff != "" {
		t.Error(diff)
	}
	for prompt, want := range map[string]string{"fix it": "fix it", "-p secret": " -p secret"} {
		if diff := cmp.Diff(Command{[]string{"grok", want}, "/d"}, GrokBuild.Start("/d", prompt)); diff != "" {
			t.Error(diff)
		}
	}
}

// Every session among the collected folders and files is read whole: an id, times
// in order, no line lost, and only the one kind that a fixture made up is unknown.
func TestGrokCorpus(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	sessions := 0
	err := filepath.WalkDir(filepath.Join(root, "grok-build"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		srcs, carrier, err := Sources(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if carrier != path || !strings.Contains(d.Name(), ".json") {
			return nil
		}
		h, err := Identify(srcs[0])
		if h != GrokBuild {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		m, turns := parseSource(t, h, srcs[0])
		delete(m.Unknown, "some_future_extension_kind")
		if m.BadLines > 0 || len(m.Unknown) > 0 || m.LastActive.Before(m.Start) {
			t.Errorf("%s: %+v", path, m)
		}
		if strings.HasSuffix(d.Name(), grokSummary) {
			if len(turns) > 0 {
				t.Errorf("%s: %d turns in a summary", path, len(turns))
			}
			return nil
		}
		sessions++
		if m.Turns.Assistant+m.Turns.Tool == 0 || strings.Contains(filepath.ToSlash(path), "/trees/") && m.NativeID == "" {
			t.Errorf("%s: %+v", path, m)
		}
		return nil
	})
	if err != nil || sessions < 10 {
		t.Errorf("%d sessions: %v", sessions, err)
	}
}
