package indexer_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sessdex/blobstore"
	"sessdex/indexer"
	"sessdex/session"
)

const (
	rolloutID   = "019d0000-0000-7000-8000-000000000001"
	rolloutFile = ".codex/sessions/2026/04/01/rollout-2026-04-01T12-00-00-" + rolloutID + ".jsonl"
)

// cards reads the cards of sessions by their native ids.
func (m *machine) cards(t *testing.T, harness string, natives ...string) []*session.Card {
	t.Helper()
	var out []*session.Card
	for _, n := range natives {
		c, _, err := m.Library.Card(context.Background(), session.NewID("ann", harness, n))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// tree lists the files below the home folder.
func (m *machine) tree(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(m.home, path)
			files = append(files, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestRestore(t *testing.T) {
	m, ctx := newMachine(t), context.Background()
	secret := "gh" + "p_" + "a8Kd03mXq7Zt5RwLc2Vn9YbGf4HsJe6PuT1o"
	text := claude(claudeID, "the zeppelin needs "+secret, "and a mast")
	m.write(t, claudeFile, text)
	m.write(t, rolloutFile, codex(rolloutID, "moor the zeppelin"))
	m.imp(t, indexer.ImportOptions{})
	both := append(m.cards(t, "claude-code", claudeID), m.cards(t, "codex-cli", rolloutID)...)

	// What is there is left alone, changed or not.
	m.write(t, claudeFile, "{}\n")
	if r, err := m.Restore(ctx, both, "/work/shop", false); err != nil || len(r.Files)+len(r.Ran) != 0 {
		t.Errorf("restoring what is there: %+v, %v", r, err)
	}
	if got, _ := os.ReadFile(filepath.Join(m.home, claudeFile)); string(got) != "{}\n" {
		t.Errorf("the file became %q", got)
	}

	if err := os.RemoveAll(filepath.Join(m.home, ".claude")); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(filepath.Join(m.home, ".codex"))
	dry, err := m.Restore(ctx, both, "/work/shop", true)
	if err != nil || len(dry.Files) != 2 || len(m.tree(t)) != 0 {
		t.Errorf("a dry run: %+v, %v, and makes %v", dry, err, m.tree(t))
	}
	r, err := m.Restore(ctx, both, "/work/shop", false)
	if err != nil || strings.Join(r.Files, " ") != strings.Join(dry.Files, " ") {
		t.Errorf("restored %v, %v, announced %v", r.Files, err, dry.Files)
	}
	if got := strings.Join(m.tree(t), " "); got != claudeFile+" "+rolloutFile {
		t.Errorf("restored: %s", got)
	}
	for _, path := range r.Files {
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
		if raw, _ := os.ReadFile(path); strings.Contains(string(raw), secret) {
			t.Errorf("%s holds the secret", path)
		}
	}
	// The library knows it all already.
	if s := sum(m.imp(t, indexer.ImportOptions{})); s.Unchanged != 2 || s.Files != 2 {
		t.Errorf("importing what was restored: %+v", s)
	}
	c := m.cards(t, "claude-code", claudeID)[0]
	if len(c.Secrets) != 1 {
		t.Errorf("the card counts the masks %v", c.Secrets)
	}
	if len(c.Older) != 0 || c.Version != both[0].Version {
		t.Errorf("it became version %s with %d older ones", c.Version, len(c.Older))
	}
}

// Where one of several cannot be restored, none is.
func TestRestoreIsAllOrNothing(t *testing.T) {
	store := blobstore.NewMemory()
	m, ctx := onStore(t, store), context.Background()
	m.write(t, claudeFile, claude(claudeID, "one"))
	m.write(t, rolloutFile, codex(rolloutID, "two"))
	m.imp(t, indexer.ImportOptions{})
	both := append(m.cards(t, "claude-code", claudeID), m.cards(t, "codex-cli", rolloutID)...)
	os.RemoveAll(filepath.Join(m.home, ".claude"))
	os.RemoveAll(filepath.Join(m.home, ".codex"))
	for info, err := range store.List(ctx, "ws/transcripts/"+both[1].ID) {
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Delete(ctx, info.Key); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := m.Restore(ctx, both, "/work/shop", false); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), both[1].ID) {
		t.Errorf("%+v, %v", r, err)
	}
	if left := m.tree(t); len(left) != 0 {
		t.Errorf("it left %v", left)
	}

	// Nor is anything left of a file that could not be written to its end.
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Restore(ctx, both[:1], "/work/shop", false); err == nil {
		t.Error("restored though it was told to stop")
	}
	if left := m.tree(t); len(left) != 0 {
		t.Errorf("it left %v", left)
	}
}

// A rollout that begins in another one brings that along.
func TestRestoreBringsWhatATranscriptBeginsIn(t *testing.T) {
	m, ctx := newMachine(t), context.Background()
	fork := "019d0000-0000-7000-8000-000000000002"
	m.write(t, rolloutFile, codex(rolloutID, "moor the zeppelin"))
	m.write(t, strings.ReplaceAll(rolloutFile, rolloutID, fork), strings.Replace(codex(fork, "and paint it"),
		`"source":"cli"`, `"source":"cli","history_mode":"paginated","history_base":{"thread_id":"`+rolloutID+`","end_ordinal_exclusive":3}`, 1))
	m.imp(t, indexer.ImportOptions{})
	os.RemoveAll(filepath.Join(m.home, ".codex"))
	r, err := m.Restore(ctx, m.cards(t, "codex-cli", fork), "/work/api", false)
	if err != nil || len(r.Files) != 2 || len(m.tree(t)) != 2 {
		t.Errorf("%+v, %v: %v", r, err, m.tree(t))
	}
}
