package harness

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sessdex/session"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// An example is where the goldens of a harness are. Of trees, an archive is a folder.
type example struct {
	harness *Harness
	dir     string
	trees   bool
}

var examples = []example{
	{ClaudeCode, "claude", false},
	{CodexCLI, "codex", false},
	{GeminiCLI, "gemini", false},
	{GrokBuild, "grok", true},
	{OpenCode, "opencode", false},
	{CopilotCLI, "copilot", true},
	{QwenCode, "qwen", false},
	{Pi, "pi", false},
	{Droid, "droid", false},
	{Amp, "amp", false},
	{CursorAgent, "cursor", false},
	{Unknown, "unknown", false},
}

func TestGoldens(t *testing.T) {
	for _, h := range All {
		if !slices.ContainsFunc(examples, func(e example) bool { return e.harness == h }) {
			t.Errorf("%s has no goldens", h.Name)
		}
	}
	for _, e := range examples {
		t.Run(e.harness.Name, func(t *testing.T) {
			if e.trees {
				goldenTrees(t, e.harness, e.dir)
			} else {
				golden(t, e.harness, e.dir)
			}
		})
	}
}

// golden parses the transcripts of every testdata/<dir>/*.txtar and compares what
// comes out with the archive's "want". The first lines of an archive say what it
// guards; a line "transform: bom crlf unterminated" changes the bytes that are parsed.
func golden(t *testing.T, h *Harness, dir string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no goldens in testdata/%s: %v", dir, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			checkGolden(t, name, func(ar *txtar.Archive, got *bytes.Buffer) {
				for _, f := range ar.Files {
					if f.Name == "want" {
						continue
					}
					meta, turns := parseFile(t, h, f.Name, transformed(string(ar.Comment), f.Data))
					fmt.Fprintf(got, "== %s\n", f.Name)
					render(got, meta, turns)
				}
			})
		})
	}
}

// goldenTrees is golden for harnesses whose sessions are several files, or whose
// files are several sessions: an archive is a folder, and "want" tells what each
// file in it leads to that is no part of another one.
func goldenTrees(t *testing.T, h *Harness, dir string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no goldens in testdata/%s: %v", dir, err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			checkGolden(t, name, func(ar *txtar.Archive, got *bytes.Buffer) {
				root := t.TempDir()
				files := map[string]string{}
				for _, f := range ar.Files {
					if f.Name != "want" {
						files[f.Name] = string(transformed(string(ar.Comment), f.Data))
					}
				}
				writeTree(t, root, files)
				renderTree(t, h, root, got)
			})
		})
	}
}

func renderTree(t *testing.T, h *Harness, root string, got *bytes.Buffer) {
	t.Helper()
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		srcs, carrier, err := Sources(path)
		if carrier != path {
			return nil
		}
		if err != nil {
			fmt.Fprintf(got, "== %s: %v\n", filepath.ToSlash(rel), err)
			return nil
		}
		for _, src := range srcs {
			fmt.Fprintf(got, "== %s", filepath.ToSlash(rel))
			if src.Part != "" {
				fmt.Fprintf(got, "#%s", src.Part)
			}
			if by, err := Identify(src); by != h {
				if by != nil {
					err = fmt.Errorf("of %s", by.Name)
				}
				fmt.Fprintf(got, ": %v\n", err)
				continue
			}
			got.WriteByte('\n')
			meta, turns := parseSource(t, h, src)
			render(got, meta, turns)
		}
		return nil
	})
}

// checkGolden compares what make writes for an archive with the archive's "want", or
// replaces that when the test runs with -update.
func checkGolden(t *testing.T, name string, make func(*txtar.Archive, *bytes.Buffer)) {
	t.Helper()
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	make(ar, &got)
	want := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
	if *update {
		if want < 0 {
			ar.Files = append(ar.Files, txtar.File{Name: "want"})
			want = len(ar.Files) - 1
		}
		ar.Files[want].Data = got.Bytes()
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want < 0 {
		t.Fatal("no want in the archive; run with -update and read what it writes")
	}
	if diff := cmp.Diff(string(ar.Files[want].Data), got.String()); diff != "" {
		t.Error(diff)
	}
}

func transformed(comment string, data []byte) []byte {
	_, how, _ := strings.Cut(comment, "transform:")
	how, _, _ = strings.Cut(how, "\n")
	for _, step := range strings.Fields(how) {
		switch step {
		case "bom":
			data = append([]byte("\xef\xbb\xbf"), data...)
		case "crlf":
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		case "unterminated":
			data = bytes.TrimRight(data, "\r\n")
		default:
			panic("unknown transform " + step)
		}
	}
	return data
}

// parseFile writes the bytes to a file of that name and reads it back as an import
// does: found, identified by its content, opened, parsed.
func parseFile(t *testing.T, h *Harness, name string, data []byte) (session.Meta, []session.Turn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	src, err := FileSource(path)
	if err != nil {
		t.Fatal(err)
	}
	if !h.Detect(newHead(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) {
		t.Errorf("%s is not taken for a file of %s", name, h.Name)
	}
	return parseSource(t, h, src)
}

func parseSource(t testing.TB, h *Harness, src Source) (session.Meta, []session.Turn) {
	t.Helper()
	r, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := h.New(src)
	for line, err := range Lines(r) {
		if err != nil {
			t.Fatal(err)
		}
		p.Line(line)
	}
	meta, turns := p.Finish()
	return meta, collectTwice(t, turns)
}

// collectTwice also holds parsers to their promise that turns can be ranged over again.
func collectTwice(t testing.TB, turns iter.Seq[session.Turn]) []session.Turn {
	t.Helper()
	first, second := slices.Collect(turns), slices.Collect(turns)
	if len(first) != len(second) {
		t.Errorf("ranging twice gave %d and %d turns", len(first), len(second))
	}
	return first
}

func render(w *bytes.Buffer, m session.Meta, turns []session.Turn) {
	line := func(key string, value any) {
		if s := fmt.Sprint(value); s != "" && s != "[]" && s != "false" && s != "0" {
			fmt.Fprintf(w, "%s: %s\n", key, s)
		}
	}
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Format(time.RFC3339)
	}
	line("native", m.NativeID)
	line("version", m.Version)
	line("opening", fmt.Sprintf("%q", m.Opening))
	line("title", strings.TrimSpace(fmt.Sprintf("%q %s", m.Title, m.TitleSource)))
	line("parent", m.Parent)
	line("forked from", m.ForkedFrom)
	line("sub-agent", m.Subagent)
	line("agent", m.Agent)
	line("start", stamp(m.Start))
	line("last active", stamp(m.LastActive))
	line("dirs", m.Dirs)
	line("repo", m.Repo)
	line("branches", m.Branches)
	line("commit", m.Commit)
	line("models", m.Models)
	line("prs", m.PRs)
	line("tags", m.Tags)
	counts := func(key string, c session.Counts) {
		fmt.Fprintf(w, "%s: %d user, %d assistant, %d tool, %d summary\n", key, c.User, c.Assistant, c.Tool, c.Summary)
	}
	counts("turns", m.Turns)
	if m.Inherited.Total() > 0 {
		counts("inherited", m.Inherited)
	}
	line("edits", touched(turns, func(t session.Turn) []string { return t.Edits }))
	line("reads", touched(turns, func(t session.Turn) []string { return t.Reads }))
	kinds := make([]string, 0, len(m.Unknown))
	for kind, n := range m.Unknown {
		kinds = append(kinds, fmt.Sprintf("%s×%d", kind, n))
	}
	sort.Strings(kinds)
	line("unknown", kinds)
	line("bad lines", m.BadLines)
	for _, t := range turns {
		fmt.Fprintf(w, "[%d] %s", t.N, t.Role)
		for _, s := range []string{t.Tool, t.Time.Format("15:04:05"), t.Branch, t.Ref} {
			if s != "" {
				fmt.Fprintf(w, " %s", s)
			}
		}
		if t.Failed {
			w.WriteString(" FAILED")
		}
		if t.Undone {
			w.WriteString(" UNDONE")
		}
		w.WriteByte('\n')
		part := func(mark, text string) {
			if text != "" {
				fmt.Fprintf(w, "  %s %s\n", mark, strings.ReplaceAll(text, "\n", "\n    "))
			}
		}
		part("~", t.Thinking)
		part("\"", t.Text)
		part("<", t.Input)
		part(">", t.Output)
	}
}

func touched(turns []session.Turn, of func(session.Turn) []string) []string {
	var all []string
	for _, t := range turns {
		all = append(all, of(t)...)
	}
	return session.Unique(all)
}

// goldenFiles are the transcripts in a harness's goldens.
func goldenFiles(t testing.TB, dir string) map[string][]byte {
	archives, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no goldens in testdata/%s: %v", dir, err)
	}
	files := map[string][]byte{}
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if f.Name != "want" {
				files[filepath.Base(name)+":"+f.Name] = f.Data
			}
		}
	}
	return files
}
