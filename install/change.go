package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/diff"
)

// A Change is what becomes of one configuration file. Nil text means no file.
type Change struct {
	Path          string // as the agent names it
	Parts         []Part // what is in it of ours
	Before, After []byte

	target   string // where Path leads over links
	mode     fs.FileMode
	readOnly bool
}

// A Part is one entry of ours in a file and what becomes of it.
type Part struct {
	What    string  `json:"what"`
	Outcome Outcome `json:"outcome"`
}

// Changed reports whether there is anything to write.
func (c *Change) Changed() bool {
	return (c.Before == nil) != (c.After == nil) || !bytes.Equal(c.Before, c.After)
}

// Diff shows the change as a unified diff; it is empty where there is none.
func (c *Change) Diff() string {
	before, after := c.Path, c.Path
	if c.Before == nil {
		before = os.DevNull
	}
	if c.After == nil {
		after = os.DevNull
	}
	return string(diff.Diff(before, c.Before, after, c.After))
}

// backupTime is in a backup's name, in UTC, so that names sort by age.
const backupTime = "20060102T150405Z"

// Apply writes the change and gives the path of the backup, which is empty where
// there was no file. The file gets its new text in one step, keeps its mode, and is
// the one a link leads to. It fails with ErrChanged where the file is no longer as
// Plan read it.
func (c *Change) Apply() (backup string, err error) {
	if !c.Changed() {
		return "", nil
	}
	if backup, err = c.apply(); err != nil {
		return "", &FileError{c.Path, err}
	}
	return backup, nil
}

func (c *Change) apply() (string, error) {
	backup := ""
	if c.Before != nil {
		var err error
		name := c.target + ".sessdex-backup-" + time.Now().UTC().Format(backupTime)
		if backup, err = writeNew(name, c.Before, c.mode); err != nil {
			return "", fmt.Errorf("back it up: %w", err)
		}
	}
	if err := c.write(); err != nil {
		if backup != "" {
			os.Remove(backup) // nothing was changed, so it is of no use
		}
		return "", err
	}
	return backup, nil
}

func (c *Change) write() error {
	if c.After == nil {
		if err := c.unchanged(); err != nil {
			return err
		}
		return os.Remove(c.target)
	}
	dir := filepath.Dir(c.target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := writeNew(filepath.Join(dir, ".sessdex-new"), c.After, c.mode)
	if err != nil {
		return err
	}
	defer os.Remove(temp) // gone where all went well
	if err := c.unchanged(); err != nil {
		return err
	}
	return os.Rename(temp, c.target)
}

// unchanged makes sure that the file is as it was read.
func (c *Change) unchanged() error {
	now, err := os.ReadFile(c.target)
	if errors.Is(err, fs.ErrNotExist) {
		now, err = nil, nil
	} else if err == nil && now == nil {
		now = []byte{}
	}
	if err == nil && ((now == nil) != (c.Before == nil) || !bytes.Equal(now, c.Before)) {
		err = ErrChanged
	}
	return err
}

// maxFile bounds what is read into memory, in bytes: some agents keep a history beside
// their settings, and it grows.
const maxFile = 64 << 20

// read begins the change of a file with what is there.
func read(path, target string) (*Change, error) {
	c := &Change{Path: path, target: target, mode: 0o600} // a new one is for its owner
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, &FileError{path, err}
	}
	if !info.Mode().IsRegular() {
		return nil, &FileError{path, fmt.Errorf("%w: it is no regular file", ErrShape)}
	}
	c.mode = info.Mode().Perm()
	c.readOnly = c.mode&0o200 == 0
	if info.Size() > maxFile {
		return nil, &FileError{path, fmt.Errorf("%w: it is larger than 64 MiB", ErrShape)}
	}
	if c.Before, err = os.ReadFile(target); err != nil {
		return nil, &FileError{path, err}
	}
	if c.Before == nil {
		c.Before = []byte{}
	}
	c.After = c.Before
	return c, nil
}

// maxLinks is how many links are followed, as systems do.
const maxLinks = 40

// follow gives the file that a path leads to, which need not be there: a link to
// nothing is followed too, so that the link stays.
func follow(path string) (string, error) {
	target := path
	for range maxLinks {
		dest, err := os.Readlink(target)
		if err != nil {
			return target, nil // no link; what else is wrong with it shows on reading
		}
		if !filepath.IsAbs(dest) {
			dest = filepath.Join(filepath.Dir(target), dest)
		}
		target = dest
	}
	return "", &FileError{path, fmt.Errorf("%w: it is a circle of links", ErrShape)}
}

// writeNew writes a file that is not there yet, under the name or the next free one
// after it, and gives its path.
func writeNew(name string, text []byte, mode fs.FileMode) (string, error) {
	path := name
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, fs.ErrExist) && n < 1000; n++ {
		path = fmt.Sprintf("%s-%d", name, n)
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}
