package blobstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Put writes a temporary file, makes it durable, and under the key's lock
// compares, records the sum and renames: a reader sees the old object or the
// new one, and a crash at any point leaves one of them.
func (d *directory) Put(ctx context.Context, key string, r io.Reader, size int64, cond Cond) (Info, error) {
	if err := checkName(key); err != nil {
		return Info{}, err
	}
	if err := checkPut(ctx, key, size); err != nil {
		return Info{}, err
	}
	info, err := d.put(ctx, key, r, size, cond)
	if err != nil {
		return Info{}, fmt.Errorf("put %s in %s: %w", key, d, err)
	}
	return info, nil
}

func (d *directory) put(ctx context.Context, key string, r io.Reader, size int64, cond Cond) (Info, error) {
	// A race that is lost already need not be written out first.
	if _, err := d.check(key, cond); err != nil {
		return Info{}, err
	}
	tmp, sum, err := d.write(ctx, r, size)
	if err != nil {
		return Info{}, err
	}
	defer d.root.Remove(tmp) // fails once the file has its name
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return Info{}, err
	}
	info, err := d.commit(key, tmp, sum, cond)
	unlock()
	if err != nil {
		return Info{}, err
	}
	if err := d.syncDir(parent(key)); err != nil {
		return Info{}, refused(err)
	}
	return info, nil
}

// check returns the time of the object that a Put would replace, zero for none.
func (d *directory) check(key string, cond Cond) (time.Time, error) {
	old, err := d.stat(key)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, refused(err)
	}
	if !cond.holds(exists, old.Version) {
		return time.Time{}, ErrLostRace
	}
	return old.Time, nil
}

// write stores r in a temporary file that a crash cannot tear.
func (d *directory) write(ctx context.Context, r io.Reader, size int64) (tmp, sum string, err error) {
	name, f, err := d.createTemp()
	if err != nil {
		return "", "", refused(err)
	}
	defer func() {
		if err != nil {
			f.Close()
			d.root.Remove(name)
		}
	}()
	if sum, err = copyExactly(ctx, fileWriter{f}, r, size); err != nil {
		return "", "", err
	}
	if err = d.root.Chtimes(name, time.Time{}, time.Now()); err != nil { // finer than the system's own clock ticks
		return "", "", refused(err)
	}
	if err = f.Sync(); err != nil {
		return "", "", refused(err)
	}
	if err = f.Close(); err != nil {
		return "", "", refused(err)
	}
	return name, sum, nil
}

// commit gives a whole temporary file its name. The caller holds the key's lock.
func (d *directory) commit(key, tmp, sum string, cond Cond) (Info, error) {
	old, err := d.check(key, cond)
	if err != nil {
		return Info{}, err
	}
	fi, err := d.laterThan(tmp, old)
	if err != nil {
		return Info{}, refused(err)
	}
	if err := d.record(key, sumRecord{sum: sum, size: fi.Size(), time: fi.ModTime().UnixNano()}, old); err != nil {
		return Info{}, misplaced(err)
	}
	if err := d.rename(tmp, key); err != nil {
		if old.IsZero() {
			d.root.Remove(sumDir + "/" + key)
			d.prune(key)
		}
		return Info{}, err
	}
	return fileInfo(key, fi), nil
}

// laterThan makes the file's time later than old, as finely as the file system
// can tell, and describes it. Most often it is already.
func (d *directory) laterThan(tmp string, old time.Time) (fs.FileInfo, error) {
	fi, err := d.root.Lstat(tmp)
	for _, step := range []time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, time.Second, 4 * time.Second} {
		if err != nil || old.IsZero() || fi.ModTime().After(old) {
			return fi, err
		}
		if err = d.root.Chtimes(tmp, time.Time{}, old.Add(step)); err != nil {
			return nil, err
		}
		if err = d.sync(tmp); err != nil {
			return nil, err
		}
		fi, err = d.root.Lstat(tmp)
	}
	if err == nil && !fi.ModTime().After(old) {
		err = fmt.Errorf("the file system keeps no usable times (%s)", old)
	}
	return fi, err
}

// rename moves a temporary file to its key, making the folders it lacks. Another
// process may prune one between the two steps; then they are made again.
func (d *directory) rename(tmp, key string) error {
	err := d.root.Rename(tmp, key)
	for i := 0; i < 10 && errors.Is(err, fs.ErrNotExist); i++ {
		if err = d.mkdirs(parent(key)); err == nil {
			err = d.root.Rename(tmp, key)
		}
	}
	if err != nil {
		return misplaced(err)
	}
	return nil
}

// misplaced tells a key that no directory can hold from what the system refuses.
func misplaced(err error) error {
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("a key cannot be the folder of another (%v): %w", err, fs.ErrInvalid)
	}
	return refused(err)
}

// mkdirs makes a folder and its parents durable, mode 0700.
func (d *directory) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	err := d.root.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.mkdirs(parent(dir)); err != nil {
			return err
		}
		err = d.root.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.syncDir(parent(dir))
}

// createTemp makes a new temporary file, and its folder where it is missing.
func (d *directory) createTemp() (string, *os.File, error) {
	name := tmpDir + "/" + rand.Text()
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := d.root.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.root.MkdirAll(tmpDir, 0o700); err == nil {
			f, err = d.root.OpenFile(name, flags, 0o600)
		}
	}
	return name, f, err
}

func (d *directory) sync(name string) error {
	f, err := d.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// syncDir makes the names in a folder durable. Windows has no such call and
// does it with the rename.
func (d *directory) syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// A fileWriter tells what the disk refuses from what the source fails to give.
type fileWriter struct{ f *os.File }

func (w fileWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		err = refused(err)
	}
	return n, err
}
