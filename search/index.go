package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/blevesearch/bleve/v2"
)

// What can be wrong with an index. All but ErrBusy and ErrForeign are cured by
// Rebuild.
var (
	ErrMissing = errors.New("there is no index yet")
	ErrForeign = errors.New("the folder holds something that is no Sessdex index")
	ErrDamaged = errors.New("the index is damaged")
	ErrBusy    = errors.New("the index is busy: another process is writing to it")
)

// damaged marks what a reader of an open index fails with as damage: the files were
// there and whole when it was opened. What the machine refuses, an end of the
// caller's time and what is marked already stay as they are.
func damaged(err error) error {
	var onPath *fs.PathError
	if err == nil || errors.As(err, &onPath) {
		return err
	}
	for _, other := range []error{ErrDamaged, ErrBusy, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// An Index is the index in one directory. It may be used from several goroutines,
// and from several processes, at once. After a question it keeps its read lease for
// a moment (see Linger), and gives it up as soon as a writer waits for it.
type Index struct {
	root      string // as given to Open
	dir       string // root/<schema>
	readWait  time.Duration
	writeWait time.Duration

	linger time.Duration

	mu     sync.Mutex
	table  *table // the newest one read
	shared *lease // the read lease that views join
}

// An Option changes how an Index behaves.
type Option func(*Index)

// Wait sets how long a reader and a writer wait for a busy index (10 s and 60 s)
// before they give up with ErrBusy.
func Wait(read, write time.Duration) Option {
	return func(x *Index) { x.readWait, x.writeWait = read, write }
}

// Linger sets for how long after a question the index stays open for the next one
// (1 s): 0 closes it at once.
func Linger(d time.Duration) Option {
	return func(x *Index) { x.linger = d }
}

// Close closes what is still open from the last question. The Index can go on
// being used.
func (x *Index) Close() { x.retire(nil) }

// Open names the index in dir, which need not exist. It does no I/O.
func Open(dir string, opts ...Option) *Index {
	x := &Index{root: dir, dir: filepath.Join(dir, schemaName), readWait: readWait, writeWait: writeWait, linger: time.Second}
	for _, o := range opts {
		o(x)
	}
	return x
}

// A directory of indexes looks like this:
//
//	sessdex-index       says that the directory is ours
//	<schema>/CURRENT    the name of the generation in use
//	<schema>/g-…/       a generation: READY, sessions/, turns/
//	<schema>/aside-…/   a damaged generation that a rebuild replaced
//
// A generation is complete when it has READY; only a complete one is ever named
// by CURRENT, which is replaced in one step.
const (
	markerName  = "sessdex-index"
	currentName = "CURRENT"
	readyName   = "READY"
	genPrefix   = "g-"
	asidePrefix = "aside-"

	markerText = "This folder is a Sessdex search index. It is made from the library and can be deleted at any time.\n"
)

// current is the generation in use, or ErrMissing, ErrForeign or ErrDamaged.
func (x *Index) current() (string, error) {
	b, err := os.ReadFile(filepath.Join(x.dir, currentName))
	if errors.Is(err, fs.ErrNotExist) {
		if err := x.checkOurs(); err != nil {
			return "", err
		}
		return "", fmt.Errorf("index %s: %w", x.root, ErrMissing)
	}
	if err != nil {
		return "", fmt.Errorf("index %s: %w", x.root, err)
	}
	name := strings.TrimSpace(string(b))
	if !strings.HasPrefix(name, genPrefix) || name != filepath.Base(name) {
		return "", fmt.Errorf("index %s: %s names no generation: %w", x.root, currentName, ErrDamaged)
	}
	return filepath.Join(x.dir, name), nil
}

// checkOurs fails with ErrForeign where the directory has content and no marker
// of ours.
func (x *Index) checkOurs() error {
	entries, err := os.ReadDir(x.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", x.root, err)
	}
	for _, e := range entries {
		if e.Name() == markerName {
			return nil
		}
	}
	if len(entries) > 0 {
		return fmt.Errorf("index %s: %w", x.root, ErrForeign)
	}
	return nil
}

// prepare makes the directory and marks it as ours.
func (x *Index) prepare() error {
	if err := x.checkOurs(); err != nil {
		return err
	}
	if err := os.MkdirAll(x.root, 0o700); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	marker := filepath.Join(x.root, markerName)
	if _, err := os.Stat(marker); err != nil {
		if err := os.WriteFile(marker, []byte(markerText), 0o600); err != nil {
			return fmt.Errorf("create index: %w", err)
		}
	}
	if err := os.MkdirAll(x.dir, 0o700); err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	return nil
}

// newGeneration makes an empty generation without READY and returns it open
// for writing.
func (x *Index) newGeneration() (*lease, error) {
	if err := x.prepare(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(x.dir, genPrefix)
	if err != nil {
		return nil, fmt.Errorf("create index: %w", err)
	}
	silenceStore()
	l := &lease{dir: dir}
	for _, part := range []struct {
		name string
		to   **handle
	}{{sessionsName, &l.sessions}, {turnsName, &l.turns}} {
		config := map[string]any{"bolt_timeout": "1ms"}
		for k, v := range writeConfig {
			config[k] = v
		}
		b, err := bleve.NewUsing(filepath.Join(dir, part.name), bleveMapping(), bleve.Config.DefaultIndexType, bleve.Config.DefaultKVStore, config)
		if err == nil {
			*part.to, err = newHandle(b, false)
		}
		if err != nil {
			if l.sessions != nil {
				l.sessions.close()
			}
			os.RemoveAll(dir)
			return nil, fmt.Errorf("create index %s: %w", dir, err)
		}
	}
	return l, nil
}

// finish closes a generation that is complete and says so in it.
func (l *lease) finish() error {
	if err := l.close(); err != nil {
		return fmt.Errorf("close index %s: %w", l.dir, err)
	}
	return writeSynced(filepath.Join(l.dir, readyName), time.Now().UTC().Format(time.RFC3339)+"\n")
}

// setCurrent names the generation in use. With first, it does so only where
// there is none yet, and reports fs.ErrExist otherwise.
func (x *Index) setCurrent(dir string, first bool) error {
	current := filepath.Join(x.dir, currentName)
	temp := filepath.Join(dir, currentName)
	if err := writeSynced(temp, filepath.Base(dir)+"\n"); err != nil {
		return err
	}
	if first {
		err := os.Link(temp, current)
		if err == nil || errors.Is(err, fs.ErrExist) {
			os.Remove(temp)
			return err
		} // a file system without links: the rename below
	}
	if err := os.Rename(temp, current); err != nil {
		return fmt.Errorf("switch index: %w", err)
	}
	return nil
}

func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// ensure returns the current generation and makes an empty one where there is
// none.
func (x *Index) ensure() (string, error) {
	dir, err := x.current()
	if !errors.Is(err, ErrMissing) {
		return dir, err
	}
	l, err := x.newGeneration()
	if err != nil {
		return "", err
	}
	if err := l.finish(); err != nil {
		return "", err
	}
	err = x.setCurrent(l.dir, true)
	if errors.Is(err, fs.ErrExist) { // another process was first: use its
		os.RemoveAll(l.dir)
		return x.current()
	}
	return l.dir, err
}
