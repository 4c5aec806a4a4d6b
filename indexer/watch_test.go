package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sessdex/indexer"
)

// watching is a machine whose roots are followed until the test ends. Each import
// that did something is told.
func (m *machine) watching(t *testing.T, o indexer.ImportOptions) (imported chan *indexer.Report) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	imported = make(chan *indexer.Report, 1000)
	ended := make(chan error, 1)
	go func() {
		ended <- m.Watch(ctx, o, func(r *indexer.Report, err error) {
			if err != nil {
				t.Error(err)
			}
			imported <- r
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("watch ended with %v", err)
		}
	})
	return imported
}

// comes waits until words find something. Nothing but imports that Watch told of is
// waited for, and its full look every half minute is too late.
func (m *machine) comes(t *testing.T, imported chan *indexer.Report, words string) {
	t.Helper()
	for deadline := time.After(25 * time.Second); len(m.find(t, words)) == 0; {
		select {
		case <-imported:
		case <-deadline:
			t.Fatalf("%q was not imported", words)
		}
	}
}

// Whatever way turns come into being, search finds them, with notifications and
// without.
func TestWatch(t *testing.T) {
	for name, without := range map[string]bool{"notified": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			if without {
				t.Cleanup(indexer.WithoutNotifications())
			}
			m := newMachine(t)
			path := m.write(t, claudeFile, claude(claudeID, "zeppelin"))
			imported := m.watching(t, indexer.ImportOptions{})
			m.comes(t, imported, "zeppelin")

			more := claude(claudeID, "zeppelin", "obelisk")
			add(t, path, more[len(claude(claudeID, "zeppelin")):])
			m.comes(t, imported, "obelisk")

			// A root that was not there, folders and all.
			m.write(t, codexFile, codex(codexID, "gondola"))
			m.comes(t, imported, "gondola")

			// A new folder, and a file that is put in place whole.
			m.write(t, ".claude/projects/-work-mill/tmp", claude("s3", "lantern"))
			dir := filepath.Join(m.home, ".claude/projects/-work-mill")
			if err := os.Rename(filepath.Join(dir, "tmp"), filepath.Join(dir, "aaaaaaaa-0000-4000-8000-000000000003.jsonl")); err != nil {
				t.Fatal(err)
			}
			m.comes(t, imported, "lantern")

			// A root that goes and comes back with something else.
			if err := os.RemoveAll(filepath.Join(m.home, ".claude")); err != nil {
				t.Fatal(err)
			}
			m.write(t, ".claude/projects/-work-sea/aaaaaaaa-0000-4000-8000-000000000004.jsonl", claude("s4", "harpoon"))
			m.comes(t, imported, "harpoon")
			if len(m.find(t, "zeppelin")) != 1 {
				t.Error("what the root held is gone")
			}
		})
	}
}

// A folder behind a link is a root's like any other.
func TestWatchFollowsLinks(t *testing.T) {
	m := newMachine(t)
	m.write(t, "elsewhere/keep", "")
	m.write(t, ".claude/projects/-work-shop/keep", "")
	if err := os.Symlink(filepath.Join(m.home, "elsewhere"), filepath.Join(m.home, ".claude/projects/-work-sea")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	m.write(t, claudeFile, claude(claudeID, "zeppelin"))
	imported := m.watching(t, indexer.ImportOptions{})
	m.comes(t, imported, "zeppelin")
	m.write(t, "elsewhere/aaaaaaaa-0000-4000-8000-000000000003.jsonl", claude("s3", "lantern"))
	m.comes(t, imported, "lantern")
}

// Files and folders that a person gave are watched as they are: all of a folder,
// and of a file's folder that file only.
func TestWatchGivenPaths(t *testing.T) {
	m := newMachine(t)
	one := m.write(t, "desk/one.jsonl", claude("s1", "zeppelin"))
	box := filepath.Dir(m.write(t, "box/two.jsonl", claude("s2", "gondola")))
	imported := m.watching(t, indexer.ImportOptions{Paths: []string{one, box}})
	m.comes(t, imported, "gondola")
	m.write(t, "desk/other.jsonl", claude("s3", "anchor"))
	add(t, one, claude("s1", "zeppelin", "obelisk")[len(claude("s1", "zeppelin")):])
	m.comes(t, imported, "obelisk")
	m.write(t, "box/new/three.jsonl", claude("s4", "lantern"))
	m.comes(t, imported, "lantern")
	if got := m.find(t, "anchor"); len(got) != 0 {
		t.Errorf("a file beside a given one was imported: %v", got)
	}
}

// A file that is a part of a session leads to the session.
func TestWatchLeadsFromPartsToSessions(t *testing.T) {
	m := newMachine(t)
	const dir = ".grok/sessions/%2Fwork%2Fshop/019d0000-0000-7000-8000-000000000001/"
	summary := `{"info":{"id":"019d0000-0000-7000-8000-000000000001","cwd":"/work/shop"},"session_summary":"%s","created_at":"2026-05-01T10:00:00Z","updated_at":"2026-05-01T10:00:00Z","num_messages":1,"num_chat_messages":1,"current_model_id":"grok-4","chat_format_version":1}`
	m.write(t, dir+"updates.jsonl", `{"timestamp":1777629600,"method":"session/update","params":{"sessionId":"019d0000-0000-7000-8000-000000000001","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"zeppelin"}}}}`+"\n")
	m.write(t, dir+"summary.json", fmt.Sprintf(summary, "first"))
	imported := m.watching(t, indexer.ImportOptions{Harnesses: []string{"grok-build"}})
	m.comes(t, imported, "zeppelin")
	m.write(t, dir+"summary.json", fmt.Sprintf(summary, "lantern festival"))
	m.comes(t, imported, "lantern")
}
