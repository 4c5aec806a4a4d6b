//go:build unix

package harness

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe among the transcripts is reported. Opening it would wait for a writer for ever.
func TestDiscoverPipe(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects", "-shop")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jsonl"), 0o644); err != nil {
		t.Skip("no pipes here:", err)
	}
	found, problems := discovered(ClaudeCode, Env{Home: home})
	if len(found) != 0 || len(problems) != 1 || !errors.Is(problems[0], ErrNotRegular) {
		t.Errorf("found %v, problems %v", found, problems)
	}
}

// Nor can a folder that may not be read hide the others.
func TestDiscoverForbidden(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	home := t.TempDir()
	writeTree(t, home, map[string]string{
		".claude/projects/-a/x.jsonl": "{}",
		".claude/projects/-b/y.jsonl": "{}",
	})
	shut := filepath.Join(home, ".claude", "projects", "-a")
	if err := os.Chmod(shut, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(shut, 0o755)
	found, problems := discovered(ClaudeCode, Env{Home: home})
	if len(found) != 1 || len(problems) != 1 || problems[0].Path == "" {
		t.Errorf("found %v, problems %v", found, problems)
	}
}

// An edit shows in a file's stamp though it leaves size and time as they were.
func TestStampSeesAnEditThatHides(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"s.jsonl": "{\"a\":1}\n"})
	path := filepath.Join(dir, "s.jsonl")
	before, err := FileSource(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, map[string]string{"other": "{\"a\":2}\n"})
	if err := os.Chtimes(filepath.Join(dir, "other"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "other"), path); err != nil {
		t.Fatal(err)
	}
	after, err := FileSource(path)
	if err != nil || after.Size != before.Size || after.Stamp == before.Stamp {
		t.Errorf("stamps %q and %q: %v", before.Stamp, after.Stamp, err)
	}
}

// What took a transcript's place after it was found is not waited for.
func TestOpenOfAPipeThatTookItsPlace(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"s.jsonl": "{}\n"})
	src, err := FileSource(filepath.Join(dir, "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(src.Path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(src.Path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	if _, err := src.Open(); !errors.Is(err, ErrNotRegular) {
		t.Errorf("open: %v", err)
	}
}

// A pipe is not waited for wherever OpenCode keeps a file or a folder.
func TestOpenCodePipes(t *testing.T) {
	pipe := func(path string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Skip("no pipes here:", err)
		}
	}
	for _, ext := range []string{"-wal", "-shm", "-journal"} {
		home := t.TempDir()
		db := openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"))
		insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
		db.Close()
		pipe(filepath.Join(openCodeData(home), "opencode.db"+ext))
		found, problems := discovered(OpenCode, Env{Home: home})
		if len(found) != 0 || len(problems) == 0 || !errors.Is(problems[0], ErrNotRegular) {
			t.Errorf("%s: found %v, problems %v", ext, found, problems)
		}
	}
	for _, at := range []string{"message/ses_1/msg_101.json", "part/msg_101/prt_101_00.json", "part/msg_101", "message/ses_1"} {
		home := t.TempDir()
		writeOpenCodeTree(t, openCodeData(home), false, openCodeTalk("ses_1", openCodeBorn))
		pipe(filepath.Join(openCodeData(home), "storage", at))
		Discover(OpenCode, Env{Home: home}, func(src Source) {
			if r, err := src.Open(); err == nil {
				_, _ = io.Copy(io.Discard, r) // an error is an answer
				r.Close()
			}
		}, func(Problem) {})
	}
}

// Nor for one that took the place of a part after it was found.
func TestPartThatBecameAPipe(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"a.jsonl": "{}\n", "b.jsonl": "{}\n"})
	parts := partsOf(dir, []string{"a.jsonl", "b.jsonl"}, func(string) int64 { return 0 })
	b := filepath.Join(dir, "b.jsonl")
	if err := errors.Join(os.Remove(b), syscall.Mkfifo(b, 0o600)); err != nil {
		t.Skip("no pipes here:", err)
	}
	r, err := openParts(partHead{Harness: grokName}, dir, parts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); !errors.Is(err, ErrNotRegular) {
		t.Errorf("read: %v", err)
	}
}
