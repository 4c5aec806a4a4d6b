package indexer

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"sessdex/harness"
)

// Timing of Watch: a burst of writes is imported once it pauses or has gone on
// for long enough, and everything is looked at again now and then, because
// notifications can be lost and folders can be on a disk that sends none.
const (
	watchPause  = 250 * time.Millisecond
	watchLatest = time.Second
	watchRescan = 30 * time.Second
	watchPoll   = 1500 * time.Millisecond // between looks where notifications cannot be had
)

// Watch imports what o asks for and goes on importing what changes until ctx
// ends. It watches folders, not files. done is told of every import that did
// something and of every error; it may be nil. Watch returns only ctx's error.
func (x *Indexer) Watch(ctx context.Context, o ImportOptions, done func(*Report, error)) error {
	look := func(o ImportOptions) {
		rep, err := x.Import(ctx, o)
		if done != nil && ctx.Err() == nil && (err != nil || rep.Parsed > 0 || rep.Synced > 0) {
			done(rep, err)
		}
	}
	tree := newTree(x.watched(o))
	defer tree.close()
	look(o)

	rescan := watchRescan
	if !tree.notified() {
		rescan = watchPoll
	}
	all := time.NewTicker(rescan)
	defer all.Stop()
	dirty := map[string]bool{}
	var first time.Time
	pause := time.NewTimer(time.Hour)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-all.C:
			tree.grow()
			look(o)
		case ev := <-tree.events():
			for _, p := range tree.touched(ev) {
				dirty[p] = true
			}
			if len(dirty) == 0 {
				continue
			}
			if first.IsZero() {
				first = time.Now()
			}
			pause.Reset(max(0, min(watchPause, watchLatest-time.Since(first))))
		case <-tree.errors():
			// Notifications were lost: look at everything.
			look(o)
		case <-pause.C:
			quick := o
			quick.quick = true
			quick.Paths = x.claimed(dirty, o)
			clear(dirty)
			first = time.Time{}
			if len(quick.Paths) > 0 {
				look(quick)
			}
		}
	}
}

// watched lists the folders to watch.
func (x *Indexer) watched(o ImportOptions) []string {
	if len(o.Paths) > 0 {
		return o.Paths
	}
	var roots []string
	for _, h := range harness.All {
		if len(o.Harnesses) == 0 || slices.Contains(o.Harnesses, h.Name) {
			roots = append(roots, h.Roots(x.Env)...)
		}
	}
	return roots
}

// claimed keeps the paths that are transcripts by some harness's layout, or that
// are below paths a person named.
func (x *Indexer) claimed(dirty map[string]bool, o ImportOptions) []string {
	var out []string
	for p := range dirty {
		if info, err := os.Stat(p); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(o.Paths) > 0 || x.claims(p, o) {
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

func (x *Indexer) claims(p string, o ImportOptions) bool {
	for _, h := range harness.All {
		if len(o.Harnesses) > 0 && !slices.Contains(o.Harnesses, h.Name) {
			continue
		}
		for _, root := range h.Roots(x.Env) {
			for _, r := range []string{root, resolved(root)} {
				rel, err := filepath.Rel(r, p)
				if err == nil && !strings.HasPrefix(rel, "..") && h.Claims(filepath.ToSlash(rel)) {
					return true
				}
			}
		}
	}
	return false
}

// tree watches folders and all folders below them.
type tree struct {
	roots []string
	w     *fsnotify.Watcher // nil: no notifications here
	seen  map[string]bool
}

func newTree(roots []string) *tree {
	t := &tree{roots: roots, seen: map[string]bool{}}
	t.w, _ = fsnotify.NewWatcher() // without one, Watch polls
	t.grow()
	return t
}

// grow adds the folders that are not watched yet, and above a root that is not
// there its nearest parent, so that its coming is noticed. It returns the new
// folders below roots.
func (t *tree) grow() (added []string) {
	if t.w == nil {
		return nil
	}
	for _, root := range t.roots {
		real := resolved(root)
		if _, err := os.Stat(real); err != nil {
			t.add(nearest(root))
			continue
		}
		filepath.WalkDir(real, func(p string, d fs.DirEntry, err error) error {
			if err == nil && (d.IsDir() || p == real) && t.add(p) {
				added = append(added, p)
			}
			return nil
		})
	}
	return added
}

// add watches one folder and reports whether it was not watched before.
func (t *tree) add(dir string) bool {
	if dir == "" || t.seen[dir] || t.w.Add(dir) != nil {
		return false
	}
	t.seen[dir] = true
	return true
}

// nearest is the closest folder above path that exists, two steps up at most:
// watching "/" for a home folder to come would be too much.
func nearest(path string) string {
	for range 2 {
		path = filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path
		}
	}
	return ""
}

func (t *tree) notified() bool { return t.w != nil && len(t.seen) > 0 }

func (t *tree) events() chan fsnotify.Event {
	if t.w == nil {
		return nil
	}
	return t.w.Events
}

func (t *tree) errors() chan error {
	if t.w == nil {
		return nil
	}
	return t.w.Errors
}

// touched lists the files that an event is about. A new folder is watched, and
// what is in it already counts as touched.
func (t *tree) touched(ev fsnotify.Event) []string {
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		delete(t.seen, ev.Name)
		return nil
	}
	if !ev.Has(fsnotify.Create) {
		return []string{ev.Name}
	}
	info, err := os.Stat(ev.Name)
	if err != nil || !info.IsDir() {
		return []string{ev.Name}
	}
	var files []string
	for _, dir := range t.grow() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // gone again
		}
		for _, e := range entries {
			if !e.IsDir() {
				files = append(files, filepath.Join(dir, e.Name()))
			}
		}
	}
	return files
}

func (t *tree) close() {
	if t.w != nil {
		t.w.Close()
	}
}
