package indexer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"sessdex/harness"
)

// notifies says whether one notification for a folder tells of the files in it. The
// kqueue of the BSDs and macOS wants an open file for each of them.
var notifies = !slices.Contains([]string{"darwin", "ios", "freebsd", "netbsd", "openbsd", "dragonfly"}, runtime.GOOS)

// A watchRoot is what to watch: a harness's root, or a file or folder that a person
// gave.
type watchRoot struct {
	harness *harness.Harness // nil: given
	path    string
}

// A place is where a watched folder lies below a root.
type place struct {
	root *watchRoot
	rel  string // slash-separated, "" for the root itself
	only string // the one file that counts, where the root is a file
}

// tree watches folders and all folders below them. It belongs to one goroutine.
type tree struct {
	roots []watchRoot
	w     *fsnotify.Watcher  // nil: no notifications here
	skip  func(string) bool  // folders that hold nothing to import
	seen  map[string][]place // watched folders, by path without links
	short bool               // not every folder could be watched
}

func newTree(roots []watchRoot, skip func(dir string) bool) *tree {
	t := &tree{roots: roots, skip: skip, seen: map[string][]place{}}
	if notifies {
		t.w, _ = fsnotify.NewWatcher() // without one, Watch polls
	}
	return t
}

// grow watches the roots that are there now and were not before, and returns the
// files that came with them.
func (t *tree) grow() (files []string) {
	if t.w == nil {
		return nil
	}
	for i := range t.roots {
		root := &t.roots[i]
		real, err := filepath.EvalSymlinks(root.path)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			continue // not there today
		}
		if isFolder(real) {
			files = append(files, t.add(real, place{root: root})...)
		} else if (root.harness == nil || root.harness.Claims(".")) && t.watch(filepath.Dir(real), place{root: root, only: filepath.Base(real)}) {
			files = append(files, real)
		}
	}
	return files
}

// add watches a folder and those below it, and returns the files of the root that
// are in those which were not watched before.
func (t *tree) add(dir string, at place) (files []string) {
	if !t.watch(dir, at) {
		return nil
	}
	below := func(rel string) place { return place{root: at.root, rel: path.Join(at.rel, rel)} }
	w := harness.Walk{
		Follow: at.root.harness != nil,
		Enter:  func(p, rel string) bool { return !t.skip(p) && below(rel).enters() && t.watch(p, below(rel)) },
		File: func(p, rel string) {
			if below(path.Dir(rel)).holds(path.Base(rel)) {
				files = append(files, p)
			}
		},
	}
	w.Folder(dir)
	return files
}

// watch watches one folder, and reports whether it was not watched for this place.
func (t *tree) watch(dir string, at place) bool {
	if slices.Contains(t.seen[dir], at) {
		return false
	}
	if len(t.seen[dir]) == 0 {
		if err := t.w.Add(dir); err != nil {
			t.short = t.short || !errors.Is(err, fs.ErrNotExist)
			return false
		}
	}
	t.seen[dir] = append(t.seen[dir], at)
	return true
}

// holds reports whether a file of that name in this place is part of a session.
func (p place) holds(name string) bool {
	switch {
	case p.only != "":
		return name == p.only
	case p.root.harness == nil:
		return true
	}
	return p.root.harness.Claims(path.Join(p.rel, name))
}

// enters reports whether there may be a part of a session below this place.
func (p place) enters() bool {
	h := p.root.harness
	return h == nil || h.Enter == nil || h.Enter(p.rel)
}

// polling reports whether there are changes that no notification tells of.
func (t *tree) polling() bool { return t.w == nil || t.short }

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
func (t *tree) touched(ev fsnotify.Event) (files []string) {
	if ev.Has(fsnotify.Remove) || ev.Has(fsnotify.Rename) {
		t.forget(ev.Name)
		return nil
	}
	dir, name := filepath.Split(ev.Name)
	places := t.seen[filepath.Clean(dir)]
	if ev.Has(fsnotify.Create) && isFolder(ev.Name) {
		for _, at := range places {
			new := place{root: at.root, rel: path.Join(at.rel, name)}
			if real := t.enters(ev.Name, at); real != "" && !t.skip(real) && new.enters() {
				files = append(files, t.add(real, new)...)
			}
		}
		return files
	}
	if slices.ContainsFunc(places, func(p place) bool { return p.holds(name) }) {
		return []string{ev.Name}
	}
	return nil
}

// enters is the folder to watch for a new folder, or link to one, in a place; ""
// for none.
func (t *tree) enters(dir string, at place) string {
	info, err := os.Lstat(dir)
	if err != nil || at.only != "" {
		return ""
	}
	if info.IsDir() {
		return dir
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || at.root.harness == nil || len(t.seen[real]) > 0 {
		return ""
	}
	return real
}

// forget stops watching a folder that is gone, and those that were below it.
func (t *tree) forget(dir string) {
	for p := range t.seen {
		if p == dir || strings.HasPrefix(p, dir+string(filepath.Separator)) {
			delete(t.seen, p)
			_ = t.w.Remove(p) // it may be gone already
		}
	}
}

// again has the next grow look at every folder anew.
func (t *tree) again() {
	clear(t.seen)
}

func (t *tree) close() {
	if t.w != nil {
		t.w.Close()
	}
}
