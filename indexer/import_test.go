package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sessdex/blobstore"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/session"
)

func TestImportAgainReadsNothing(t *testing.T) {
	m := populated(t)
	rep := m.imp(t, indexer.ImportOptions{})
	if s := sum(rep); s.New != 2 || rep.Parsed != 2 {
		t.Fatalf("first import: %+v, parsed %d", s, rep.Parsed)
	}
	if got := m.find(t, "zeppelin"); !slices.Equal(got, []string{claudeID}) {
		t.Errorf("zeppelin finds %v", got)
	}
	if got := m.find(t, "gondola"); !slices.Equal(got, []string{codexID}) {
		t.Errorf("gondola finds %v", got)
	}
	rep = m.imp(t, indexer.ImportOptions{})
	if s := sum(rep); rep.Parsed != 0 || s.Unchanged != 2 || s.New+s.Changed != 0 || s.Turns != 3 {
		t.Errorf("second import: %+v, parsed %d", s, rep.Parsed)
	}

	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "and land", "near the obelisk"))
	rep = m.imp(t, indexer.ImportOptions{})
	if s := sum(rep); rep.Parsed != 1 || s.Changed != 1 || s.Unchanged != 1 {
		t.Errorf("after an append: %+v, parsed %d", s, rep.Parsed)
	}
	if got := m.find(t, "obelisk"); !slices.Equal(got, []string{claudeID}) {
		t.Errorf("obelisk finds %v", got)
	}
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly"))
	m.imp(t, indexer.ImportOptions{})
	if got := m.find(t, "obelisk"); len(got) != 0 {
		t.Errorf("a rewound turn still finds %v", got)
	}
}

func TestStateIsPerLibrary(t *testing.T) {
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	other := onStore(t, blobstore.NewMemory())
	other.home, other.Env, other.StateDir = m.home, m.Env, m.StateDir
	if s := sum(other.imp(t, indexer.ImportOptions{})); s.New != 2 {
		t.Errorf("the same files into another library: %+v, want 2 new", s)
	}
	for ref, err := range m.Library.Cards(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := m.store.Delete(context.Background(), "ws/cards/"+ref.ID+".json"); err != nil {
			t.Fatal(err)
		}
	}
	if s := sum(m.imp(t, indexer.ImportOptions{})); s.New != 2 {
		t.Errorf("after the bucket lost its cards: %+v, want 2 new", s)
	}
}

func TestEveryFileHasAnOutcome(t *testing.T) {
	m := populated(t)
	dir := filepath.Join(m.home, "given")
	m.write(t, "given/a.jsonl", claude("s1", "hello there"))
	m.write(t, "given/copy-of-a.jsonl", claude("s1", "hello there"))
	m.write(t, "given/empty.jsonl", "")
	m.write(t, "given/notes.txt", "not a transcript")
	m.write(t, "given/only-meta.jsonl", `{"type":"summary","summary":"x","leafUuid":"y"}`+"\n")
	m.write(t, "given/bad-line.jsonl", claude("s2", "first")+"{broken\n"+claude("s2", "first", "second")[len(claude("s2", "first")):])
	locked := m.write(t, "given/locked.jsonl", claude("s3", "secret"))
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{dir, filepath.Join(dir, "notes.txt"), filepath.Join(dir, "absent.jsonl")}})
	s := sum(rep)
	locks := 1
	if f, err := os.Open(locked); err == nil { // root reads everything
		f.Close()
		locks = 0
	}
	if s.Files != 8 || s.Failed != 2+locks || s.Skipped != 2 {
		t.Errorf("%+v\nfailures %v\nskips %v", s, rep.Failures, rep.Skips)
	}
	for _, f := range rep.Failures {
		if f.Reason == "" || strings.Contains(f.Reason, f.Path) {
			t.Errorf("failure of %s says %q", f.Path, f.Reason)
		}
	}
	if got := m.find(t, "second"); !slices.Equal(got, []string{"s2"}) {
		t.Errorf("the line after a bad one finds %v", got)
	}
}

// What the library lost comes back from the files it was made of.
func TestImportHealsTheLibrary(t *testing.T) {
	ctx := context.Background()
	for name, harm := range map[string]func(m *machine, key string) error{
		"transcript lost": func(m *machine, key string) error { return m.store.Delete(ctx, key) },
		"transcript damaged": func(m *machine, key string) error {
			_, err := m.store.Put(ctx, key, strings.NewReader("rot"), 3, blobstore.Cond{})
			return err
		},
		"card damaged": func(m *machine, key string) error {
			card := "ws/cards/" + strings.Split(key, "/")[2] + ".json"
			_, err := m.store.Put(ctx, card, strings.NewReader("{"), 1, blobstore.Cond{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := populated(t)
			m.imp(t, indexer.ImportOptions{})
			id := session.NewID("ann", "claude-code", claudeID)
			card, _, err := m.Library.Card(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if err := harm(m, "ws/transcripts/"+id+"/"+card.Version+".zst"); err != nil {
				t.Fatal(err)
			}
			m.Index.Close()
			if err := os.RemoveAll(filepath.Join(m.data, "index")); err != nil { // so that it is read
				t.Fatal(err)
			}
			if rep := m.imp(t, indexer.ImportOptions{}); len(rep.Failures) != 0 {
				t.Errorf("import: %v", rep.Failures)
			}
			if got := m.find(t, "zeppelin"); len(got) != 1 {
				t.Errorf("zeppelin finds %v", got)
			}
			if rep, err := m.Reindex(ctx, nil); err != nil || len(rep.Failures) != 0 || rep.Changed != 2 {
				t.Errorf("reindex: %+v, %v", rep, err)
			}
		})
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	m := populated(t)
	rep := m.imp(t, indexer.ImportOptions{DryRun: true})
	if s := sum(rep); s.New != 2 || s.Turns != 3 {
		t.Errorf("dry run: %+v", s)
	}
	for info := range m.store.List(context.Background(), "") {
		t.Errorf("stored %s", info.Key)
	}
	entries, _ := fs.Glob(os.DirFS(m.data), "*")
	if len(entries) != 0 {
		t.Errorf("a dry run left %v", entries)
	}

	// Later it tells what is new from what is there.
	m.imp(t, indexer.ImportOptions{})
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "again"))
	m.write(t, ".claude/projects/-work-shop/one-more.jsonl", claude("one-more", "land it"))
	if s := sum(m.imp(t, indexer.ImportOptions{DryRun: true})); s.New != 1 || s.Changed != 1 || s.Unchanged != 1 {
		t.Errorf("dry run after an import: %+v", s)
	}
	if s := sum(m.imp(t, indexer.ImportOptions{})); s.New != 1 || s.Changed != 1 || s.Unchanged != 1 {
		t.Errorf("and the import that it foretold: %+v", s)
	}
}

func TestCancelledImportGoesOnNextTime(t *testing.T) {
	m := newMachine(t)
	for i := range 40 {
		id := fmt.Sprintf("s%02d", i)
		m.write(t, ".claude/projects/-w/"+id+".jsonl", claude(id, "word"+id))
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err := m.Import(ctx, indexer.ImportOptions{Progress: func(p indexer.Progress) {
		if p.Done == 10 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled import: %v", err)
	}
	if got := m.find(t, ""); len(got) < 9 {
		t.Errorf("what was imported before it was stopped finds %d sessions", len(got))
	}
	if rep := m.imp(t, indexer.ImportOptions{}); rep.Parsed > 31 {
		t.Errorf("going on read %d files of 40, 10 of which were done", rep.Parsed)
	}
	if got := m.find(t, ""); len(got) != 40 {
		t.Errorf("after going on: %d sessions of 40", len(got))
	}
}

// Each root that is there has a line, and each that is not is named; nothing is
// concluded from its absence.
func TestRootsAreAccountedFor(t *testing.T) {
	m := newMachine(t)
	m.write(t, codexFile, codex(codexID, "gondola"))
	m.write(t, ".claude/projects", "no folder")
	if err := os.MkdirAll(filepath.Join(m.home, ".codex/archived_sessions"), 0o755); err != nil {
		t.Fatal(err)
	}
	rep := m.imp(t, indexer.ImportOptions{Harnesses: []string{"codex-cli", "claude-code"}})
	got := map[string]int{}
	for _, s := range rep.Sources {
		rel, _ := filepath.Rel(m.home, s.Root)
		got[filepath.ToSlash(rel)+" "+s.Harness] = s.Files
	}
	want := map[string]int{".codex/sessions codex-cli": 1, ".codex/archived_sessions codex-cli": 0, ".claude/projects claude-code": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(rep.Skips) != 1 || rep.Skips[0].Reason != "not a folder" {
		t.Errorf("skips %v", rep.Skips)
	}
	if want := []indexer.AbsentRoot{{Harness: "claude-code", Root: filepath.Join(m.home, ".config", "claude", "projects")}}; !slices.Equal(rep.Absent, want) {
		t.Errorf("absent %v, want %v", rep.Absent, want)
	}
}

// What was left out for not being asked for comes in when it is.
func TestHarnessThatWasNotAskedFor(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Dir(m.write(t, "given/a.jsonl", claude("s1", "zeppelin")))
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{dir}, Harnesses: []string{"codex-cli"}})
	if s := sum(rep); s.Skipped != 1 || !strings.Contains(rep.Skips[0].Reason, "claude-code") {
		t.Errorf("%+v, %v", s, rep.Skips)
	}
	if s := sum(m.imp(t, indexer.ImportOptions{Paths: []string{dir}})); s.New != 1 {
		t.Errorf("asked for: %+v", s)
	}
}

// The folders in which we keep things hold no transcripts of anybody's.
func TestOwnFoldersAreNamedAndLeft(t *testing.T) {
	m := newMachine(t)
	m.write(t, "given/a.jsonl", claude("s1", "zeppelin"))
	m.write(t, "given/library/+sessdex/lock/00", "")
	m.write(t, "given/library/default/transcripts/s2/x.zst", claude("s2", "gondola"))
	m.StateDir = filepath.Join(m.home, "given", "data", "imports")
	m.write(t, "given/data/store/s3.jsonl", claude("s3", "lantern"))
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{filepath.Join(m.home, "given")}})
	if s := sum(rep); s.New != 1 || s.Skipped != 2 || s.Files != 3 {
		t.Errorf("%+v, skips %v", s, rep.Skips)
	}
}

// The last import is remembered for each library, as it was told.
func TestLastImport(t *testing.T) {
	m := populated(t)
	if _, err := m.LastImport(); !errors.Is(err, indexer.ErrNoImport) {
		t.Errorf("before any: %v", err)
	}
	m.imp(t, indexer.ImportOptions{DryRun: true})
	if _, err := m.LastImport(); !errors.Is(err, indexer.ErrNoImport) {
		t.Errorf("after a dry run: %v", err)
	}
	m.write(t, ".claude/projects/-work-shop/empty.jsonl", "")
	rep := m.imp(t, indexer.ImportOptions{})
	last, err := m.LastImport()
	if err != nil || time.Since(last.At) > time.Hour {
		t.Fatalf("%+v, %v", last, err)
	}
	if diff := cmp.Diff(rep, last.Report, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(indexer.Report{})); diff != "" {
		t.Error(diff)
	}
	other := onStore(t, blobstore.NewMemory())
	other.StateDir, other.Library = m.StateDir, library.New(blobstore.NewMemory(), "other")
	if _, err := other.LastImport(); !errors.Is(err, indexer.ErrNoImport) {
		t.Errorf("of another library: %v", err)
	}
	kept, _ := filepath.Glob(filepath.Join(m.StateDir, "*.json"))
	if len(kept) != 1 {
		t.Fatalf("kept: %v", kept)
	}
	if err := os.WriteFile(kept[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.LastImport(); !errors.Is(err, indexer.ErrNoImport) {
		t.Errorf("damaged: %v", err)
	}
}

func TestRemovedRootKeepsSessions(t *testing.T) {
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	if err := os.RemoveAll(filepath.Join(m.home, ".claude")); err != nil {
		t.Fatal(err)
	}
	m.imp(t, indexer.ImportOptions{})
	if got := m.find(t, "zeppelin"); len(got) != 1 {
		t.Errorf("a session whose root is gone finds %v", got)
	}
}

// A transcript's own words are scrubbed before they are stored, and before they
// become a title, a tag or a snippet.
func TestSecretsAreGoneEverywhere(t *testing.T) {
	ctx := context.Background()
	m := newMachine(t)
	secret := "gh" + "p_" + strings.Repeat("aB3dE6gH9", 4)
	m.write(t, claudeFile, claude(claudeID, "my token is "+secret+" use it"))
	rep := m.imp(t, indexer.ImportOptions{})
	if len(rep.Secrets) == 0 {
		t.Error("no secret was reported")
	}
	card, _, err := m.Library.Card(ctx, session.NewID("ann", "claude-code", claudeID))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := m.Library.Transcript(ctx, card, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw, _ := io.ReadAll(r)
	for name, text := range map[string]string{"transcript": string(raw), "title": card.Title, "opening": card.Opening} {
		if strings.Contains(text, secret) || !strings.Contains(text, "[REDACTED:") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if got := m.find(t, secret); len(got) != 0 {
		t.Errorf("the secret finds %v", got)
	}
}
