package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/session"
)

func TestResumeRunsNoOptionOfATranscript(t *testing.T) {
	good := session.Meta{Harness: "claude-code", NativeID: claudeID, Dir: "/work/shop"}
	if cmd, ok := indexer.Resume(&good); !ok || cmd.Dir != "/work/shop" {
		t.Errorf("resume of a session: %+v, %v", cmd, ok)
	}
	for _, h := range harness.All {
		if h.Resume == nil {
			continue
		}
		m := session.Meta{Harness: h.Name, NativeID: "agent-1", Parent: claudeID, Subagent: true}
		cmd, _ := indexer.Resume(&m)
		if line := strings.Join(cmd.Argv, " "); !strings.Contains(line, claudeID) || strings.Contains(line, "agent-1") {
			t.Errorf("%s: a sub-agent goes on with %q, not in the session that started it", h.Name, cmd.Argv)
		}
	}
	for _, id := range []string{"", "--dangerously-skip-permissions", "-x", "a b", "a;b", "$(x)", "../x", strings.Repeat("a", 200)} {
		for _, m := range []session.Meta{{NativeID: id}, {NativeID: "agent-1", Parent: id, Subagent: true}} {
			m.Harness = "claude-code"
			if cmd, ok := indexer.Resume(&m); ok && (id != "" || m.NativeID == "") {
				t.Errorf("resume of %+v runs %q", m, cmd.Argv)
			}
		}
	}
	for _, dir := range []string{"-x", "/a\nb", "/a\x1b", "/a\u202eb"} {
		m := good
		m.Dir = dir
		if cmd, _ := indexer.Resume(&m); cmd.Dir != "" {
			t.Errorf("resume in %q", cmd.Dir)
		}
	}
}

func TestTags(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	id := session.NewID("ann", "claude-code", claudeID)
	card, err := m.Tag(ctx, id, []string{"b", "a", "a"}, nil)
	if err != nil || !slices.Equal(card.PeopleTags, []string{"a", "b"}) {
		t.Fatalf("tags %v, %v", card.PeopleTags, err)
	}
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "again"))
	m.imp(t, indexer.ImportOptions{})
	card, err = m.Tag(ctx, id, nil, []string{"a"})
	if err != nil || !slices.Equal(card.PeopleTags, []string{"b"}) {
		t.Errorf("after an import and -a: %v, %v", card.PeopleTags, err)
	}
	for _, bad := range []string{"", "two words", "-x", strings.Repeat("x", 65)} {
		if _, err := m.Tag(ctx, id, []string{bad}, nil); !errors.Is(err, indexer.ErrTag) {
			t.Errorf("tag %q: %v", bad, err)
		}
	}
}

func TestAutoTags(t *testing.T) {
	m := newMachine(t)
	record := func(n int, block string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":"u%d","parentUuid":null,"sessionId":"s","timestamp":"2026-03-01T10:00:00.000Z","message":{"id":"m%d","role":"assistant","content":[%s]}}`+"\n", n, n, block)
	}
	m.write(t, "s.jsonl", claude("s", "do it")+
		record(1, `{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/w/main.go","old_string":"a","new_string":"b"}}`)+
		`{"type":"user","uuid":"r1","parentUuid":"u1","sessionId":"s","timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}`+"\n"+
		record(2, `{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"cd /w && docker compose up -d; gh pr create --fill"}}`)+
		record(3, `{"type":"tool_use","id":"t3","name":"Grep","input":{"pattern":"psql"}}`))
	m.imp(t, indexer.ImportOptions{Paths: []string{filepath.Join(m.home, "s.jsonl")}})
	card, _, err := m.Library.Card(context.Background(), session.NewID("ann", "claude-code", "s"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"docker", "github", "go", "pr"}; !slices.Equal(card.AutoTags, want) {
		t.Errorf("tags made from the session: %v, want %v", card.AutoTags, want)
	}
	if !slices.Equal(card.Files, []string{"/w/main.go"}) {
		t.Errorf("files: %v", card.Files)
	}
}

func TestPublish(t *testing.T) {
	ctx := context.Background()
	m := newMachine(t)
	raw := []byte(claude("s", "share the zeppelin"))
	saved, err := m.Publish(ctx, raw, indexer.Published{Title: "Zeppelins\x1b", Tags: []string{"Team"}, Label: "x"})
	if err != nil || saved.Outcome != library.Created {
		t.Fatalf("%+v, %v", saved, err)
	}
	again, err := m.Publish(ctx, raw, indexer.Published{Title: "Zeppelins\x1b", Tags: []string{"team"}})
	if err != nil || again.Outcome != library.Unchanged || again.Card.ID != saved.Card.ID {
		t.Errorf("again: %+v, %v", again, err)
	}
	if got := m.find(t, "tag:team zeppelin"); !slices.Equal(got, []string{"s"}) {
		t.Errorf("found: %v", got)
	}
	for name, bad := range map[string]string{"nothing": "", "prose": "hello", "json": `{"a":1}`} {
		if _, err := m.Publish(ctx, []byte(bad), indexer.Published{}); err == nil {
			t.Errorf("%s was published", name)
		}
	}
}

func TestRepositoryFromTheFoldersGit(t *testing.T) {
	m := newMachine(t)
	m.write(t, "proj/.git/config", "[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://x/wrong/one.git\n[remote \"origin\"]\n\turl = git@example.com:team/shop.git\n")
	m.write(t, "proj/.git/worktrees/wt/commondir", "../..\n")
	m.write(t, "wt/.git", "gitdir: "+filepath.Join(m.home, "proj/.git/worktrees/wt")+"\n")
	for _, dir := range []string{"proj", "proj/deep/er", "wt"} {
		abs := filepath.Join(m.home, dir)
		if err := os.MkdirAll(abs, 0o755); err != nil {
			t.Fatal(err)
		}
		if got := indexer.GitRepo(abs); got != "example.com/team/shop" {
			t.Errorf("GitRepo(%s) = %q", dir, got)
		}
	}
	if got := indexer.GitRepo(filepath.Join(m.home, "nowhere")); got != "" {
		t.Errorf("GitRepo outside of one = %q", got)
	}
}
