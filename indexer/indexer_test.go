package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sessdex/blobstore"
	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/search"
	"sessdex/session"
)

// machine is an indexer on real parts, with a home folder of its own.
type machine struct {
	*indexer.Indexer
	home, data string
	store      blobstore.Store
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return onStore(t, blobstore.NewMemory())
}

func onStore(t *testing.T, store blobstore.Store) *machine {
	t.Helper()
	s := scrub.New(scrub.WithKey([]byte("test")))
	m := &machine{home: t.TempDir(), data: t.TempDir(), store: store}
	index := search.Open(filepath.Join(m.data, "index"))
	t.Cleanup(index.Close)
	m.Indexer = &indexer.Indexer{
		Library: library.New(store, "ws"), Index: index, Scrubber: s, StateDir: filepath.Join(m.data, "imports"),
		Owner: "ann", Host: "box", Env: harness.Env{Home: m.home}, Log: slog.New(slog.DiscardHandler),
	}
	return m
}

// claude is a Claude Code transcript in which a person says words, one turn each.
func claude(id string, words ...string) string {
	var b strings.Builder
	for i, w := range words {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","parentUuid":null,"isSidechain":false,"sessionId":"%s","cwd":"/work/shop","gitBranch":"main","version":"2.1.0","timestamp":"2026-03-0%dT10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", id, i, id, i%9+1, w)
	}
	return b.String()
}

// codex is a Codex rollout in which a person says words.
func codex(id string, words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"timestamp":"2026-04-01T10:00:00.000Z","type":"session_meta","payload":{"id":"%s","timestamp":"2026-04-01T10:00:00.000Z","cwd":"/work/api","cli_version":"0.140.0","source":"cli"}}`+"\n", id)
	for i, w := range words {
		fmt.Fprintf(&b, `{"timestamp":"2026-04-01T10:00:%02d.000Z","type":"event_msg","payload":{"type":"user_message","message":%q}}`+"\n", i, w)
		fmt.Fprintf(&b, `{"timestamp":"2026-04-01T10:00:%02d.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}}`+"\n", i, w)
	}
	return b.String()
}

func (m *machine) write(t *testing.T, path, text string) string {
	t.Helper()
	path = filepath.Join(m.home, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (m *machine) imp(t *testing.T, o indexer.ImportOptions) *indexer.Report {
	t.Helper()
	rep, err := m.Import(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range rep.Sources {
		if s.New+s.Changed+s.Unchanged+s.Skipped+s.Failed != s.Files {
			t.Errorf("outcomes do not add up to %d files: %+v", s.Files, *s)
		}
	}
	return rep
}

// sum adds the rows of a report.
func sum(r *indexer.Report) (s indexer.SourceReport) {
	for _, row := range r.Sources {
		s.Files += row.Files
		s.New += row.New
		s.Changed += row.Changed
		s.Unchanged += row.Unchanged
		s.Skipped += row.Skipped
		s.Failed += row.Failed
		s.Turns += row.Turns
	}
	return s
}

func (m *machine) find(t *testing.T, words string) []string {
	t.Helper()
	res, err := m.Index.Search(context.Background(), search.Query{Text: words, Limit: 100})
	if errors.Is(err, search.ErrMissing) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range res.Hits {
		out = append(out, h.NativeID)
	}
	return out
}

const (
	claudeFile = ".claude/projects/-work-shop/aaaaaaaa-0000-4000-8000-000000000001.jsonl"
	claudeID   = "aaaaaaaa-0000-4000-8000-000000000001"
	codexFile  = ".codex/sessions/2026/04/01/rollout-2026-04-01T10-00-00-bbbbbbbb-0000-7000-8000-000000000002.jsonl"
	codexID    = "bbbbbbbb-0000-7000-8000-000000000002"
)

// populated is a machine with a session of each harness.
func populated(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "and land"))
	m.write(t, codexFile, codex(codexID, "paint the gondola"))
	return m
}

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

func TestIndexIsAView(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	before := m.find(t, "")
	m.Index.Close()
	if err := os.RemoveAll(filepath.Join(m.data, "index")); err != nil {
		t.Fatal(err)
	}
	rep, err := m.Sync(ctx, nil)
	if err != nil || rep.Changed != 2 {
		t.Fatalf("sync without an index: %+v, %v", rep, err)
	}
	if got := m.find(t, ""); !slices.Equal(got, before) {
		t.Errorf("after sync %v, before %v", got, before)
	}
	rep, err = m.Sync(ctx, nil)
	if err != nil || rep.Changed+rep.Removed != 0 {
		t.Errorf("sync with nothing to do: %+v, %v", rep, err)
	}
	var told indexer.Progress
	rep, err = m.Reindex(ctx, func(p indexer.Progress) { told = p })
	if err != nil || rep.Changed != 2 || rep.Turns != 3 || told.Done != 2 {
		t.Errorf("reindex: %+v, %v, progress %+v", rep, err, told)
	}
	if got := m.find(t, ""); !slices.Equal(got, before) {
		t.Errorf("after reindex %v, before %v", got, before)
	}
}

// A damaged index is built anew by whoever next brings something in.
func TestDamagedIndexIsRebuilt(t *testing.T) {
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	damage := func() {
		m.Index.Close()
		bolts := 0
		filepath.WalkDir(filepath.Join(m.data, "index"), func(p string, d fs.DirEntry, err error) error {
			if filepath.Base(p) == "root.bolt" {
				bolts++
				os.Remove(p)
			}
			return nil
		})
		if bolts == 0 {
			t.Fatal("found nothing to damage")
		}
	}
	damage()
	m.imp(t, indexer.ImportOptions{}) // nothing to import, but to mend
	if got := m.find(t, "zeppelin"); len(got) != 1 {
		t.Errorf("after an import that found the index damaged: %v", got)
	}
	damage()
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "past the obelisk"))
	m.imp(t, indexer.ImportOptions{})
	if got := m.find(t, "obelisk"); len(got) != 1 {
		t.Errorf("after an import into a damaged index: %v", got)
	}
	if got := m.find(t, "gondola"); len(got) != 1 {
		t.Errorf("the session beside it: %v", got)
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

func TestResumeRunsNoOptionOfATranscript(t *testing.T) {
	good := session.Meta{Harness: "claude-code", NativeID: claudeID, Dir: "/work/shop"}
	if cmd, ok := indexer.Resume(&good); !ok || cmd.Dir != "/work/shop" {
		t.Errorf("resume of a session: %+v, %v", cmd, ok)
	}
	for _, id := range []string{"", "--dangerously-skip-permissions", "-x", "a b", "a;b", "$(x)", "../x", strings.Repeat("a", 200)} {
		for _, m := range []session.Meta{{NativeID: id}, {NativeID: "agent-1", Parent: id, Subagent: true}} {
			m.Harness = "claude-code"
			if cmd, ok := indexer.Resume(&m); ok && (id != "" || m.NativeID == "") {
				t.Errorf("resume of %+v runs %q", m, cmd.Argv)
			}
		}
	}
	for _, dir := range []string{"-x", "/a\nb", "/a\x1b"} {
		m := good
		m.Dir = dir
		if cmd, _ := indexer.Resume(&m); cmd.Dir != "" {
			t.Errorf("resume in %q", cmd.Dir)
		}
	}
}

// What another machine wrote to the bucket arrives by Sync, and what was removed
// there goes.
func TestSyncFollowsTheBucket(t *testing.T) {
	ctx := context.Background()
	a := populated(t)
	b := onStore(t, a.store)
	a.imp(t, indexer.ImportOptions{})
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Changed != 2 {
		t.Fatalf("sync of the other machine: %+v, %v", rep, err)
	}
	id := session.NewID("ann", "claude-code", claudeID)
	if _, err := a.Tag(ctx, id, []string{"#Airship"}, nil); err != nil {
		t.Fatal(err)
	}
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Changed != 1 {
		t.Errorf("sync after a tag: %+v, %v", rep, err)
	}
	if got := b.find(t, "tag:airship"); !slices.Equal(got, []string{claudeID}) {
		t.Errorf("tag:airship finds %v there", got)
	}
	if err := a.Remove(ctx, id); err != nil {
		t.Fatal(err)
	}
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Removed != 1 {
		t.Errorf("sync after a removal: %+v, %v", rep, err)
	}
	if got := b.find(t, "zeppelin"); len(got) != 0 {
		t.Errorf("a removed session is found: %v", got)
	}
}

// aged is a store whose clock says that everything was written a while ago.
type aged struct {
	blobstore.Store
	by time.Duration
}

func (a aged) List(ctx context.Context, prefix string) iter.Seq2[blobstore.Info, error] {
	return func(yield func(blobstore.Info, error) bool) {
		for info, err := range a.Store.List(ctx, prefix) {
			info.Time = info.Time.Add(-a.by)
			if !yield(info, err) {
				return
			}
		}
	}
}

// A server beside an import does not do its work a second time.
func TestFollowLeavesFreshCardsToTheirWriter(t *testing.T) {
	ctx := t.Context()
	a := populated(t)
	b := onStore(t, a.store)
	a.imp(t, indexer.ImportOptions{})
	if rep, err := b.Follow(ctx); err != nil || rep.Sessions != 2 || rep.Changed != 0 {
		t.Errorf("at once: %+v, %v", rep, err)
	}
	b.Library = library.New(aged{a.store, time.Minute}, "ws")
	if rep, err := b.Follow(ctx); err != nil || rep.Changed != 2 {
		t.Errorf("a minute later: %+v, %v", rep, err)
	}
}

// A library that shows nothing at all is rather not there than emptied.
func TestSyncDoesNotTakeAnAbsentLibraryForAnEmptyOne(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	m.Library = library.New(blobstore.NewMemory(), "ws")
	if _, err := m.Sync(ctx, nil); !errors.Is(err, indexer.ErrEmptyLibrary) {
		t.Errorf("sync with nothing in the library: %v", err)
	}
	if got := m.find(t, "zeppelin"); len(got) != 1 {
		t.Errorf("after it zeppelin finds %v", got)
	}
	if rep, err := m.Reindex(ctx, nil); err != nil || rep.Sessions != 0 {
		t.Errorf("reindex: %+v, %v", rep, err)
	}
	if got := m.find(t, "zeppelin"); len(got) != 0 {
		t.Errorf("after a reindex zeppelin finds %v", got)
	}
}

func TestSyncReportsWhatItCannotRead(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	other := onStore(t, m.store)
	card, _, err := m.Library.Card(ctx, session.NewID("ann", "claude-code", claudeID))
	if err != nil {
		t.Fatal(err)
	}
	key := "ws/transcripts/" + card.ID + "/" + card.Version + ".zst"
	if _, err := m.store.Put(ctx, key, strings.NewReader("rot"), 3, blobstore.Cond{}); err != nil {
		t.Fatal(err)
	}
	rep, err := other.Sync(ctx, nil)
	if err != nil || rep.Changed != 1 || len(rep.Failures) != 1 || rep.Failures[0].Path != card.ID {
		t.Errorf("sync with a damaged transcript: %+v, %v", rep, err)
	}
	if got := other.find(t, "gondola"); len(got) != 1 {
		t.Errorf("the session beside it finds %v", got)
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

func TestWatch(t *testing.T) {
	for _, early := range []bool{true, false} {
		t.Run(fmt.Sprintf("root there first %v", early), func(t *testing.T) {
			m := newMachine(t)
			if early {
				m.write(t, claudeFile, claude(claudeID, "zeppelin"))
			}
			ctx, cancel := context.WithCancel(context.Background())
			imported := make(chan *indexer.Report, 100)
			ended := make(chan error)
			go func() {
				ended <- m.Watch(ctx, indexer.ImportOptions{}, func(r *indexer.Report, err error) {
					if err != nil {
						t.Error(err)
					}
					imported <- r
				})
			}()
			if early {
				<-imported
			} else {
				time.Sleep(200 * time.Millisecond) // until the watch stands
			}
			m.write(t, codexFile, codex(codexID, "gondola"))
			m.write(t, ".claude/projects/-work-shop/no-transcript.txt", "x")
			for deadline := time.After(40 * time.Second); len(m.find(t, "gondola")) == 0; {
				select {
				case <-imported:
				case <-deadline:
					t.Fatal("a new session was not imported")
				}
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("watch ended with %v", err)
			}
		})
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
