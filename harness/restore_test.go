package harness

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sessdex/session"
)

// A kept session is one of the goldens' as the library would keep it.
type kept struct {
	name  string
	meta  session.Meta
	turns []session.Turn
	doc   []byte
	path  string
}

// keptSessions reads every session of a harness's goldens.
func keptSessions(t *testing.T, h *Harness, dir string) []kept {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("no goldens in testdata/%s: %v", dir, err)
	}
	var all []kept
	for _, name := range archives {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		root := t.TempDir()
		files := map[string]string{}
		for _, f := range ar.Files {
			if f.Name != "want" {
				files[f.Name] = string(f.Data)
			}
		}
		writeTree(t, root, files)
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			srcs, carrier, err := Sources(path)
			if err != nil || carrier != path {
				return nil
			}
			for _, src := range srcs {
				if by, _ := Identify(src); by != h {
					continue
				}
				meta, turns := parseSource(t, h, src)
				if len(turns) == 0 || !PlainID(meta.NativeID) {
					continue // never stored, or never resumed
				}
				r, err := src.Open()
				if err != nil {
					t.Fatal(err)
				}
				doc, err := io.ReadAll(r)
				r.Close()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, kept{filepath.Base(name) + "/" + filepath.Base(path), meta, turns, doc, path})
			}
			return nil
		})
	}
	return all
}

func (k *kept) stored() Stored {
	dir := k.meta.Dir
	if dir == "" {
		dir = "/srv/somewhere"
	}
	return Stored{Meta: &k.meta, Path: k.path, Dir: dir, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(k.doc)), nil }}
}

// layOut makes the files of a layout, each of which must be new.
func layOut(t *testing.T, l Layout) {
	t.Helper()
	for _, f := range l.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(f.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(f.Write(out), out.Close()); err != nil {
			t.Fatalf("write %s: %v", f.Path, err)
		}
	}
}

// What is restored is found where the harness looks, is the same session, and is
// then there: asked again, nothing is to be done.
func TestRestoreBringsEverySessionBack(t *testing.T) {
	for _, c := range []struct {
		h      *Harness
		dir    string
		cannot int // sessions that today's version of the harness cannot go on with
	}{{ClaudeCode, "claude", 0}, {CodexCLI, "codex", 6}, {GeminiCLI, "gemini", 1}, {GrokBuild, "grok", 3}, {OpenCode, "opencode", 0}} {
		t.Run(c.dir, func(t *testing.T) {
			all, not := keptSessions(t, c.h, c.dir), 0
			for _, from := range []string{"its place", "nowhere"} {
				for _, k := range all {
					if from == "nowhere" {
						k.path = ""
					}
					if !restoreOne(t, c.h, k) {
						not++
					}
				}
			}
			if len(all) < 4 || not != 2*c.cannot {
				t.Errorf("of %d sessions, %d cannot be restored, want %d", len(all), not/2, c.cannot)
			}
		})
	}
}

func restoreOne(t *testing.T, h *Harness, k kept) bool {
	t.Helper()
	env := Env{Home: t.TempDir(), GOOS: "linux"}
	l, err := h.Restore(env, k.stored())
	if errors.Is(err, ErrUnresumable) {
		return false
	}
	if err != nil || l.Present != "" || len(l.Files) == 0 {
		t.Errorf("%s: %+v, %v", k.name, l, err)
		return true
	}
	if l.Run != nil { // a database takes it in: what it is given must be the session
		var doc bytes.Buffer
		if err := l.Files[0].Write(&doc); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
		file := filepath.Join(t.TempDir(), l.Files[0].Path)
		if err := os.WriteFile(file, doc.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := FileSource(file)
		if err != nil {
			t.Fatal(err)
		}
		sameSession(t, h, k, src)
		return true
	}
	for _, f := range l.Files {
		if rel, err := filepath.Rel(env.Home, f.Path); err != nil || !filepath.IsLocal(rel) {
			t.Errorf("%s: %s is outside of the home folder", k.name, f.Path)
		}
	}
	layOut(t, l)
	var found []Source
	Discover(h, env, func(s Source) { found = append(found, s) }, func(p Problem) { t.Errorf("%s: %v", k.name, p) })
	if len(found) != 1 {
		t.Errorf("%s: %d sessions are found after it was restored", k.name, len(found))
		return true
	}
	sameSession(t, h, k, found[0])
	again, err := h.Restore(env, k.stored())
	if err != nil || again.Present == "" || len(again.Files) != 0 {
		t.Errorf("%s: asked again: %+v, %v", k.name, again, err)
	}
	return true
}

func sameSession(t *testing.T, h *Harness, k kept, src Source) {
	t.Helper()
	meta, turns := parseSource(t, h, src)
	if meta.NativeID != k.meta.NativeID {
		t.Errorf("%s: it came back as %q, want %q", k.name, meta.NativeID, k.meta.NativeID)
	}
	if meta.Parent != k.meta.Parent && meta.Parent != "" { // Grok's is named in the parent's folder only; the card keeps it
		t.Errorf("%s: it came back as one of %q, want %q", k.name, meta.Parent, k.meta.Parent)
	}
	if diff := cmp.Diff(k.turns, turns); diff != "" {
		t.Errorf("%s: turns (-kept +restored):\n%s", k.name, diff)
	}
}

func TestClaudeSlug(t *testing.T) {
	long := "/opt/orchard/" + strings.Repeat("apple-", 40)
	for dir, want := range map[string]string{
		"/home/ann/shop":       "-home-ann-shop",
		`C:\Users\ann\my proj`: "C--Users-ann-my-proj",
		"/a/é_b.c/\U0001F600":  "-a---b-c---", // two UTF-16 units
		long:                   "-opt-orchard-" + strings.Repeat("apple-", 40)[:187] + "-" + longHash,
	} {
		if got := claudeSlug(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

// longHash is what Claude Code 2.1.332 ended that folder's project with.
const longHash = "b9xynt"

func TestRestoredPathsStayInside(t *testing.T) {
	for _, old := range []string{"/x/s-1/subagents/../../../../etc/cron.d/a.jsonl", `C:\x\subagents\..\..\a.jsonl`, "/x/subagents/-rf.jsonl", "/x/subagents/.hidden/..", "rollout-2026-01-01T00-00-00-../../x.jsonl"} {
		for _, h := range []*Harness{ClaudeCode, CodexCLI, GeminiCLI} {
			k := kept{
				meta: session.Meta{NativeID: "s-1", Subagent: true, Parent: "p-1"}, path: old,
				doc: []byte(`{"type":"session_meta","payload":{"id":"s-1"}}` + "\n"),
			}
			home := t.TempDir()
			l, err := h.Restore(Env{Home: home}, k.stored())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range l.Files {
				rel, err := filepath.Rel(home, f.Path)
				if err != nil || !filepath.IsLocal(rel) || slices.Contains(strings.Split(rel, string(filepath.Separator)), "etc") || strings.HasPrefix(filepath.Base(rel), "-") {
					t.Errorf("%s, read from %s, goes to %s", h.Name, old, rel)
				}
			}
		}
	}
}

func TestEscapeMentions(t *testing.T) {
	for in, want := range map[string]string{
		"@a.txt and @b.txt":      `\@a.txt and \@b.txt`,
		"see\n@/etc/hosts":       "see\n\\@/etc/hosts",
		"see\u00a0@x":            "see\u00a0\\@x",
		"ann@example.com, 3 @ 4": "ann@example.com, 3 @ 4",
		`(@x) "@y" a@b`:          `(@x) "@y" a@b`,
	} {
		if got := escapeMentions(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCodexArchivedIsUnarchived(t *testing.T) {
	home := t.TempDir()
	writeTree(t, home, map[string]string{".codex/archived_sessions/rollout-2026-01-01T00-00-00-s-1.jsonl": "{}\n"})
	k := kept{meta: session.Meta{NativeID: "s-1"}}
	l, err := codexRestore(Env{Home: home}, k.stored())
	if err != nil || l.Present == "" || l.Run == nil {
		t.Fatalf("%+v, %v", l, err)
	}
	if diff := cmp.Diff([]string{"codex", "unarchive", "s-1"}, l.Run("").Argv); diff != "" {
		t.Error(diff)
	}
}

func TestGeminiProject(t *testing.T) {
	home := t.TempDir()
	tmp := filepath.Join(home, "tmp")
	writeTree(t, home, map[string]string{
		"projects.json":          `{"projects":{"/srv/pier":"harbour","/srv/evil":"../../x"}}`,
		"tmp/quay/.project_root": "/srv/the quay\n",
		"tmp/dock/.project_root": "/elsewhere/dock",
	})
	for dir, want := range map[string]string{
		"/srv/pier":      "harbour",
		"/srv/the quay":  "quay",
		"/srv/dock":      "dock-1", // the name is another's
		"/srv/Ein Ölfaß": "ein-lfa",
		"/srv/evil":      "evil",
		"/":              "project",
	} {
		if got := geminiProject(tmp, dir, "linux"); got != filepath.Join(tmp, want) {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

func TestGrokGroupName(t *testing.T) {
	if got, want := grokGroupName("/home/ann/my shop~1"), "%2Fhome%2Fann%2Fmy%20shop~1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := grokGroupName("/" + strings.Repeat("ä/", 60)); len(got) > grokGroupMax || strings.ContainsAny(got, "/%") {
		t.Errorf("a long folder's group is %s", got)
	}
}
