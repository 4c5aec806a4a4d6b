package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"
	bolterrors "go.etcd.io/bbolt/errors"
)

// How long a lease is waited for.
const (
	readWait  = 10 * time.Second
	writeWait = 60 * time.Second
	hintFresh = 2 * time.Second // for how long a writer's asking to be let in counts
)

// A lease is the right to read or to write both indexes of one generation. The
// locks are Bleve's own: shared for reading, exclusive for writing, and always
// sessions before turns, so leases never wait for each other in a circle.
type lease struct {
	dir             string // the generation
	sessions, turns *handle

	// Of a read lease that several views share, under Index.mu:
	users   int
	idle    time.Time // since when it has none
	retired bool      // nobody else may join; the last one closes it
}

// A handle is one open Bleve index.
type handle struct {
	bleve  bleve.Index
	store  index.Index
	reader index.IndexReader // read leases only
	serial uint64            // number of the newest batch
	end    uint64            // of a reader: the numbers of all documents are below
	root   time.Time         // when the root was last written: merges, too, renumber documents
}

const (
	sessionsName = "sessions"
	turnsName    = "turns"
	waitingName  = "waiting"
)

// read takes a read lease on the current generation: the one that is open, where
// no writer waits for it, else a new one. It is given back with release.
func (x *Index) read(ctx context.Context) (*lease, error) {
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		dir, err := x.current()
		if err != nil {
			return nil, err
		}
		for writerWaits(dir) {
			x.retire(nil)
			if err := sleep(ctx, 5*time.Millisecond); err != nil {
				return nil, err
			}
		}
		if l := x.joinShared(dir); l != nil {
			return l, nil
		}
		l, err := openLease(ctx, dir, x.readWait, true)
		if err == nil {
			x.share(l)
			return l, nil
		}
		// A rebuild may have replaced the generation between the two steps.
		if now, err2 := x.current(); try < 3 && err2 == nil && now != dir {
			continue
		}
		return nil, err
	}
}

// joinShared joins the lease that is open on a generation, if there is one.
func (x *Index) joinShared(dir string) *lease {
	x.mu.Lock()
	l := x.shared
	if l != nil && l.dir == dir {
		l.users++
		x.mu.Unlock()
		return l
	}
	x.mu.Unlock()
	if l != nil {
		x.retire(l) // of a generation that was replaced
	}
	return nil
}

// share makes a new lease the one that others join.
func (x *Index) share(l *lease) {
	x.mu.Lock()
	l.users = 1
	if x.shared == nil && x.linger > 0 {
		x.shared = l
	} else {
		l.retired = true
	}
	x.mu.Unlock()
}

// release gives a lease back. A shared one is kept open for a while, for the next
// question, since opening and closing cost as much as answering.
func (x *Index) release(l *lease) error {
	x.mu.Lock()
	l.users--
	last := l.users == 0
	closing := last && l.retired
	if last && !closing {
		l.idle = time.Now()
		time.AfterFunc(lingerCheck, func() { x.checkIdle(l) })
	}
	x.mu.Unlock()
	if closing {
		return l.close()
	}
	return nil
}

// lingerCheck is how often an idle lease looks whether a writer waits for it.
const lingerCheck = 10 * time.Millisecond

// checkIdle closes an idle lease when its time is over or a writer waits.
func (x *Index) checkIdle(l *lease) {
	x.mu.Lock()
	if l.retired || l.users > 0 || time.Since(l.idle) < lingerCheck/2 {
		x.mu.Unlock() // closed, or looked after by the next release
		return
	}
	over := time.Since(l.idle) > x.linger
	x.mu.Unlock()
	if over || writerWaits(l.dir) {
		x.retire(l)
		return
	}
	time.AfterFunc(lingerCheck, func() { x.checkIdle(l) })
}

// retire ends the sharing of a lease, nil for whichever is shared, and closes it
// where nobody uses it.
func (x *Index) retire(l *lease) {
	x.mu.Lock()
	if l == nil {
		l = x.shared
	}
	if l == nil || l.retired {
		x.mu.Unlock()
		return
	}
	l.retired = true
	if x.shared == l {
		x.shared = nil
	}
	closing := l.users == 0
	x.mu.Unlock()
	if closing {
		l.close() // opened for reading: there is nothing to lose
	}
}

// write takes an exclusive lease on the current generation, which is made where
// there is none.
func (x *Index) write(ctx context.Context) (*lease, error) {
	for try := 0; ; try++ {
		dir, err := x.ensure()
		if err != nil {
			return nil, err
		}
		x.retire(nil)
		l, err := openLease(ctx, dir, x.writeWait, false)
		// A rebuild may have replaced the generation between the two steps, or while
		// this one waited. What is written into a replaced one is lost.
		now, err2 := x.current()
		if try == 3 || err2 != nil || now == dir {
			return l, err
		}
		if err == nil {
			if err := l.close(); err != nil {
				return nil, err
			}
		}
	}
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
	// Where segments are gone, Bleve opens an older state without a word. Turns are
	// written first, so they are never behind.
	if l.turns.serial < l.sessions.serial {
		l.close()
		return nil, fmt.Errorf("index %s: turns are missing: %w", dir, ErrDamaged)
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
	pause := time.Millisecond
	for {
		b, err := openBleve(path, config)
		if err == nil {
			h, err := newHandle(b, readOnly)
			if err != nil {
				return nil, fmt.Errorf("open index %s: %w", path, damaged(err))
			}
			return h, nil
		}
		if !errors.Is(err, bolterrors.ErrTimeout) {
			return nil, openError(path, err)
		}
		if !readOnly {
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
	silenceStore()
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
	if info, err := os.Stat(filepath.Join(b.Name(), "store", "root.bolt")); err == nil {
		h.root = info.ModTime()
	}
	err := h.init(readOnly)
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *handle) init(readOnly bool) (err error) {
	if h.store, err = h.bleve.Advanced(); err != nil {
		return err
	}
	r, err := h.store.Reader()
	if err != nil {
		return err
	}
	serial, err := r.GetInternal(serialKey)
	if len(serial) == 8 {
		h.serial = binary.BigEndian.Uint64(serial)
	}
	if readOnly && err == nil {
		h.reader = r
		if r, ok := r.(*scorch.IndexSnapshot); ok {
			for _, s := range r.Segments() {
				h.end += uint64(s.FullSize())
			}
		}
		return nil
	}
	return errors.Join(err, r.Close())
}

// batch writes a batch that sets serialKey.
func (h *handle) batch(b *index.Batch) error {
	if err := h.store.Batch(b); err != nil {
		return err
	}
	h.serial = binary.BigEndian.Uint64(b.InternalOps[string(serialKey)])
	return nil
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
