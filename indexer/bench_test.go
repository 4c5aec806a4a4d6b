package indexer_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"sessdex/blobstore"
	"sessdex/indexer"
)

// An import of a thousand files of which none changed, without the start of the
// program. On a directory store, as a person has it.
func BenchmarkImportOfNothingNew(b *testing.B) {
	store, err := blobstore.OpenDir(filepath.Join(b.TempDir(), "store"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	m := onStore(b, store)
	for i := range 1000 {
		id := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
		m.write(b, fmt.Sprintf(".claude/projects/-work-p%d/%s.jsonl", i%20, id), claude(id, "hello"))
	}
	m.imp(b, indexer.ImportOptions{})
	for b.Loop() {
		m.Index.Close()
		if rep := m.imp(b, indexer.ImportOptions{}); rep.Parsed != 0 {
			b.Fatalf("parsed %d", rep.Parsed)
		}
	}
}
