// Package storetest is the suite that every blobstore.Store passes. It knows
// nothing of how a store works: an implementation, or a decorator around one,
// gives it stores and, where it can, a way to damage an object behind a store's
// back.
package storetest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"sessdex/blobstore"
)

// Test runs the suite. open returns an empty store of its own for each test,
// and arranges for its end with t.Cleanup. damage changes a byte of an object's
// content where the store keeps it, leaving its length and all that was recorded
// of it; nil skips what needs it.
func Test(t *testing.T, open func(t *testing.T) blobstore.Store, damage func(t *testing.T, s blobstore.Store, key string)) {
	tests := []struct {
		name string
		run  func(t *testing.T, s blobstore.Store)
	}{
		{"round trip", testRoundTrip},
		{"overwrite", testOverwrite},
		{"not there", testNotThere},
		{"delete", testDelete},
		{"bad keys", testBadKeys},
		{"wrong size", testWrongSize},
		{"failing reader", testFailingReader},
		{"readers that can seek", testSeekers},
		{"list", testList},
		{"list many", testListMany},
		{"list stops", testListStops},
		{"create once", testCreate},
		{"replace", testReplace},
		{"race to create", testRaceCreate},
		{"race to replace", testRaceReplace},
		{"count together", testCount},
		{"readers beside a writer", testReadersBesideWriter},
		{"cancelled before", testCancelledBefore},
		{"cancelled get", testCancelledGet},
		{"cancelled put", testCancelledPut},
		{"cancelled list", testCancelledList},
		{"probe", func(t *testing.T, s blobstore.Store) {
			if err := blobstore.Probe(t.Context(), s); err != nil {
				t.Error(err)
			}
			wantKeys(t, s, "")
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("as a map would", func(t *testing.T) { testModel(t, open) })
	t.Run("damage is found", func(t *testing.T) {
		if damage == nil {
			t.Skip("this store gives no way to damage an object")
		}
		testDamage(t, open(t), damage)
	})
}

func put(t *testing.T, s blobstore.Store, key, text string, cond blobstore.Cond) blobstore.Info {
	t.Helper()
	info, err := s.Put(t.Context(), key, strings.NewReader(text), int64(len(text)), cond)
	if err != nil {
		t.Fatalf("Put(%s): %v", key, err)
	}
	if info.Key != key || info.Size != int64(len(text)) || info.Version == "" || info.Time.IsZero() {
		t.Fatalf("Put(%s) = %+v: something is missing", key, info)
	}
	return info
}

func get(t *testing.T, s blobstore.Store, key string) (string, blobstore.Info) {
	t.Helper()
	text, info, err := read(t, s, key)
	if err != nil {
		t.Fatal(err)
	}
	return text, info
}

// read is get for any goroutine.
func read(t *testing.T, s blobstore.Store, key string) (string, blobstore.Info, error) {
	r, info, err := s.Get(t.Context(), key)
	if err != nil {
		return "", info, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), info, err
}

func wantText(t *testing.T, s blobstore.Store, key, want string) {
	t.Helper()
	if got, _ := get(t, s, key); got != want {
		t.Errorf("Get(%s) = %s, want %s", key, short(got), short(want))
	}
}

// wantGone checks that a key has no object, by every way to look.
func wantGone(t *testing.T, s blobstore.Store, key string) {
	t.Helper()
	if _, _, err := s.Get(t.Context(), key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get(%s): %v, want fs.ErrNotExist", key, err)
	}
	if _, err := s.Stat(t.Context(), key); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat(%s): %v, want fs.ErrNotExist", key, err)
	}
	for info, err := range s.List(t.Context(), key) {
		if err != nil || info.Key == key {
			t.Errorf("List(%s) yields %v, %v", key, info.Key, err)
		}
	}
}

func wantKeys(t *testing.T, s blobstore.Store, prefix string, want ...string) {
	t.Helper()
	got := []string{}
	for info, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("List(%q): %v", prefix, err)
		}
		got = append(got, info.Key)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("List(%q)\n got %q\nwant %q", prefix, got, want)
	}
}

func short(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q… (%d bytes)", s[:60], len(s))
	}
	return fmt.Sprintf("%q", s)
}
