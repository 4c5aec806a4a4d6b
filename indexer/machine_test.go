package indexer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sessdex/blobstore"
	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/search"
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

func onStore(t testing.TB, store blobstore.Store) *machine {
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
func claude(id string, words ...string) string { return claudeIn("/work/shop", id, words...) }

// claudeIn is the same in another working folder.
func claudeIn(dir, id string, words ...string) string {
	var b strings.Builder
	for i, w := range words {
		fmt.Fprintf(&b, `{"type":"user","uuid":"%s-%d","parentUuid":null,"isSidechain":false,"sessionId":"%s","cwd":%q,"gitBranch":"main","version":"2.1.0","timestamp":"2026-03-0%dT10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", id, i, id, dir, i%9+1, w)
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

func (m *machine) write(t testing.TB, path, text string) string {
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

func (m *machine) imp(t testing.TB, o indexer.ImportOptions) *indexer.Report {
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
