package indexer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	bolt "go.etcd.io/bbolt"
)

// state remembers, per library, what became of each file, so that an unchanged
// file is not read again. It is a convenience: without it everything is read
// once more and comes out the same.
//
//	bucket "files": harness.Source.Key → fileState as JSON
//
// The database is open only during one read or one write, because other
// processes import too.
type state struct{ path string }

// fileState is what is remembered of one file.
type fileState struct {
	Stamp    string `json:"stamp"`          // harness.Source.Stamp when it was read
	Revision string `json:"revision"`       // of parsers and scrub rules that read it
	Harness  string `json:"harness"`        // who wrote it
	ID       string `json:"id,omitempty"`   // the session it holds
	Skip     string `json:"skip,omitempty"` // why it holds none
	Fail     string `json:"fail,omitempty"` // why it cannot be read, as long as it is as it is
	Turns    int    `json:"turns,omitempty"`

	Unknown  map[string]int `json:"unknown,omitempty"`   // record types nobody knows, with counts
	BadLines int            `json:"bad_lines,omitempty"` // lines that could not be read
}

// lasting reports whether a state says what will be true until the file changes.
func (f fileState) lasting() bool { return f.ID != "" || f.Skip != "" || f.Fail != "" }

const stateWait = 10 * time.Second

var filesBucket = []byte("files")

func (x *Indexer) state() state { return state{x.statePath(".db")} }

// statePath is a file for what is remembered about imports into this library.
func (x *Indexer) statePath(ext string) string {
	sum := sha256.Sum256([]byte(x.Library.Address()))
	return filepath.Join(x.StateDir, hex.EncodeToString(sum[:6])+ext)
}

// read calls fn with a function that looks a source up by its key.
func (s state) read(fn func(get func(key string) (fileState, bool))) error {
	return s.view(func(b *bolt.Bucket) error {
		fn(func(key string) (fileState, bool) {
			if b == nil {
				return fileState{}, false
			}
			var f fileState
			raw := b.Get([]byte(key))
			return f, raw != nil && json.Unmarshal(raw, &f) == nil
		})
		return nil
	})
}

// forget drops what is remembered of the files that hold these sessions, and
// reports how many those were.
func (s state) forget(ids []string) (int, error) {
	if _, err := os.Stat(s.path); err != nil || len(ids) == 0 {
		return 0, nil
	}
	var keys []string
	err := s.update(func(b *bolt.Bucket) error {
		err := each(b, func(key string, f fileState) {
			if slices.Contains(ids, f.ID) {
				keys = append(keys, key)
			}
		})
		for _, key := range keys {
			err = errors.Join(err, b.Delete([]byte(key)))
		}
		return err
	})
	return len(keys), err
}

// recount takes up that sessions have other numbers of turns of their own.
func (s state) recount(own map[string]int) error {
	if len(own) == 0 {
		return nil
	}
	changed := map[string]fileState{}
	err := s.view(func(b *bolt.Bucket) error {
		return each(b, func(key string, f fileState) {
			if n, ok := own[f.ID]; ok && n != f.Turns {
				f.Turns = n
				changed[key] = f
			}
		})
	})
	if err != nil {
		return err
	}
	return s.write(changed)
}

// write adds entries.
func (s state) write(entries map[string]fileState) error {
	if len(entries) == 0 {
		return nil
	}
	return s.update(func(b *bolt.Bucket) error {
		for key, f := range entries {
			raw, err := json.Marshal(f)
			if err != nil {
				return err
			}
			if err := b.Put([]byte(key), raw); err != nil {
				return err
			}
		}
		return nil
	})
}

// view gives the entries to be read: nil where there are none yet.
func (s state) view(fn func(*bolt.Bucket) error) error {
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		return fn(nil)
	}
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{ReadOnly: true, Timeout: stateWait})
	if err != nil {
		return fmt.Errorf("read the import state %s: %w", s.path, err)
	}
	defer db.Close()
	return db.View(func(tx *bolt.Tx) error { return fn(tx.Bucket(filesBucket)) })
}

// update gives the entries to be changed, all at once or not at all.
func (s state) update(fn func(*bolt.Bucket) error) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("write the import state: %w", err)
	}
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{Timeout: stateWait})
	if err != nil {
		return fmt.Errorf("write the import state %s: %w", s.path, err)
	}
	defer db.Close()
	return db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(filesBucket)
		if err != nil {
			return err
		}
		return fn(b)
	})
}

// each visits the entries that can be read.
func each(b *bolt.Bucket, visit func(key string, f fileState)) error {
	if b == nil {
		return nil
	}
	return b.ForEach(func(key, raw []byte) error {
		var f fileState
		if json.Unmarshal(raw, &f) == nil {
			visit(string(key), f)
		}
		return nil
	})
}

// idsOf lists the sessions of entries.
func idsOf(entries map[string]fileState) []string {
	var ids []string
	for _, f := range entries {
		if f.ID != "" {
			ids = append(ids, f.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
