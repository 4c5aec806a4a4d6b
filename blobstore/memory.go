package blobstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// NewMemory returns an empty store that lives as long as the process. It keeps
// every promise of a Store, across the goroutines of this process. Its versions
// are made from the bytes alone, as those of S3 are: writing the same bytes
// again gives the same version. Close keeps the objects.
func NewMemory() Store { return &memory{objects: map[string]memObject{}} }

type memory struct {
	mu      sync.RWMutex
	objects map[string]memObject
}

// A memObject is never changed once it is in the map; a Put makes a new one.
type memObject struct {
	data []byte
	sum  string
	time time.Time
}

func (o memObject) info(key string) Info {
	return Info{Key: key, Size: int64(len(o.data)), Version: o.sum[:32], Time: o.time}
}

func (m *memory) look(ctx context.Context, op, key string) (memObject, error) {
	if err := CheckKey(key); err != nil {
		return memObject{}, err
	}
	if err := ctx.Err(); err != nil {
		return memObject{}, fmt.Errorf("%s %s: %w", op, key, err)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[key]
	if !ok {
		return o, fmt.Errorf("%s %s in %s: %w", op, key, m, fs.ErrNotExist)
	}
	return o, nil
}

func (m *memory) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	o, err := m.look(ctx, "get", key)
	if err != nil {
		return nil, Info{}, err
	}
	r := io.NopCloser(bytes.NewReader(o.data))
	return newCheckedReader(ctx, r, "get "+key+" in "+m.String(), int64(len(o.data)), o.sum), o.info(key), nil
}

func (m *memory) Stat(ctx context.Context, key string) (Info, error) {
	o, err := m.look(ctx, "stat", key)
	if err != nil {
		return Info{}, err
	}
	return o.info(key), nil
}

func (m *memory) Put(ctx context.Context, key string, r io.Reader, size int64, cond Cond) (Info, error) {
	if err := checkPut(ctx, key, size); err != nil {
		return Info{}, err
	}
	var buf bytes.Buffer // grows with what arrives: size is only a claim
	sum, err := copyExactly(ctx, &buf, r, size)
	if err != nil {
		return Info{}, fmt.Errorf("put %s in %s: %w", key, m, err)
	}
	o := memObject{data: buf.Bytes(), sum: sum, time: time.Now().UTC()}

	m.mu.Lock()
	defer m.mu.Unlock()
	var now string
	old, exists := m.objects[key]
	if exists {
		now = old.info(key).Version
	}
	if !cond.holds(exists, now) {
		return Info{}, fmt.Errorf("put %s in %s: %w", key, m, ErrLostRace)
	}
	m.objects[key] = o
	return o.info(key), nil
}

func (m *memory) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// List yields a snapshot of the moment when the iteration began.
func (m *memory) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		for _, info := range m.snapshot(prefix) {
			if err := ctx.Err(); err != nil {
				yield(Info{}, fmt.Errorf("list %q in %s: %w", prefix, m, err))
				return
			}
			if !yield(info, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Info{}, fmt.Errorf("list %q in %s: %w", prefix, m, err))
		}
	}
}

func (m *memory) snapshot(prefix string) []Info {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Info
	for key, o := range m.objects {
		if strings.HasPrefix(key, prefix) {
			all = append(all, o.info(key))
		}
	}
	slices.SortFunc(all, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return all
}

func (m *memory) String() string { return "mem:" }
func (m *memory) Close() error   { return nil }
