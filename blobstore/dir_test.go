package blobstore_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sessdex/blobstore"
)

func putText(t testing.TB, s blobstore.Store, key, text string, cond blobstore.Cond) blobstore.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), cond)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func getText(t testing.TB, s blobstore.Store, key string) string {
	t.Helper()
	r, _, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func list(t testing.TB, s blobstore.Store, prefix string) []string {
	t.Helper()
	keys := []string{}
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other links and modes")
	}
}

func TestDirectoryIsPlainAndPrivate(t *testing.T) {
	needUnix(t)
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir)
	putText(t, s, "ws/cards/a.json", "{}", blobstore.IfAbsent())
	data, err := os.ReadFile(filepath.Join(dir, "ws", "cards", "a.json"))
	if err != nil || string(data) != "{}" {
		t.Errorf("the object's file holds %q, %v", data, err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v: others can use it", path, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestIsDir(t *testing.T) {
	dir := t.TempDir()
	if blobstore.IsDir(dir) {
		t.Error("an empty folder is taken for a store")
	}
	putText(t, openDir(t, dir), "a", "b", blobstore.IfAbsent())
	if !blobstore.IsDir(dir) {
		t.Error("a store with an object is not known again")
	}
}

func TestDirectoryStaysInside(t *testing.T) {
	needUnix(t)
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("not yours"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openDir(t, dir)
	putText(t, s, "real", "ours", blobstore.Cond{})
	for name, target := range map[string]string{"file": filepath.Join(outside, "secret"), "folder": outside, "inside": filepath.Join(dir, "real")} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"file", "folder/secret", "inside"} {
		if r, _, err := s.Get(t.Context(), key); err == nil {
			data, _ := io.ReadAll(r)
			t.Errorf("Get(%s) follows a link: %q", key, data)
		}
		if info, err := s.Stat(t.Context(), key); err == nil {
			t.Errorf("Stat(%s) follows a link: %+v", key, info)
		}
	}
	if _, err := s.Put(t.Context(), "folder/new", strings.NewReader("x"), 1, blobstore.Cond{}); err == nil {
		t.Error("Put below a link that leads out succeeds")
	}
	if err := s.Delete(t.Context(), "folder/secret"); err == nil {
		t.Error("Delete below a link that leads out succeeds")
	}
	if got := list(t, s, ""); fmt.Sprint(got) != "[real]" {
		t.Errorf("List yields %q, links among them", got)
	}
	if got := list(t, s, "folder/"); len(got) != 0 {
		t.Errorf("List below a link yields %q", got)
	}
	// An object takes a link's place and leaves its target alone.
	putText(t, s, "file", "ours now", blobstore.Cond{})
	if data, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(data) != "not yours" {
		t.Errorf("the file outside now holds %q, %v", data, err)
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder outside holds %v, %v", entries, err)
	}
}

func TestDirectoryLeftovers(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	putText(t, s, "k", "kept", blobstore.Cond{})
	tmp := filepath.Join(dir, "+sessdex", "tmp")
	old, young := filepath.Join(tmp, "OLD"), filepath.Join(tmp, "YOUNG")
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, []byte("half of an obj"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	again := openDir(t, dir)
	if got := list(t, again, ""); fmt.Sprint(got) != "[k]" {
		t.Errorf("List yields %q", got)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file of yesterday is still there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a temporary file that may be in use was removed: %v", err)
	}
}

// TestDirectoryLeavesNoTemporaryFiles checks every way in which a Put can fail.
func TestDirectoryLeavesNoTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	putText(t, s, "k", "x", blobstore.Cond{})
	for _, c := range []blobstore.Cond{blobstore.IfAbsent(), blobstore.IfVersion("other")} {
		s.Put(t.Context(), "k", strings.NewReader("y"), 1, c)
	}
	s.Put(t.Context(), "k", strings.NewReader("y"), 2, blobstore.Cond{})
	if _, err := s.Put(t.Context(), "k/below", strings.NewReader("y"), 1, blobstore.Cond{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Put below an object: %v, want fs.ErrInvalid", err)
	}
	putText(t, s, "f/x", "x", blobstore.Cond{})
	if _, err := s.Put(t.Context(), "f", strings.NewReader("y"), 1, blobstore.Cond{}); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("Put over a folder: %v, want fs.ErrInvalid", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "+sessdex", "tmp"))
	if err != nil || len(entries) != 0 {
		t.Errorf("temporary files are left: %v, %v", entries, err)
	}
}

// TestDirectoryForeignFiles covers what people do to plain files.
func TestDirectoryForeignFiles(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	one := putText(t, s, "edited", "by the program", blobstore.Cond{})
	putText(t, s, "cut", "a longer text", blobstore.Cond{})

	path := filepath.Join(dir, "edited")
	if err := os.WriteFile(path, []byte("by a person !!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := getText(t, s, "edited"); got != "by a person !!" {
		t.Errorf("an edited file reads %q", got)
	}
	if _, err := s.Put(t.Context(), "edited", strings.NewReader("x"), 1, blobstore.IfVersion(one.Version)); !errors.Is(err, blobstore.ErrLostRace) {
		t.Errorf("Put over an edit: %v, want ErrLostRace", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "copied"), []byte("from elsewhere"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := getText(t, s, "copied"); got != "from elsewhere" {
		t.Errorf("a copied file reads %q", got)
	}

	// Shorter, at the same time: not a person but a disk.
	path = filepath.Join(dir, "cut")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Truncate(path, 4), os.Chtimes(path, fi.ModTime(), fi.ModTime())); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Get(t.Context(), "cut"); !errors.Is(err, blobstore.ErrDamaged) {
		t.Errorf("Get of a truncated file: %v, want ErrDamaged", err)
	}
}

// TestDirectoryCopy moves a store as cp -a does: versions and checks survive.
func TestDirectoryCopy(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	s := openDir(t, from)
	was := putText(t, s, "a/b", "words", blobstore.Cond{})
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(filepath.Join(to, "a", "b"), was.Time, was.Time); err != nil {
		t.Fatal(err)
	}
	c := openDir(t, to)
	if now, err := c.Stat(t.Context(), "a/b"); err != nil || now.Version != was.Version {
		t.Errorf("the copy is version %q and was %q, %v", now.Version, was.Version, err)
	}
	flipByte(t, filepath.Join(to, "a", "b"))
	r, _, err := c.Get(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, blobstore.ErrDamaged) {
		t.Errorf("damage to the copy: %v, want ErrDamaged", err)
	}
}

// TestDirectoryVersionsGrow checks that a version never comes back, also where
// the clock was set back since the object was written.
func TestDirectoryVersionsGrow(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	putText(t, s, "k", "0", blobstore.Cond{})
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "k"), future, future); err != nil {
		t.Fatal(err)
	}
	last, err := s.Stat(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		now := putText(t, s, "k", fmt.Sprint(i%10), blobstore.IfVersion(last.Version))
		if now.Version == last.Version || !now.Time.After(last.Time) {
			t.Fatalf("write %d: version %s at %v after %s at %v", i, now.Version, now.Time, last.Version, last.Time)
		}
		if got := getText(t, s, "k"); got != fmt.Sprint(i%10) {
			t.Fatalf("write %d reads %q", i, got)
		}
		last = now
	}
}

// TestDirectoryGone: a folder that is away must not look like one that is empty.
func TestDirectoryGone(t *testing.T) {
	needUnix(t)
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir)
	putText(t, s, "k", "x", blobstore.Cond{})
	check := func(what string) {
		t.Helper()
		n := 0
		for _, err := range s.List(t.Context(), "") {
			if n++; !errors.Is(err, blobstore.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("List of a folder that was %s: %v, want ErrUnavailable", what, err)
			}
		}
		if n != 1 {
			t.Errorf("List of a folder that was %s yields %d times, want one error", what, n)
		}
		if err := blobstore.Ready(t.Context(), s, nil); !errors.Is(err, blobstore.ErrUnavailable) {
			t.Errorf("Ready with a folder that was %s: %v, want ErrUnavailable", what, err)
		}
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	check("moved")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	check("replaced")
}

// BenchmarkDirectoryList lists 100,000 cards of 40 bytes.
func BenchmarkDirectoryList(b *testing.B) {
	dir := b.TempDir()
	const n = 100_000
	if err := os.MkdirAll(filepath.Join(dir, "ws", "cards"), 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, "ws", "cards", fmt.Sprintf("%012d.json", i)), make([]byte, 40), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	s := openDir(b, dir)
	for b.Loop() {
		if got := len(list(b, s, "ws/cards/")); got != n {
			b.Fatalf("listed %d of %d", got, n)
		}
	}
}

// BenchmarkDirectoryPut writes cards of 4 KB, each made durable.
func BenchmarkDirectoryPut(b *testing.B) {
	s := openDir(b, b.TempDir())
	text := strings.Repeat("x", 4096)
	i := 0
	for b.Loop() {
		putText(b, s, fmt.Sprintf("ws/cards/%012d.json", i), text, blobstore.IfAbsent())
		i++
	}
}
