package indexer_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sessdex/harness"
	"sessdex/indexer"
)

// Of the real sessions and everything that lies beside them, each file has an
// outcome, none fails, and all stays so the second time, when nothing is read.
func TestCorpusIsAccountedFor(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real sessions")
	}
	want := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		want++
		if srcs, carrier, _ := harness.Sources(p); carrier == p && len(srcs) > 1 {
			want += len(srcs) - 1
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	first := m.imp(t, indexer.ImportOptions{Paths: []string{root}})
	again := m.imp(t, indexer.ImportOptions{Paths: []string{root}})
	for name, rep := range map[string]*indexer.Report{"first": first, "again": again} {
		if rep.Files() != want || rep.Sessions() == 0 {
			t.Errorf("%s: %d files have an outcome, %d of them sessions, of %d", name, rep.Files(), rep.Sessions(), want)
		}
		for _, f := range rep.Failures {
			t.Errorf("%s: %s failed: %s", name, f.Path, f.Reason)
		}
	}
	a, b := sum(first), sum(again)
	if again.Parsed+again.Synced+b.New+b.Changed != 0 || a.Skipped != b.Skipped || a.Turns != b.Turns || first.Sessions() != again.Sessions() {
		t.Errorf("first %+v, again %+v, %d parsed, %d synced", a, b, again.Parsed, again.Synced)
	}
}
