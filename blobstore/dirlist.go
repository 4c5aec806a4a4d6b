package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
)

// List walks the folders that prefix leaves open, one at a time, and reads no
// contents. What is written or removed meanwhile is listed or not.
func (d *directory) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		w := walk{d: d, ctx: ctx, prefix: prefix, yield: yield}
		err := d.present()
		if err == nil {
			start, _ := splitPrefix(prefix)
			err = w.folder(start)
		}
		if err != nil && err != errStop {
			yield(Info{}, d.fail(fmt.Sprintf("list %q in", prefix), "", err))
		}
	}
}

// errStop ends a walk whose reader has had enough.
var errStop = errors.New("stop")

type walk struct {
	d      *directory
	ctx    context.Context
	prefix string
	yield  func(Info, error) bool
}

// folder yields the objects below dir ("" is the root) in the order of their keys.
func (w *walk) folder(dir string) error {
	entries, err := w.read(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		key := e.Name()
		if dir != "" {
			key = dir + "/" + key
		}
		switch {
		case e.IsDir():
			if below := key + "/"; strings.HasPrefix(below, w.prefix) || strings.HasPrefix(w.prefix, below) {
				err = w.folder(key)
			}
		case strings.HasPrefix(key, w.prefix):
			err = w.file(key, e)
		}
		if err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *walk) file(key string, e fs.DirEntry) error {
	fi, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since the folder was read
		return nil
	case err != nil:
		return err
	case !fi.Mode().IsRegular() || len(key) > 512:
		return nil
	case !w.yield(fileInfo(key, fi), nil):
		return errStop
	}
	return nil
}

// read returns what in a folder can be, or hold, an object. A folder sorts by
// its name and a slash, since that is how the keys below it begin: "a-b" comes
// before "a/b", and "a.b" too.
func (w *walk) read(dir string) ([]fs.DirEntry, error) {
	name := dir
	if dir == "" {
		name = "."
	}
	fi, err := w.d.root.Lstat(name)
	if errors.Is(notDir(err), fs.ErrNotExist) || err == nil && !fi.IsDir() {
		return nil, nil // nothing below this prefix, or it goes on below an object or a link
	}
	if err != nil {
		return nil, err
	}
	f, err := w.d.root.Open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !validSegment(e.Name()) || !e.IsDir() && !e.Type().IsRegular()
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	return entries, nil
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}
