// Package blobstore keeps bytes under keys, with versions. It has three
// implementations that pass one suite (package storetest): a directory
// ([OpenDir]), MinIO or any S3 ([OpenS3]) and memory ([NewMemory]). [Open] picks
// one from its address, [Ready] waits until it can be used, and [Probe] proves
// that it keeps the promises below.
//
// Keys are "/"-separated, hold only [a-z0-9._-] between the slashes, and are
// never made from a person's text; [CheckKey] is enforced by every method. No
// key may be the folder of another ("a" beside "a/b"): a directory cannot hold
// both. An object is written whole or not at all. A Store may be used by any
// number of goroutines and processes at once.
//
// Put records the SHA-256 of what it wrote and Get compares. Where it is kept:
// S3 in the object's user metadata, a directory in a side file (see [OpenDir]),
// memory beside the bytes. An object that something else put there has no
// record; of it only the length is checked.
package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// A Store keeps objects. Errors wrap [fs.ErrNotExist] (no such key),
// [ErrLostRace] (a condition did not hold: read again), [ErrUnavailable] (the
// store cannot be reached or refuses) or [ErrDamaged] (bytes are not what was
// written). Every method honours ctx.
type Store interface {
	// Get opens an object. The reader fails with ErrDamaged at its end when the
	// bytes do not match the SHA-256 recorded by Put, so a caller that acts on an
	// object reads it to io.EOF first. It gives one object's bytes: where that is
	// replaced meanwhile and no longer to be had, it fails with ErrLostRace. The
	// caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, Info, error)

	// Put stores size bytes of r (exactly; more or fewer is an error and stores
	// nothing) and returns the new object's Info. The condition is checked
	// atomically with the write.
	Put(ctx context.Context, key string, r io.Reader, size int64, cond Cond) (Info, error)

	// Stat describes an object without reading it.
	Stat(ctx context.Context, key string) (Info, error)

	// List yields the objects whose keys begin with prefix, by key in byte order.
	// After an error it yields nothing more.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]

	// Delete removes an object; removing what is not there is no error.
	Delete(ctx context.Context, key string) error

	// String is the store's address without any credential, for messages.
	String() string

	// Close releases what the store holds.
	Close() error
}

// Info describes one object.
type Info struct {
	Key     string
	Size    int64
	Version string    // opaque; equal versions of one key mean equal bytes
	Time    time.Time // last write, by the store's clock
}

// Cond is the condition of a Put. The zero value always holds.
type Cond struct {
	kind  condKind
	match string
}

type condKind uint8

const (
	always condKind = iota
	absent
	version
)

// holds reports whether a Put may go on, given the key's object.
func (c Cond) holds(exists bool, now string) bool {
	switch c.kind {
	case absent:
		return !exists
	case version:
		return exists && now == c.match && now != ""
	}
	return true
}

// IfAbsent holds when the key has no object.
func IfAbsent() Cond { return Cond{kind: absent} }

// IfVersion holds when the object's version is v; never when v is empty, so
// that a forgotten version cannot overwrite anything.
func IfVersion(v string) Cond { return Cond{kind: version, match: v} }

var (
	// ErrLostRace means that another writer came first: read again and retry.
	ErrLostRace = errors.New("changed by another writer")
	// ErrUnavailable means that the store cannot be reached or refuses to work.
	ErrUnavailable = errors.New("store unavailable")
	// ErrDamaged means that stored bytes are not the bytes that were written.
	ErrDamaged = errors.New("stored bytes are damaged")
)

// CheckKey returns an error unless key is one this package accepts: 1 to 512
// bytes, segments of [a-z0-9._-] that are not empty, "." or "..".
func CheckKey(key string) error {
	if key == "" || len(key) > 512 {
		return fmt.Errorf("blob key %q: %w", key, fs.ErrInvalid)
	}
	for seg := range strings.SplitSeq(key, "/") {
		if !validSegment(seg) {
			return fmt.Errorf("blob key %q: %w", key, fs.ErrInvalid)
		}
	}
	return nil
}

// alphabet holds what a key is made of besides "/".
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789._-"

func validSegment(seg string) bool {
	return seg != "" && seg != "." && seg != ".." && strings.Trim(seg, alphabet) == ""
}

// checkPrefix accepts what a key may begin with: whole segments, then the
// beginning of one. The empty prefix is every key's. A last "." or ".." is
// refused as well, because MinIO refuses it.
func checkPrefix(prefix string) error {
	dir, last := splitPrefix(prefix)
	if dir != "" && CheckKey(dir) != nil || last != "" && !validSegment(last) || len(prefix) > 512 || strings.HasPrefix(prefix, "/") {
		return fmt.Errorf("blob key prefix %q: %w", prefix, fs.ErrInvalid)
	}
	return nil
}

// splitPrefix cuts at the last slash: the folder ("" is the root) and the
// beginning of a name in it.
func splitPrefix(prefix string) (dir, last string) {
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		return prefix[:i], prefix[i+1:]
	}
	return "", prefix
}
