package blobstore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"
)

// lockShards spreads keys over lock files: few enough to keep, many enough that
// writers of different keys seldom meet.
const lockShards = 64

// lockWait bounds the wait for another process. A lock is held for a rename,
// never while bytes are written; one that is held this long belongs to a
// process that was stopped, and its end frees it.
const lockWait = 30 * time.Second

// shards are the locks among the goroutines that share one directory value;
// they line up here and one of them at a time polls the file.
type shards [lockShards]chan struct{}

func newShards() *shards {
	var s shards
	for i := range s {
		s[i] = make(chan struct{}, 1)
	}
	return &s
}

// lock waits until this caller is the only one, in any process, that changes
// key. The caller calls unlock.
func (d *directory) lock(ctx context.Context, key string) (unlock func(), err error) {
	h := fnv.New32a()
	h.Write([]byte(key))
	shard := h.Sum32() % lockShards
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, errLockWait)
	defer cancel()
	select {
	case d.locks[shard] <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f, err := d.lockFile(ctx, fmt.Sprintf("%s/%02x", lockDir, shard))
	if err != nil {
		<-d.locks[shard]
		return nil, err
	}
	return func() {
		f.Close() // frees the lock
		<-d.locks[shard]
	}, nil
}

var errLockWait = fmt.Errorf("%w: another process has held the lock for %s: is one stopped?", ErrUnavailable, lockWait)

func (d *directory) lockFile(ctx context.Context, name string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE
	f, err := d.root.OpenFile(name, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.root.MkdirAll(lockDir, 0o700); err == nil {
			f, err = d.root.OpenFile(name, flags, 0o600)
		}
	}
	if err != nil {
		return nil, refused(err)
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 16*time.Millisecond) {
		switch got, err := tryLock(f); {
		case err != nil:
			f.Close()
			return nil, refused(fmt.Errorf("lock %s (the store needs a file system with locks): %w", name, err))
		case got:
			return f, nil
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			f.Close()
			return nil, context.Cause(ctx)
		}
	}
}
