//go:build unix

package indexer_test

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"sessdex/indexer"
)

// kinds are what can stand in a folder, each with the outcome of its first and of
// its second import. make is given a free path without extension.
var kinds = []struct {
	name         string
	first, again string
	make         func(path string) error
}{
	{"a session", "new", "unchanged", func(p string) error { return put(p+".jsonl", claude(filepath.Base(p), "hello")) }},
	{"another harness's", "new", "unchanged", func(p string) error { return put(p+".jsonl", codex(filepath.Base(p), "hello")) }},
	{"compressed", "new", "unchanged", func(p string) error { return put(p+".zst", squeeze(claude(filepath.Base(p), "hello"))) }},
	{"cut off", "failed", "failed", func(p string) error {
		whole := squeeze(claude(filepath.Base(p), strings.Repeat("hello ", 99)))
		return put(p+".zst", whole[:len(whole)-5])
	}},
	{"empty", "skipped", "skipped", func(p string) error { return put(p+".jsonl", "") }},
	{"prose", "skipped", "skipped", func(p string) error { return put(p+".txt", "Dear Sam,\n") }},
	{"nothing said", "skipped", "skipped", func(p string) error {
		return put(p+".jsonl", `{"type":"summary","summary":"x","leafUuid":"y"}`+"\n")
	}},
	{"a pipe", "skipped", "skipped", func(p string) error { return syscall.Mkfifo(p+".jsonl", 0o600) }},
	{"a socket", "skipped", "skipped", func(p string) error { return socket(p + ".jsonl") }},
	{"a dangling link", "skipped", "skipped", func(p string) error { return os.Symlink(p+".gone", p+".jsonl") }},
	{"a circle", "skipped", "skipped", func(p string) error { return os.Symlink(p+".jsonl", p+".jsonl") }},
	{"a link back", "skipped", "skipped", func(p string) error { return os.Symlink("..", p) }},
}

func put(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

func squeeze(text string) string {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(enc.EncodeAll([]byte(text), nil))
}

// socket leaves a socket's name, which may be longer than a socket's address.
func socket(path string) error {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	return os.Rename(filepath.Join(dir, "s"), path)
}

// outcomes are the sums of a report by outcome.
func outcomes(rep *indexer.Report) map[string]int {
	s := sum(rep)
	return map[string]int{"new": s.New, "changed": s.Changed, "unchanged": s.Unchanged, "skipped": s.Skipped, "failed": s.Failed}
}

// Whatever lies in a folder, each thing in it has one outcome, which stays the same
// and costs nothing the second time.
func TestOutcomesOfAnyTree(t *testing.T) {
	m := newMachine(t)
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		root := filepath.Join(m.home, fmt.Sprint("run", run))
		first, again := map[string]int{}, map[string]int{}
		all := map[string]bool{}
		dirs := []string{root}
		for i := range rapid.IntRange(0, 12).Draw(r, "things") {
			dir := rapid.SampledFrom(dirs).Draw(r, "folder")
			path := filepath.Join(dir, fmt.Sprintf("r%d-%d", run, i))
			kind := rapid.IntRange(-1, len(kinds)-1).Draw(r, "kind")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				r.Fatal(err)
			}
			if kind < 0 {
				dirs = append(dirs, path)
				continue
			}
			if err := kinds[kind].make(path); err != nil {
				r.Fatalf("make %s: %v", kinds[kind].name, err)
			}
			first[kinds[kind].first]++
			again[kinds[kind].again]++
		}
		if err := os.MkdirAll(root, 0o700); err != nil {
			r.Fatal(err)
		}
		filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if !d.IsDir() {
				all[p] = true
			}
			return err
		})
		for i, want := range []map[string]int{first, again} {
			rep, err := m.Import(t.Context(), indexer.ImportOptions{Paths: []string{root, root}})
			if err != nil {
				r.Fatal(err)
			}
			got, total := outcomes(rep), 0
			for outcome, n := range got {
				total += n
				if n != want[outcome] {
					r.Errorf("import %d: %d are %s, want %d", i+1, n, outcome, want[outcome])
				}
			}
			if total != len(all) || rep.Files() != total {
				r.Errorf("import %d: %d outcomes, %d files seen, %d there", i+1, total, rep.Files(), len(all))
			}
			if rep.Parsed > 0 && i == 1 {
				r.Errorf("the second import read %d", rep.Parsed)
			}
			named := map[string]bool{}
			for _, f := range slices.Concat(rep.Skips, rep.Failures) {
				if named[f.Path] || !all[f.Path] || f.Reason == "" {
					r.Errorf("import %d: an outcome of %q: %q", i+1, f.Path, f.Reason)
				}
				named[f.Path] = true
			}
			for _, row := range rep.Sources {
				if total := row.New + row.Changed + row.Unchanged + row.Skipped + row.Failed; total != row.Files {
					r.Errorf("import %d: %d outcomes of %d files: %+v", i+1, total, row.Files, row)
				}
			}
		}
	})
}

// Each file that is passed over or fails says why in words of its own.
func TestReasons(t *testing.T) {
	m := newMachine(t)
	dir := filepath.Join(m.home, "given")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if err := k.make(filepath.Join(dir, strings.ReplaceAll(k.name, " ", "-"))); err != nil {
			t.Fatal(err)
		}
	}
	reasons := map[string]string{}
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{dir}})
	for _, f := range slices.Concat(rep.Skips, rep.Failures) {
		reasons[strings.Split(filepath.Base(f.Path), ".")[0]] = f.Reason
	}
	for name, want := range map[string]string{
		"cut-off":         "the compressed file is damaged: it is cut off",
		"empty":           "empty file",
		"prose":           "no known harness writes files like this",
		"nothing-said":    "no conversation in it",
		"a-pipe":          "not a regular file: a pipe",
		"a-socket":        "not a regular file: a socket",
		"a-dangling-link": "gone, or a link that leads nowhere",
		"a-circle":        "a link that leads in a circle",
		"a-link-back":     "a link to a folder, which is not followed here",
	} {
		if reasons[name] != want {
			t.Errorf("%s: %q, want %q", name, reasons[name], want)
		}
		delete(reasons, name)
	}
	if len(reasons) > 0 {
		t.Errorf("reasons for more: %v", reasons)
	}
}

// A file that may not be read, or whose folder may not, fails by name each time,
// and comes in once it may.
func TestForbidden(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	m := newMachine(t)
	m.write(t, codexFile, codex(codexID, "gondola"))
	file := m.write(t, claudeFile, claude(claudeID, "zeppelin"))
	for _, shut := range []string{file, filepath.Dir(file), filepath.Join(m.home, ".claude", "projects")} {
		info, err := os.Stat(shut)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(shut, 0); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			rep := m.imp(t, indexer.ImportOptions{})
			if len(rep.Failures) != 1 || rep.Failures[0] != (indexer.FileReason{Path: shut, Reason: "no permission to read it"}) {
				t.Errorf("failures %v, want of %s", rep.Failures, shut)
			}
		}
		if err := os.Chmod(shut, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	m.imp(t, indexer.ImportOptions{})
	if len(m.find(t, "zeppelin")) != 1 {
		t.Error("it does not come in when it may be read")
	}
}
