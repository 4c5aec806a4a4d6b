package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// childEnv makes the test binary a process that uses an index; see TestProcesses.
const childEnv = "SESSDEX_SEARCH_CHILD"

func TestMain(m *testing.M) {
	if role := os.Getenv(childEnv); role != "" {
		if err := child(role, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, role+":", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	childSessions = 40
	childSearches = 60
)

func child(role, dir string) error {
	ctx := context.Background()
	x := Open(dir)
	if role == "write" {
		w := x.Writer()
		for i := range childSessions {
			if err := errors.Join(w.Put(ctx, talk(fmt.Sprintf("w%02d", i), nil, "u: written words", "a: by a process")), w.Flush(ctx)); err != nil {
				return err
			}
		}
		return w.Close(ctx)
	}
	for range childSearches {
		r, err := x.Search(ctx, Query{Text: "written words", Limit: 100})
		if err != nil {
			return err
		}
		for _, h := range r.Hits {
			if turns, err := x.Turns(ctx, h.ID, 1, 2); err != nil || len(turns) != 2 {
				return fmt.Errorf("%d turns of %s: %w", len(turns), h.ID, err)
			}
			break
		}
	}
	return nil
}

// Agents' windows are processes: several read while one writes, and none fails.
func TestProcesses(t *testing.T) {
	x := newIndex(t, talk("first", nil, "u: written words", "a: before"))
	x.Close()
	var wg sync.WaitGroup
	for _, role := range []string{"read", "read", "read", "write"} {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], x.root)
			cmd.Env = append(os.Environ(), childEnv+"="+role)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", role, err, out)
			}
		})
	}
	wg.Wait()
	if r := ask(t, x, Query{Text: "written words"}); r.Total != childSessions+1 {
		t.Errorf("%d sessions, want %d", r.Total, childSessions+1)
	}
}

func TestMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "no", "such")
	x := Open(dir)
	if _, err := x.Search(t.Context(), Query{}); !errors.Is(err, ErrMissing) {
		t.Errorf("search: %v", err)
	}
	if _, err := x.Status(t.Context()); !errors.Is(err, ErrMissing) {
		t.Errorf("status: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("reading made the directory")
	}
	w := x.Writer()
	if err := w.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a writer of nothing made the directory")
	}
}

func TestForeign(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := Open(dir)
	_, err := x.Search(t.Context(), Query{})
	w := x.Writer()
	err2 := errors.Join(w.Put(t.Context(), talk("a", nil, "u: x")), w.Close(t.Context()))
	err3 := x.Rebuild(t.Context(), func(*Writer) error { return nil })
	for _, err := range []error{err, err2, err3} {
		if !errors.Is(err, ErrForeign) {
			t.Errorf("%v", err)
		}
	}
	entries, _ := os.ReadDir(dir)
	if b, _ := os.ReadFile(precious); string(b) != "years of work" || len(entries) != 1 {
		t.Errorf("the directory was touched: %v", entries)
	}
}

// Whatever is wrong with the files, the index says that it is damaged, a rebuild
// replaces it, and the damaged one is set aside.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, gen string) error{
		"no mark": func(_ *testing.T, g string) error { return os.Remove(filepath.Join(g, readyName)) },
		"no root": func(_ *testing.T, g string) error { return os.Remove(filepath.Join(g, "turns/store/root.bolt")) },
		"empty root": func(_ *testing.T, g string) error {
			return os.Truncate(filepath.Join(g, "sessions/store/root.bolt"), 0)
		},
		"torn root": func(_ *testing.T, g string) error {
			return os.Truncate(filepath.Join(g, "sessions/store/root.bolt"), 5000)
		},
		"no meta":       func(_ *testing.T, g string) error { return os.Remove(filepath.Join(g, "turns/index_meta.json")) },
		"no generation": func(_ *testing.T, g string) error { return os.RemoveAll(g) },
		"no segments":   func(t *testing.T, g string) error { return eachSegment(t, g, os.Remove) },
		"short segments": func(t *testing.T, g string) error {
			return eachSegment(t, g, func(p string) error { return os.Truncate(p, 100) })
		},
		"bad current": func(_ *testing.T, g string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(g), currentName), []byte("../../etc\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newIndex(t, talk("a", nil, "u: precious words"))
			x.Close()
			gen, err := x.current()
			if err != nil {
				t.Fatal(err)
			}
			if err := damage(t, gen); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Search(t.Context(), Query{Text: "precious"}); !errors.Is(err, ErrDamaged) {
				t.Errorf("search: %v", err)
			}
			if _, err := x.Status(t.Context()); !errors.Is(err, ErrDamaged) {
				t.Errorf("status: %v", err)
			}
			if err := x.Rebuild(t.Context(), func(w *Writer) error {
				return w.Put(t.Context(), talk("a", nil, "u: precious words"))
			}); err != nil {
				t.Fatal(err)
			}
			if r := ask(t, x, Query{Text: "precious"}); ids(r) != "a" {
				t.Errorf("after the rebuild: %q", ids(r))
			}
		})
	}
}

// A flipped bit that is only met when a question is answered is damage as well.
// Flipped here are bytes of what the segments store of their first documents:
// others make Bleve reserve any amount of memory.
func TestFlippedBits(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: precious words"))
	x.Close()
	gen, err := x.current()
	if err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, part := range []string{sessionsName, turnsName} {
		paths, err := filepath.Glob(filepath.Join(gen, part, "store/*.zap"))
		if err != nil || len(paths) != 1 {
			t.Fatal(paths, err)
		}
		whole, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		for i := range 24 {
			flipped := slices.Clone(whole)
			flipped[i] ^= 0x41
			if err := os.WriteFile(paths[0], flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			y := Open(x.root, Linger(0))
			_, err := y.Search(t.Context(), Query{Text: "precious"})
			_, err2 := y.Turns(t.Context(), "a", 1, 1)
			for _, err := range []error{err, err2} {
				if err == nil || errors.Is(err, ErrBusy) {
					continue // a place of no turn looks like a session that is being rewritten
				}
				if met++; !errors.Is(err, ErrDamaged) {
					t.Errorf("%s, byte %d: %v", part, i, err)
				}
			}
		}
		if err := os.WriteFile(paths[0], whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if met == 0 {
		t.Error("no damage was met")
	}
}

func TestWhatIsDamage(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("error loading roaring bitmap"), true},
		{ErrDamaged, true},
		{ErrBusy, false},
		{context.Canceled, false},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), false},
		{&os.PathError{Op: "read", Path: "x", Err: os.ErrPermission}, false},
	} {
		err := damaged(c.err)
		if errors.Is(err, ErrDamaged) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v becomes %v", c.err, err)
		}
	}
}

func eachSegment(t *testing.T, gen string, f func(string) error) error {
	paths, err := filepath.Glob(filepath.Join(gen, "turns/store/*.zap"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no segments: %v", err)
	}
	for _, p := range paths {
		err = errors.Join(err, f(p))
	}
	return err
}

func TestBusy(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: x"))
	l, err := x.write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hasty := Open(x.root, Wait(20*time.Millisecond, 20*time.Millisecond))
	if _, err := hasty.Search(t.Context(), Query{}); !errors.Is(err, ErrBusy) {
		t.Errorf("search: %v", err)
	}
	w := hasty.Writer()
	if err := errors.Join(w.Put(t.Context(), talk("b", nil, "u: y")), w.Close(t.Context())); !errors.Is(err, ErrBusy) {
		t.Errorf("write: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := x.Search(ctx, Query{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled search: %v", err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	ask(t, x, Query{})
}

// A reader that lingers makes way for a writer, in this process and in another.
func TestLingeringReaderMakesWay(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: x"))
	x.linger = time.Hour
	ask(t, x, Query{})
	putAll(t, x, talk("b", nil, "u: x"))
	if r := ask(t, x, Query{}); r.Total != 2 {
		t.Errorf("%d sessions", r.Total)
	}
	other := Open(x.root, Linger(0)) // locks are of open files: it could be a process
	putAll(t, other, talk("c", nil, "u: x"))
	if r := ask(t, x, Query{}); r.Total != 3 {
		t.Errorf("%d sessions", r.Total)
	}
}

func TestRebuild(t *testing.T) {
	x := newIndex(t, talk("old", nil, "u: words"))
	old, _ := x.current()
	boom := errors.New("boom")
	if err := x.Rebuild(t.Context(), func(w *Writer) error {
		return errors.Join(w.Put(t.Context(), talk("half", nil, "u: words")), w.Flush(t.Context()), boom)
	}); !errors.Is(err, boom) {
		t.Fatalf("%v", err)
	}
	if r := ask(t, x, Query{Text: "words"}); ids(r) != "old" {
		t.Errorf("after a failed rebuild: %q", ids(r))
	}
	// A reader that has the old one open goes on reading it while the new one takes over.
	err := x.View(t.Context(), func(v *View) error {
		done := make(chan error)
		go func() {
			done <- x.Rebuild(t.Context(), func(w *Writer) error {
				if r := ask(t, x, Query{Text: "words"}); ids(r) != "old" {
					t.Errorf("during the rebuild: %q", ids(r))
				}
				return w.Put(t.Context(), talk("new", nil, "u: words"))
			})
		}()
		for now := old; now == old; now, _ = x.current() {
			time.Sleep(time.Millisecond)
		}
		r, err := v.Search(t.Context(), Query{Text: "words"})
		if ids(r) != "old" {
			t.Errorf("in the view: %q", ids(r))
		}
		go func() { done <- <-done }()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := ask(t, x, Query{Text: "words"}); ids(r) != "new" {
		t.Errorf("after the rebuild: %q", ids(r))
	}
	if err := x.Rebuild(t.Context(), func(w *Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	x.Close()
	if r := ask(t, x, Query{}); r.Total != 0 {
		t.Errorf("an empty index has %d", r.Total)
	}
	gens, _ := filepath.Glob(filepath.Join(x.dir, "*-*"))
	if len(gens) > 1 {
		t.Errorf("left behind: %v", gens)
	}
}

// A writer that waited for a generation which a rebuild then replaced, and
// removed or not, writes into the new one.
func TestWriterFollowsTheRebuild(t *testing.T) {
	for _, removed := range []bool{true, false} {
		x := newIndex(t, talk("old", nil, "u: x"))
		l, err := x.write(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		next, err := x.newGeneration()
		if err == nil {
			err = next.finish()
		}
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			w := Open(x.root).Writer()
			done <- errors.Join(w.Put(t.Context(), talk("new", nil, "u: x")), w.Close(t.Context()))
		}()
		for !writerWaits(l.dir) {
			time.Sleep(time.Millisecond)
		}
		err = x.setCurrent(next.dir, false)
		if removed {
			err = errors.Join(err, os.Rename(l.dir, filepath.Join(x.dir, "gone-"+filepath.Base(l.dir))))
		}
		if err := errors.Join(err, l.close(), <-done); err != nil {
			t.Fatalf("removed %v: %v", removed, err)
		}
		if r := ask(t, x, Query{}); ids(r) != "new" {
			t.Errorf("removed %v: the new generation holds %q", removed, ids(r))
		}
	}
}

// What a rebuild that died left behind goes with the next one; what one is
// building stays.
func TestDeadRebuild(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: x"))
	dead, err := x.newGeneration()
	if err != nil {
		t.Fatal(err)
	}
	live, err := x.newGeneration()
	if err != nil {
		t.Fatal(err)
	}
	defer live.close()
	if err := dead.close(); err != nil {
		t.Fatal(err)
	}
	longAgo := time.Now().Add(-time.Hour)
	for _, l := range []*lease{dead, live} {
		if err := os.Chtimes(l.dir, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Rebuild(t.Context(), func(*Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead.dir); err == nil {
		t.Error("the dead rebuild is still there")
	}
	if _, err := os.Stat(live.dir); err != nil {
		t.Error("the live rebuild is gone")
	}
}

// Sessions in any order and in batches of any size give the same answers.
func TestOrderDoesNotMatter(t *testing.T) {
	docs := battery()
	a := newIndex(t, docs...)
	slices.Reverse(docs)
	b := Open(t.TempDir() + "/index")
	for _, d := range docs {
		putAll(t, b, d)
	}
	for _, q := range []string{"", "zebra", "what is it", "file changes", "ok"} {
		if d := cmp.Diff(ids(ask(t, a, Query{Text: q})), ids(ask(t, b, Query{Text: q}))); d != "" {
			t.Errorf("%q: %s", q, d)
		}
	}
}
