package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// What a directory store keeps for itself lives under one name that no key can
// have, so that everything else in the folder is objects:
//
//	+sessdex/tmp/RANDOM   an object being written; renamed to its place when whole
//	+sessdex/lock/NN      lock files, a key's shard; empty, never removed
//	+sessdex/sums/KEY     what Put recorded of KEY, see sumFile
const (
	ownDir  = "+sessdex"
	tmpDir  = ownDir + "/tmp"
	lockDir = ownDir + "/lock"
	sumDir  = ownDir + "/sums"
)

// IsDir reports whether a folder is a directory store, whoever made it. One into which
// nothing was ever put is a folder like any other.
func IsDir(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ownDir))
	return err == nil
}

// tmpMaxAge is the age from which a temporary file is nobody's any more.
const tmpMaxAge = 24 * time.Hour

// OpenDir opens the store in the folder dir, which it makes (mode 0700) where
// it is missing. Every object is a plain file at its key's path, mode 0600, to
// be copied and read with any tool. No path leaves the folder, also not by a
// symbolic link; links are not objects. Any number of processes may use one
// folder, on a file system that has locks; Put and Delete wait for each other.
//
// A version is made from the file's size and modification time. Put makes that
// time, to the nanosecond where the file system can, and later than that of the
// object it replaces, so equal versions mean equal bytes. List reads no contents.
//
// Get verifies the SHA-256 that Put recorded for a file of this modification
// time: bytes that changed while the time did not are ErrDamaged. A file that a
// person copied here, restored or edited has another time; it is taken as it is
// and its bytes are not verified. Copy with times (cp -a, rsync -a) to keep both
// the versions and the verification.
func OpenDir(dir string) (Store, error) {
	if dir == "" {
		return nil, fmt.Errorf("open store: the folder has no name: %w", fs.ErrInvalid)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	d := &directory{dir: abs, locks: newShards()}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, d.fail("open", "", err)
	}
	if d.root, err = os.OpenRoot(abs); err != nil {
		return nil, d.fail("open", "", err)
	}
	d.sweep(time.Now().Add(-tmpMaxAge))
	return d, nil
}

type directory struct {
	dir   string // absolute
	root  *os.Root
	locks *shards
}

// sweep removes what killed writers left. It looks at one folder only and is
// silent: a file that stays costs space and nothing else.
func (d *directory) sweep(before time.Time) {
	f, err := d.root.Open(tmpDir)
	if err != nil {
		return
	}
	defer f.Close()
	entries, _ := f.ReadDir(-1)
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && fi.ModTime().Before(before) {
			d.root.Remove(tmpDir + "/" + e.Name())
		}
	}
}

func (d *directory) String() string { return "file:" + d.dir }
func (d *directory) Close() error   { return d.root.Close() }

// Ready reports whether the folder is still the one that was opened.
func (d *directory) Ready(ctx context.Context, _ func(error, time.Duration)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.present()
}

// present tells an empty store from one whose folder was moved, removed or
// unmounted: what is away must not look deleted.
func (d *directory) present() error {
	there, err := os.Stat(d.dir)
	if err != nil {
		return d.fail("use", "", err)
	}
	opened, err := d.root.Stat(".")
	if err != nil {
		return d.fail("use", "", err)
	}
	if !os.SameFile(there, opened) {
		return fmt.Errorf("use %s: %w: the folder was replaced since it was opened: open it again", d, ErrUnavailable)
	}
	return nil
}

func (d *directory) Stat(ctx context.Context, key string) (Info, error) {
	if err := checkName(key); err != nil {
		return Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return Info{}, fmt.Errorf("stat %s: %w", key, err)
	}
	info, err := d.stat(key)
	if err != nil {
		return Info{}, d.fail("stat", key, err)
	}
	return info, nil
}

// stat describes a regular file; whatever else has the name is no object.
func (d *directory) stat(key string) (Info, error) {
	fi, err := d.root.Lstat(key)
	if err != nil {
		return Info{}, notDir(err)
	}
	if !fi.Mode().IsRegular() {
		return Info{}, fs.ErrNotExist
	}
	return fileInfo(key, fi), nil
}

func fileInfo(key string, fi fs.FileInfo) Info {
	t := fi.ModTime()
	return Info{
		Key:     key,
		Size:    fi.Size(),
		Version: strconv.FormatInt(t.UnixNano(), 36) + "-" + strconv.FormatInt(fi.Size(), 36),
		Time:    t.UTC(),
	}
}

func (d *directory) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	if err := checkName(key); err != nil {
		return nil, Info{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, Info{}, fmt.Errorf("get %s: %w", key, err)
	}
	if _, err := d.stat(key); err != nil { // opening a pipe would wait for its writer
		return nil, Info{}, d.fail("get", key, err)
	}
	f, err := d.root.Open(key)
	if err != nil {
		return nil, Info{}, d.fail("get", key, notDir(err))
	}
	fi, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, Info{}, d.fail("get", key, err)
	}
	info, what := fileInfo(key, fi), "get "+key+" in "+d.String()
	rec, ok := d.sums(key).find(fi.ModTime())
	if ok && rec.size != fi.Size() {
		f.Close()
		return nil, Info{}, fmt.Errorf("%s: %w: %d bytes where %d were written", what, ErrDamaged, fi.Size(), rec.size)
	}
	return newCheckedReader(ctx, f, what, fi.Size(), rec.sum), info, nil
}

func (d *directory) Delete(ctx context.Context, key string) error {
	if err := checkName(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return d.fail("delete", key, err)
	}
	defer unlock()
	switch _, err := d.stat(key); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return d.fail("delete", key, err)
	}
	if err := d.root.Remove(key); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.fail("delete", key, err)
	}
	d.root.Remove(sumDir + "/" + key)
	if err := d.syncDir(parent(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d.fail("delete", key, err)
	}
	d.prune(key)
	return nil
}

// prune removes the folders that key leaves empty. Removing one that is not
// empty fails, and a Put that finds its folder gone makes it again.
func (d *directory) prune(key string) {
	for dir := parent(key); dir != "."; dir = parent(dir) {
		d.root.Remove(sumDir + "/" + dir)
		if d.root.Remove(dir) != nil {
			return
		}
	}
}

func parent(key string) string {
	dir, _ := splitPrefix(key)
	if dir == "" {
		return "."
	}
	return dir
}

// checkName is CheckKey plus what this system cannot use as a file name:
// Windows keeps some names for devices and drops a dot at the end.
func checkName(key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	dotted := strings.HasSuffix(key, ".") || strings.Contains(key, "./")
	if !filepath.IsLocal(filepath.FromSlash(key)) || runtime.GOOS == "windows" && dotted {
		return fmt.Errorf("blob key %q cannot be a file name here: %w", key, fs.ErrInvalid)
	}
	return nil
}

// notDir turns "a parent is no folder" into "not there", which it means to one
// who looks for an object.
func notDir(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return fs.ErrNotExist
	}
	return err
}

// fail names the operation and the place, and keeps to the sentinels of a
// Store: whatever else the system answers means that it refuses.
func (d *directory) fail(op, key string, err error) error {
	place := d.String()
	if key != "" {
		place = key + " in " + place
	}
	for _, known := range []error{ErrLostRace, ErrDamaged, ErrUnavailable, context.Canceled, context.DeadlineExceeded, fs.ErrInvalid} {
		if errors.Is(err, known) {
			return fmt.Errorf("%s %s: %w", op, place, err)
		}
	}
	if key != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", op, place, err)
	}
	return fmt.Errorf("%s %s: %w", op, place, refused(err))
}

// refused says that the system would not do it, and what may help.
func refused(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	advice := ""
	switch {
	case diskFull(err):
		advice = ": free some space on this disk and try again"
	case errors.Is(err, fs.ErrPermission):
		advice = ": this user must own the folder and be allowed to write to it"
	case errors.Is(err, syscall.EROFS):
		advice = ": the disk is mounted read-only"
	case errors.Is(err, fs.ErrNotExist):
		advice = ": is its disk mounted?"
	}
	if errors.Is(err, fs.ErrNotExist) { // of the store's own files: must not read as "no such key"
		return fmt.Errorf("%w: %v%s", ErrUnavailable, err, advice)
	}
	return fmt.Errorf("%w: %w%s", ErrUnavailable, err, advice)
}
