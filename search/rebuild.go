package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Rebuild makes a new index beside the present one: f is given its writer. While
// it runs, the present index goes on answering and taking writes; when f has
// succeeded the new one takes its place in one step. What others wrote into the
// old one meanwhile is not in the new one, which the next look at Seen tells. An
// index that is damaged is set aside, not deleted.
//
// When f fails, nothing changes. What a rebuild that died left behind is removed
// by the next one.
func (x *Index) Rebuild(ctx context.Context, f func(*Writer) error) error {
	l, err := x.newGeneration()
	if err != nil {
		return err
	}
	w := x.Writer()
	w.held = l
	err = f(w)
	if err == nil {
		err = w.Close(ctx)
	}
	if err != nil {
		l.close()
		os.RemoveAll(l.dir)
		return fmt.Errorf("rebuild index: %w", err)
	}
	if err := l.finish(); err != nil {
		os.RemoveAll(l.dir)
		return fmt.Errorf("rebuild index: %w", err)
	}
	if err := x.setCurrent(l.dir, false); err != nil {
		os.RemoveAll(l.dir)
		return fmt.Errorf("rebuild index: %w", err)
	}
	x.tidy(ctx)
	return nil
}

// youngest is the age below which a generation that nobody holds may still be one
// that a process is about to fill.
const youngest = time.Minute

// tidy removes the generations that are not in use: replaced ones and those of
// rebuilds that died. What others still hold open stays for the next time.
func (x *Index) tidy(ctx context.Context) {
	current, err := x.current()
	entries, err2 := os.ReadDir(x.dir)
	if err != nil || err2 != nil {
		return
	}
	asides := 0
	for i := len(entries) - 1; i >= 0; i-- {
		name := entries[i].Name()
		path := filepath.Join(x.dir, name)
		switch {
		case strings.HasPrefix(name, asidePrefix):
			if asides++; asides > 1 { // one is enough to look at
				os.RemoveAll(path)
			}
		case strings.HasPrefix(name, genPrefix) && path != current:
			x.discard(ctx, path)
		}
	}
}

// discard removes a generation, once nobody holds it.
func (x *Index) discard(ctx context.Context, dir string) {
	x.retire(nil)
	l, err := openLease(ctx, dir, x.readWait, false)
	switch {
	case err == nil:
		// With the lock held, nobody reads it; its name changes first, so that nobody
		// begins to.
		gone := filepath.Join(x.dir, "gone-"+filepath.Base(dir))
		if os.Rename(dir, gone) != nil { // Windows keeps open files in place
			gone = dir
			l.close()
			os.RemoveAll(gone)
			return
		}
		l.close()
		os.RemoveAll(gone)
	case errors.Is(err, ErrDamaged) && complete(dir):
		os.Rename(dir, filepath.Join(x.dir, asidePrefix+time.Now().UTC().Format("20060102-150405")+"-"+filepath.Base(dir)))
	case errors.Is(err, ErrDamaged) && !inUse(dir):
		os.RemoveAll(dir) // a rebuild that died
	}
}

// inUse reports whether a process is building a generation.
func inUse(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil || time.Since(info.ModTime()) < youngest {
		return true
	}
	root := filepath.Join(dir, sessionsName, "store", "root.bolt")
	if _, err := os.Stat(root); err != nil {
		return false
	}
	db, err := bbolt.Open(root, 0o600, &bbolt.Options{Timeout: time.Millisecond})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return true
	}
	if err == nil {
		db.Close()
	}
	return false
}

// complete reports whether a generation was finished once.
func complete(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, readyName))
	return err == nil
}

// Status is how an index is doing.
type Status struct {
	Sessions int       // in the index
	Turns    int       // of all sessions
	Bytes    int64     // on disk
	Schema   string    // name of the schema: the directory of this program's index
	Built    time.Time // when it was last built from nothing
	Written  time.Time // when it was last written to
	Dir      string    // where it is
}

// Status opens the index, counts, and reports what is wrong with one of
// ErrMissing, ErrForeign, ErrDamaged and ErrBusy. Bytes, Schema and Dir are set
// even then, as far as they can be told.
func (x *Index) Status(ctx context.Context) (Status, error) {
	st := Status{Schema: schemaName, Dir: x.dir}
	dir, err := x.current()
	if err != nil {
		return st, err
	}
	st.Dir = dir
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a segment that a merge removed
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		st.Bytes += info.Size()
		if d.Name() == "root.bolt" && info.ModTime().After(st.Written) {
			st.Written = info.ModTime().UTC()
		}
		if d.Name() == readyName {
			st.Built = info.ModTime().UTC()
		}
		return nil
	}); err != nil {
		return st, fmt.Errorf("index %s: %w", dir, err)
	}
	err = x.View(ctx, func(v *View) error {
		st.Sessions = len(v.t.rows)
		for i := range v.t.rows {
			st.Turns += v.t.rows[i].turns
		}
		return nil
	})
	return st, err
}
