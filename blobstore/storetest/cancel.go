package storetest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sessdex/blobstore"
)

func wantCancelled(t *testing.T, how string, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) || errors.Is(err, blobstore.ErrUnavailable) {
		t.Errorf("%s with a cancelled context: %v, want context.Canceled", how, err)
	}
}

func testCancelledBefore(t *testing.T, s blobstore.Store) {
	put(t, s, "k", "stays", blobstore.Cond{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := s.Get(ctx, "k")
	wantCancelled(t, "Get", err)
	_, err = s.Stat(ctx, "k")
	wantCancelled(t, "Stat", err)
	_, err = s.Put(ctx, "k", strings.NewReader("x"), 1, blobstore.Cond{})
	wantCancelled(t, "Put", err)
	wantCancelled(t, "Delete", s.Delete(ctx, "k"))
	n := 0
	for _, err := range s.List(ctx, "") {
		n++
		wantCancelled(t, "List", err)
	}
	if n != 1 {
		t.Errorf("List with a cancelled context yields %d times, want one error", n)
	}
	wantText(t, s, "k", "stays")
}

func testCancelledGet(t *testing.T, s blobstore.Store) {
	put(t, s, "k", big(), blobstore.Cond{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, _, err := s.Get(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	n, err := io.Copy(io.Discard, r)
	wantCancelled(t, "Read", err)
	if n > 1<<20 {
		t.Errorf("read %d bytes after the context was cancelled", n)
	}
}

func testCancelledPut(t *testing.T, s blobstore.Store) {
	put(t, s, "there", "stays", blobstore.Cond{})
	text := big()
	for _, key := range []string{"new", "there"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := io.MultiReader(strings.NewReader(text[:1<<20]), callReader(cancel), strings.NewReader(text[1<<20:]))
		_, err := s.Put(ctx, key, r, int64(len(text)), blobstore.Cond{})
		wantCancelled(t, "Put", err)
	}
	wantGone(t, s, "new")
	wantText(t, s, "there", "stays")
	wantKeys(t, s, "", "there")
}

// callReader calls a function and ends.
type callReader func()

func (f callReader) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func testCancelledList(t *testing.T, s blobstore.Store) {
	for _, k := range []string{"a", "b", "c/d", "c/e"} {
		put(t, s, k, "x", blobstore.Cond{})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.List(ctx, "") {
		if n++; n == 2 {
			cancel()
		}
		last = err
	}
	wantCancelled(t, "List", last)
	if n != 3 {
		t.Errorf("a List that was cancelled at its second object yields %d times, want an error at the third", n)
	}
}
