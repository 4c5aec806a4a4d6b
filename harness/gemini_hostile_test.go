package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// geminiFolder writes n files of one session's name and gives their folder.
func geminiFolder(t *testing.T, n int) string {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("session-2026-01-01T%02d-%02d-12345678.jsonl", i/60, i%60)] = `{"sessionId":"12345678-1","projectHash":"h"}` + "\n"
	}
	dir := filepath.Join(t.TempDir(), "chats")
	writeTree(t, dir, files)
	return dir
}

// A file that is gone stands for itself, though others of its name are there.
func TestGeminiCarrierOfAFileThatIsGone(t *testing.T) {
	gone := filepath.Join(geminiFolder(t, 2), "session-2026-01-01T23-00-12345678.jsonl")
	if got := Carrier(gone); got != gone {
		t.Errorf("the carrier is %s", got)
	}
}

// So many files are no one session: the heads of all would be read for each.
func TestGeminiFilesWithoutEnd(t *testing.T) {
	for n, want := range map[int]int{geminiMaxParts: geminiMaxParts, geminiMaxParts + 1: 1} {
		dir := geminiFolder(t, n)
		if got := geminiSiblings(filepath.Join(dir, "session-2026-01-01T00-00-12345678.jsonl")); len(got) != want {
			t.Errorf("of %d files, %d are one session, want %d", n, len(got), want)
		}
	}
}

// A folder is listed once for all of its files, and again when it has changed.
func TestGeminiListsAFolderOnce(t *testing.T) {
	dir := geminiFolder(t, 3)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	key := "12345678"
	first := geminiListed(dir)[key]
	if again := geminiListed(dir)[key]; len(first) != 3 || &first[0] != &again[0] {
		t.Error("the folder was listed twice")
	}
	writeTree(t, dir, map[string]string{"session-2026-02-01T00-00-12345678.jsonl": "{}"})
	if now := geminiListed(dir)[key]; len(now) != 4 {
		t.Errorf("after a change it lists %v", now)
	}
}
