package harness

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func discovered(h *Harness, env Env) (found []string, problems []Problem) {
	Discover(h, env, func(s Source) {
		rel, _ := filepath.Rel(env.Home, s.Path)
		found = append(found, filepath.ToSlash(rel))
	}, func(p Problem) { problems = append(problems, p) })
	sort.Strings(found)
	return found, problems
}

func TestDiscover(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, home, map[string]string{
		".claude/projects/-shop/a.jsonl":                       "{}",
		".claude/projects/-shop/a/subagents/agent-1.jsonl":     "{}",
		".claude/projects/-shop/a/tool-results/r.txt":          "x",
		".claude/projects/-shop/sessions-index.json":           "{}",
		".claude/history.jsonl":                                "{}",
		"elsewhere/linked.jsonl":                               "{}",
		".claude/projects/-shop/deeper/and/deeper/still.jsonl": "{}",
	})
	links := map[string]string{
		".claude/projects/-shop/linked.jsonl": "elsewhere/linked.jsonl",
		".claude/projects/-shop/gone.jsonl":   "elsewhere/gone.jsonl",
		".config/claude":                      ".claude", // the same root by another name
	}
	for name, target := range links {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(home, target), path); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	found, problems := discovered(ClaudeCode, Env{Home: home})
	want := []string{
		".claude/projects/-shop/a.jsonl",
		".claude/projects/-shop/a/subagents/agent-1.jsonl",
		".claude/projects/-shop/linked.jsonl",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	reasons := map[string]error{}
	for _, p := range problems {
		reasons[filepath.Base(p.Path)] = p
		if p.Harness != "claude-code" || !strings.Contains(p.Error(), p.Path) {
			t.Errorf("problem %v", p)
		}
	}
	if len(reasons) != 1 || !errors.Is(reasons["gone.jsonl"], fs.ErrNotExist) {
		t.Errorf("problems %v", problems)
	}
}

func TestDiscoverNothing(t *testing.T) {
	found, problems := discovered(ClaudeCode, Env{Home: t.TempDir()})
	if len(found)+len(problems) != 0 {
		t.Errorf("found %v, problems %v on a machine without sessions", found, problems)
	}
}

func TestFileSource(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"s.jsonl": "{}\n"})
	src, err := FileSource(filepath.Join(dir, "s.jsonl"))
	if err != nil || src.Size != 3 || src.Harness != nil || !filepath.IsAbs(src.Path) {
		t.Fatalf("%+v, %v", src, err)
	}
	writeTree(t, dir, map[string]string{"s.jsonl": "{}\n{}\n"})
	if again, err := FileSource(src.Path); err != nil || again.Stamp == src.Stamp {
		t.Errorf("stamp %q did not change: %v", again.Stamp, err)
	}
	if _, err := FileSource(dir); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := FileSource(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing: %v", err)
	}
}

func TestOpenTranscript(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	squeezed := string(enc.EncodeAll([]byte("hello"), nil))
	for _, c := range []struct{ name, data, want string }{
		{"plain", "hello", "hello"},
		{"short", "hi", "hi"},
		{"empty", "", ""},
		{"bom", "\xef\xbb\xbfhello", "hello"},
		{"only bom", "\xef\xbb\xbf", ""},
		{"zstd", squeezed, "hello"},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := openTranscript(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("%s: close: %v", c.name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(squeezed[:len(squeezed)-3]), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := openTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err == nil {
		t.Errorf("a cut zstd file reads as %q without an error", got)
	}
}

func TestEnvList(t *testing.T) {
	env := func(value string) Env {
		return Env{Home: "/home/ann", Getenv: func(string) string { return value }}
	}
	for value, want := range map[string][]string{
		"":                nil,
		" , ":             nil,
		"/a":              {"/a"},
		"/a, ~/b ,~,/c d": {"/a", "/home/ann/b", "/home/ann", "/c d"},
		"~bo/x":           {"~bo/x"},
	} {
		if diff := cmp.Diff(want, envList(env(value), "X", ",")); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
	if got := envList(Env{Home: "/h"}, "X", ","); got != nil {
		t.Errorf("without variables: %v", got)
	}
}

func TestNewHead(t *testing.T) {
	h := newHead([]byte("\n{\"a\":1}{\"b\":2}\nnot json\n{\"c\":"))
	if len(h.Records) != 2 || !h.Whole || h.Doc.Get("a").Int() != 1 {
		t.Errorf("%+v", h)
	}
	h = newHead([]byte(" [\n {\"a\": 1}\n]"))
	if len(h.Records) != 1 || h.Doc.Get("0.a").Int() != 1 {
		t.Errorf("array: %+v", h)
	}
	h = newHead(bytes.Repeat([]byte("{}\n"), HeadBytes/3+1))
	if h.Whole || len(h.Records) != headLines {
		t.Errorf("long file: whole %v, %d records", h.Whole, len(h.Records))
	}
	if h = newHead(nil); !h.Whole || h.Doc.Exists() || len(h.Records) != 0 {
		t.Errorf("empty: %+v", h)
	}
}

// A compressed file that expands without end is given up early, whatever it holds.
func TestCompressedFileHasLimits(t *testing.T) {
	var bomb bytes.Buffer
	enc, err := zstd.NewWriter(&bomb)
	if err != nil {
		t.Fatal(err)
	}
	for range 512 {
		enc.Write(make([]byte, 1<<20))
	}
	enc.Close()
	path := filepath.Join(t.TempDir(), "bomb.zst")
	if err := os.WriteFile(path, bomb.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openTranscript(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if !errors.Is(err, ErrTooLarge) || n > 32<<20 {
		t.Errorf("read %d bytes of a %d-byte file: %v", n, bomb.Len(), err)
	}
}

// Linked folders are looked into, each folder once, and no circle is gone round.
func TestDiscoverFollowsLinkedFolders(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, home, map[string]string{
		".claude/projects/-shop/a.jsonl": "{}",
		"disk/-mill/b.jsonl":             "{}",
		"disk/-mill/c.jsonl":             "{}",
	})
	for name, target := range map[string]string{
		".claude/projects/-mill":         "disk/-mill",
		".claude/projects/-mill-again":   "disk/-mill",
		".claude/projects/-shop-too":     ".claude/projects/-shop",
		".claude/projects/-shop/up":      ".claude/projects",
		".claude/projects/-everything":   "",
		"disk/-mill/and-back-to-the-top": ".claude",
		"disk/-mill/self":                "disk/-mill/self",
	} {
		if err := os.Symlink(filepath.Join(home, target), filepath.Join(home, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	found, problems := discovered(ClaudeCode, Env{Home: home})
	want := []string{".claude/projects/-shop/a.jsonl", "disk/-mill/b.jsonl", "disk/-mill/c.jsonl"}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 0 {
		t.Errorf("problems %v", problems)
	}
}

// Discovery names the roots it looked for, and what stands in one's place.
func TestDiscoverRoots(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, home, map[string]string{
		"there/a/x.jsonl": "{}",
		"file":            "no folder",
	})
	if err := os.Symlink(filepath.Join(home, "there"), filepath.Join(home, "alias")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := os.Symlink(filepath.Join(home, "nowhere"), filepath.Join(home, "dangling")); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, name) }
	h := &Harness{
		Name: "made-up",
		Roots: func(Env) []string {
			return []string{at("alias"), at("there"), at("absent"), at("file"), at("file/below"), at("dangling")}
		},
		Claims: func(rel string) bool { return rel == "a/x.jsonl" },
	}
	var found []string
	reasons := map[string]error{}
	roots := Discover(h, Env{Home: home}, func(s Source) { found = append(found, s.Root+" "+s.Path) }, func(p Problem) { reasons[p.Root] = p.Err })
	want := []Root{{at("alias"), true}, {at("absent"), false}, {at("file"), true}, {at("file/below"), false}, {at("dangling"), true}}
	if diff := cmp.Diff(want, roots); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{at("alias") + " " + at("there/a/x.jsonl")}, found); diff != "" {
		t.Error(diff)
	}
	if len(reasons) != 2 || !errors.Is(reasons[at("file")], ErrNotFolder) || !errors.Is(reasons[at("dangling")], fs.ErrNotExist) {
		t.Errorf("problems %v", reasons)
	}
}

// A root may be a relative path; what is found there has an absolute one.
func TestDiscoverRelativeRoot(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, home, map[string]string{"here/x.jsonl": "{}"})
	t.Chdir(home)
	h := &Harness{Name: "made-up", Roots: func(Env) []string { return []string{"here"} }, Claims: func(string) bool { return true }}
	var found []string
	Discover(h, Env{}, func(s Source) { found = append(found, s.Path) }, func(p Problem) { t.Error(p) })
	if diff := cmp.Diff([]string{filepath.Join(home, "here", "x.jsonl")}, found); diff != "" {
		t.Error(diff)
	}
}
