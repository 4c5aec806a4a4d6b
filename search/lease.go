package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/blevesearch/bleve/v2"
	index "github.com/blevesearch/bleve_index_api"
	bolterrors "go.etcd.io/bbolt/errors"
)

// How long a lease is waited for.
const (
	readWait  = 10 * time.Second
	writeWait = 60 * time.Second
	hintAfter = 100 * time.Millisecond // a writer that waited this long asks readers to hold back
	hintFresh = 2 * time.Second        // for how long its asking counts
)

// A lease is the right to read or to write both indexes of one generation. The
// locks are Bleve's own: shared for reading, exclusive for writing, and always
// sessions before turns, so leases never wait for each other in a circle.
type lease struct {
	dir             string // the generation
	sessions, turns *handle
}

// A handle is one open Bleve index.
type handle struct {
	bleve  bleve.Index
	store  index.Index
	reader index.IndexReader // read leases only
}

const (
	sessionsName = "sessions"
	turnsName    = "turns"
	waitingName  = "waiting"
)

// read takes a read lease on the current generation.
func (x *Index) read(ctx context.Context) (*lease, error) {
	for try := 0; ; try++ {
		dir, err := x.current()
		if err != nil {
			return nil, err
		}
		for writerWaits(dir) { // let the writer in first, once
			if err := sleep(ctx, 5*time.Millisecond); err != nil {
				return nil, err
			}
		}
		l, err := openLease(ctx, dir, x.readWait, true)
		if err == nil {
			return l, nil
		}
		// A rebuild may have replaced the generation between the two steps.
		if now, err2 := x.current(); try < 3 && err2 == nil && now != dir {
			continue
		}
		return nil, err
	}
}

// write takes an exclusive lease on a generation.
func (x *Index) write(ctx context.Context, dir string) (*lease, error) {
	return openLease(ctx, dir, x.writeWait, false)
}

func openLease(ctx context.Context, dir string, wait time.Duration, readOnly bool) (*lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkGeneration(dir); err != nil {
		return nil, err
	}
	l := &lease{dir: dir}
	deadline := time.Now().Add(wait)
	var err error
	if l.sessions, err = openHandle(ctx, dir, sessionsName, deadline, readOnly); err != nil {
		return nil, err
	}
	if l.turns, err = openHandle(ctx, dir, turnsName, deadline, readOnly); err != nil {
		l.sessions.close()
		return nil, err
	}
	if !readOnly {
		os.Remove(filepath.Join(dir, waitingName))
	}
	return l, nil
}

// openHandle opens one index, waiting for its lock until the deadline.
func openHandle(ctx context.Context, dir, name string, deadline time.Time, readOnly bool) (*handle, error) {
	path := filepath.Join(dir, name)
	config := map[string]any{
		"bolt_timeout": "1ms", // one try; waiting is done here, where it can be cancelled
		"read_only":    readOnly,
	}
	if !readOnly {
		for k, v := range writeConfig {
			config[k] = v
		}
	}
	start, pause := time.Now(), time.Millisecond
	for {
		b, err := openBleve(path, config)
		if err == nil {
			return newHandle(b, readOnly)
		}
		if !errors.Is(err, bolterrors.ErrTimeout) {
			return nil, openError(path, err)
		}
		if !readOnly && time.Since(start) > hintAfter {
			os.WriteFile(filepath.Join(dir, waitingName), nil, 0o600) // a hint: nothing is lost without it
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("open index %s: %w", path, ErrBusy)
		}
		if err := sleep(ctx, pause+rand.N(pause)); err != nil {
			return nil, err
		}
		pause = min(2*pause, 25*time.Millisecond)
	}
}

// openBleve opens an index and turns the panics of a torn file into errors.
func openBleve(path string, config map[string]any) (b bleve.Index, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, r)
		}
	}()
	return bleve.OpenUsing(path, config)
}

// openError tells damage from what the machine refuses.
func openError(path string, err error) error {
	var onPath *fs.PathError
	if errors.Is(err, ErrDamaged) || errors.As(err, &onPath) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open index %s: %w", path, err)
	}
	return fmt.Errorf("open index %s: %w: %v", path, ErrDamaged, err)
}

func newHandle(b bleve.Index, readOnly bool) (*handle, error) {
	h := &handle{bleve: b}
	var err error
	if h.store, err = b.Advanced(); err == nil && readOnly {
		h.reader, err = h.store.Reader()
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *handle) close() error {
	if h.reader != nil {
		h.reader.Close()
	}
	return h.bleve.Close()
}

func (l *lease) close() error {
	return errors.Join(l.turns.close(), l.sessions.close())
}

// checkGeneration reports a generation that must not be opened. It comes before
// every opening: Bleve deletes all segments of an index whose root is missing.
func checkGeneration(dir string) error {
	for _, name := range []string{
		readyName,
		filepath.Join(sessionsName, "index_meta.json"), filepath.Join(sessionsName, "store", "root.bolt"),
		filepath.Join(turnsName, "index_meta.json"), filepath.Join(turnsName, "store", "root.bolt"),
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("index %s: %s is missing: %w", dir, name, ErrDamaged)
		case err != nil:
			return fmt.Errorf("index %s: %w", dir, err)
		case info.Size() == 0:
			return fmt.Errorf("index %s: %s is empty: %w", dir, name, ErrDamaged)
		}
	}
	return nil
}

func writerWaits(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, waitingName))
	return err == nil && time.Since(info.ModTime()) < hintFresh
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
