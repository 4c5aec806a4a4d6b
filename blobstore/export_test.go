package blobstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// SetRetryPause shortens what tests of retries wait for.
func SetRetryPause(d time.Duration) { retryPause = d }

// DamageMemory changes a byte of an object in memory and nothing else of it.
func DamageMemory(s Store, key string) {
	m := s.(*memory)
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[key]
	data := append([]byte(nil), o.data...)
	data[len(data)/2] ^= 1
	o.data = data
	m.objects[key] = o
}

// HoldLocks takes every lock of a directory store, as another process does.
func HoldLocks(t *testing.T, dir string) (free func()) {
	t.Helper()
	var files []*os.File
	for i := range lockShards {
		f, err := os.OpenFile(filepath.Join(dir, lockDir, fmt.Sprintf("%02x", i)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tryLock(f); !got || err != nil {
			t.Fatalf("lock %d: %v, %v", i, got, err)
		}
		files = append(files, f)
	}
	return func() {
		for _, f := range files {
			f.Close()
		}
	}
}
