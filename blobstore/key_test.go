package blobstore

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzCheckKey holds keys to what the stores rely on: an accepted key is a clean
// path below the root and everything it begins with may be listed.
func FuzzCheckKey(f *testing.F) {
	for _, s := range []string{"a", "ws/cards/x.json", "..", "a/../b", "/a", "a/", ".x/..y/...", "A", "\x00", "a\\b", "é", "+sessdex/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if err := CheckKey(key); err != nil {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%q is refused without fs.ErrInvalid: %v", key, err)
			}
			return
		}
		if path.Clean(key) != key || path.IsAbs(key) || !fs.ValidPath(key) || !filepath.IsLocal(key) {
			t.Errorf("%q is accepted and is no clean path", key)
		}
		if key == ownDir || strings.HasPrefix(key, ownDir+"/") {
			t.Errorf("%q is accepted and is the directory store's own", key)
		}
		for i := range key {
			_, last := splitPrefix(key[:i])
			if err := checkPrefix(key[:i]); err != nil && last != "." && last != ".." {
				t.Errorf("%q is accepted and its beginning is not: %v", key, err)
			}
		}
	})
}

// FuzzSums feeds the record of sums, a file that a crash or a person may have
// changed.
func FuzzSums(f *testing.F) {
	good := sumFile{{strings.Repeat("0a", 32), 12, 1234567890}, {strings.Repeat("ff", 32), 0, -5}}
	f.Add(good.encode())
	f.Add(good.encode()[:100])
	f.Add([]byte("\n \n" + strings.Repeat("x", 64) + " 1 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := parseSums(data)
		again := parseSums(read.encode())
		if len(again) != len(read) {
			t.Fatalf("%d records became %d", len(read), len(again))
		}
		for i := range read {
			if read[i] != again[i] || read[i].size < 0 || len(read[i].sum) != 64 {
				t.Errorf("record %d: %+v became %+v", i, read[i], again[i])
			}
		}
	})
}

func TestTornSums(t *testing.T) {
	whole := sumFile{{strings.Repeat("0a", 32), 12, 100}, {strings.Repeat("0b", 32), 13, 200}}
	data := whole.encode()
	for cut := range data {
		read := parseSums(data[:cut])
		for i, r := range read {
			if r != whole[i] {
				t.Fatalf("cut at %d: record %d is %+v", cut, i, r)
			}
		}
	}
	if got := parseSums(data); len(got) != 2 {
		t.Errorf("read %d records of 2", len(got))
	}
}
