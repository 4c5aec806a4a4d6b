package indexer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sessdex/harness"
	"sessdex/library"
)

// What becomes of files that are no transcripts of their own.
var (
	errEmpty  = errors.New("empty file")
	errPart   = errors.New("part of a session that is counted at another file")
	errOwn    = errors.New("a folder that Sessdex keeps")
	errOthers = errors.New("a session of a harness that was not asked for")
)

// collector gathers what an import is about. Each path comes to it once: as sources
// to be read, or with the reason why there is nothing to read.
type collector struct {
	x     *Indexer
	o     ImportOptions
	rep   *Report
	asked map[string]bool // files that a person named, absolute
	told  map[string]bool // what has its outcome
	found []harness.Source
	walk  harness.Walk
}

// collect lists the sources to import by key, accounts for what is none, and says
// which files a person named one by one.
func (x *Indexer) collect(o ImportOptions, rep *Report) (found []harness.Source, asked map[string]bool) {
	c := &collector{x: x, o: o, rep: rep, asked: map[string]bool{}, told: map[string]bool{}}
	if len(o.Paths) > 0 {
		c.paths(o.Paths)
	} else {
		c.discover()
	}
	slices.SortStableFunc(c.found, func(a, b harness.Source) int { return strings.Compare(a.Key(), b.Key()) })
	return slices.CompactFunc(c.found, func(a, b harness.Source) bool { return a.Key() == b.Key() }), c.asked
}

// discover looks into every root of every harness.
func (c *collector) discover() {
	for _, h := range harness.All {
		if len(c.o.Harnesses) > 0 && !slices.Contains(c.o.Harnesses, h.Name) {
			continue
		}
		roots := harness.Discover(h, c.x.Env, c.take, func(p harness.Problem) { c.problem(p.Harness, p.Root, p.Path, p.Err) })
		for _, r := range roots {
			if r.Found {
				c.rep.source(h.Name, r.Path)
			} else {
				c.rep.Absent = append(c.rep.Absent, AbsentRoot{h.Name, r.Path})
			}
		}
	}
}

func (c *collector) take(src harness.Source) { c.found = append(c.found, src) }

// problem accounts for a path that could not be taken, once.
func (c *collector) problem(harness, root, path string, err error) {
	if c.told[path] {
		return
	}
	c.told[path] = true
	row := c.rep.source(harness, root)
	row.Files++
	c.rep.refuse(row, path, err, c.asked[path])
}

// paths takes the files that a person named, and those below the named folders.
func (c *collector) paths(paths []string) {
	named := make([]string, len(paths))
	for i, p := range paths {
		named[i] = p
		if abs, err := filepath.Abs(p); err == nil {
			named[i] = abs
		}
		if !c.o.quick && !isFolder(named[i]) {
			c.asked[named[i]] = true
		}
	}
	ours := c.x.ours()
	c.walk.Enter = func(dir, _ string) bool {
		if ours(dir) {
			c.problem(nobody, dir, dir, errOwn)
			return false
		}
		return true
	}
	for i, root := range paths {
		c.walk.File = func(p, _ string) { c.file(root, p, c.asked[p]) }
		c.walk.Failed = func(p string, err error) { c.problem(nobody, root, p, err) }
		if !isFolder(named[i]) {
			c.file(root, named[i], true)
			continue
		}
		real, err := filepath.EvalSymlinks(named[i])
		if err != nil {
			c.problem(nobody, root, named[i], err)
			continue
		}
		c.walk.Folder(real)
	}
}

// nobody is the harness of what is no transcript of any.
const nobody = "unknown"

// file takes what one file leads to. Of a part of a session that is the whole
// session only where the part was named.
func (c *collector) file(root, path string, named bool) {
	if !named && harness.Carrier(path) != path {
		c.problem(nobody, root, path, errPart)
		return
	}
	srcs, _, err := harness.Sources(path)
	if err != nil {
		c.problem(nobody, root, path, err)
	}
	for _, src := range srcs {
		src.Root = root
		c.take(src)
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// ours tells whether a folder is where Sessdex keeps things: its data folder, or a
// directory store. What is kept there was imported once; a version kept beside the
// current one must not come back.
func (x *Indexer) ours() func(dir string) bool {
	data := filepath.Dir(x.StateDir)
	real := resolved(data)
	return func(dir string) bool { return dir == data || dir == real || library.IsFolder(dir) }
}

func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// passedOver reports whether an error means that there is nothing to import, rather
// than that it failed. What a person named is expected to be a transcript.
func passedOver(err error, asked bool) bool {
	is := func(kinds ...error) bool {
		return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
	}
	return is(harness.ErrNoSession, errEmpty, harness.ErrTooLarge, errPart, errOwn, errOthers, harness.ErrWalked) ||
		!asked && is(harness.ErrUnknown, harness.ErrNotRegular, harness.ErrNotFolder, fs.ErrNotExist, syscall.ELOOP)
}

// reason is an error in a person's words, without the path that stands beside it.
func reason(err error, path string, asked bool) string {
	switch {
	case errors.Is(err, fs.ErrNotExist) && asked:
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrNotExist):
		return "gone, or a link that leads nowhere"
	case errors.Is(err, syscall.ELOOP):
		return "a link that leads in a circle"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path == path {
		err = pe.Err
	}
	return err.Error()
}
