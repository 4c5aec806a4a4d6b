package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func noLimit(string) int64 { return 0 }

type memFile struct {
	bytes.Buffer
	closed bool
}

func (f *memFile) Close() error { f.closed = true; return nil }

// splitAll takes a document apart into memory.
func splitAll(doc io.Reader, allowed ...string) (map[string]string, error) {
	files := map[string]*memFile{}
	err := SplitParts(doc, allowed, func(name string) (io.WriteCloser, error) {
		files[name] = &memFile{}
		return files[name], nil
	})
	out := map[string]string{}
	for name, f := range files {
		if !f.closed {
			return nil, fmt.Errorf("%s was not closed", name)
		}
		out[name] = f.String()
	}
	return out, err
}

// What goes into the document comes out of it, whatever lines the files hold; only a
// missing last newline is added.
func TestPartsRoundTrip(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a.jsonl", "b.jsonl", "c.json"}
	line := rapid.OneOf(
		rapid.SampledFrom([]string{"", "{}", partPrefix + `{"name":"c.json"}}`, strings.TrimSpace(string(partHead{Harness: "h", Name: "b.jsonl"}.line())),
			strings.Repeat("x", 70<<10), partPrefix}),
		rapid.StringMatching(`[a-z{}"\r ]{0,12}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]string{}
		for _, name := range names {
			os.Remove(filepath.Join(dir, name))
			if !rapid.Bool().Draw(t, "present") {
				continue
			}
			text := strings.Join(rapid.SliceOfN(line, 0, 5).Draw(t, "lines"), "\n")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if text != "" && !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			want[name] = text
		}
		parts := partsOf(dir, names, noLimit)
		src := partsSource(partHead{Harness: "h"}, dir, "a.jsonl", parts)
		r, err := src.Open()
		if len(want) == 0 {
			if err == nil {
				t.Fatal("a session of no files was opened")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var doc io.Reader = r
		if rapid.Bool().Draw(t, "byte by byte") {
			doc = iotest.OneByteReader(r)
		}
		got, err := splitAll(doc, names...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestSplitPartsRefuses(t *testing.T) {
	head := func(name string) string { return string(partHead{Harness: "h", Name: name}.line()) }
	for _, c := range []struct{ name, doc string }{
		{"nothing", ""},
		{"no header", "{}\n"},
		{"text before the first header", "{}\n" + head("a.json")},
		{"a file that does not belong", head("a.json") + head("auth.json")},
		{"a path", head("../a.json")},
		{"an allowed path", head("x/a.json")},
		{"a Windows path", head(`x\a.json`)},
		{"a name twice", head("a.json") + head("a.json")},
	} {
		if _, err := splitAll(strings.NewReader(c.doc), "a.json", "x/a.json", `x\a.json`); !errors.Is(err, ErrNotParts) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	full := errors.New("disk full")
	err := SplitParts(strings.NewReader(head("a.json")), []string{"a.json"}, func(string) (io.WriteCloser, error) { return nil, full })
	if !errors.Is(err, full) {
		t.Errorf("an error of create: %v", err)
	}
}

// Files that are too large for what they are, links and folders are no parts; a
// byte order mark stays out of the middle of the document.
func TestPartsOf(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{
		"a.jsonl":     "\xef\xbb\xbf{\"n\":1}",
		"b.json":      "{\"big\":true}",
		"folder/c":    "{}",
		"secret.json": "{}",
	})
	if err := os.Symlink(filepath.Join(dir, "secret.json"), filepath.Join(dir, "link.json")); err != nil {
		t.Skip("no links here: ", err)
	}
	names := []string{"b.json", "a.jsonl", "folder", "link.json", "gone.json"}
	parts := partsOf(dir, names, func(name string) int64 { return map[string]int64{"b.json": 4}[name] })
	r, err := openParts(partHead{Harness: "h"}, dir, parts)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	doc, err := io.ReadAll(r)
	if want := string(partHead{Harness: "h", Name: "a.jsonl"}.line()) + "{\"n\":1}\n"; string(doc) != want || err != nil {
		t.Errorf("got %q, %v", doc, err)
	}
}

// The stamp follows every part, and the document outlives a part that goes away.
func TestPartsSource(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"a": "{}\n", "b": "{}\n"})
	names := []string{"a", "b"}
	before := partsSource(partHead{Harness: "h"}, dir, "a", partsOf(dir, names, noLimit))
	if before.Size != 6 || before.Path != filepath.Join(dir, "a") {
		t.Errorf("%d bytes at %s", before.Size, before.Path)
	}
	writeTree(t, dir, map[string]string{"b": "{}\n{}\n"})
	if after := partsSource(partHead{Harness: "h"}, dir, "a", partsOf(dir, names, noLimit)); after.Stamp == before.Stamp {
		t.Error("the stamp did not change with the second part")
	}
	os.Remove(filepath.Join(dir, "a"))
	r, err := before.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files, err := splitAll(r, names...)
	if diff := cmp.Diff(map[string]string{"b": "{}\n{}\n"}, files); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
}

func FuzzSplitParts(f *testing.F) {
	f.Add([]byte(string(partHead{Harness: "h", Name: "a.json"}.line()) + "{}\n" + string(partHead{Harness: "h", Name: "b.json"}.line())))
	f.Add([]byte(partPrefix + `{"name":"../../etc/passwd"}}` + "\nroot"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		files, _ := splitAll(bytes.NewReader(doc), "a.json", "b.json")
		for name := range files {
			if name != "a.json" && name != "b.json" {
				t.Fatalf("made %q", name)
			}
		}
	})
}
