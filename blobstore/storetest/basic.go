package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"sessdex/blobstore"
)

// big is longer than any buffer on the way.
func big() string {
	data := make([]byte, 5<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return string(data)
}

func testRoundTrip(t *testing.T, s blobstore.Store) {
	for key, text := range map[string]string{
		"a": "one byte key", "ws/cards/0123456789ab.json": `{"schema":1}`, "empty": "", "big": big(),
		"odd/.hidden/..x/a-b_c.d": "every character that a key may have", strings.Repeat("k", 200): "a long name",
	} {
		info := put(t, s, key, text, blobstore.Cond{})
		wantText(t, s, key, text)
		_, got := get(t, s, key)
		stat, err := s.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		for how, i := range map[string]blobstore.Info{"Get": got, "Stat": stat} {
			if i.Key != key || i.Size != int64(len(text)) || i.Version != info.Version {
				t.Errorf("%s says %+v and Put said %+v", how, i, info)
			}
			if d := i.Time.Sub(info.Time).Abs().Seconds(); d > 2 {
				t.Errorf("%s says %s was written %v s away from what Put said", how, short(key), d)
			}
		}
		for listed := range s.List(t.Context(), key) {
			if listed.Version != info.Version || listed.Size != info.Size {
				t.Errorf("List says %+v and Put said %+v", listed, info)
			}
		}
	}
}

func testOverwrite(t *testing.T, s blobstore.Store) {
	one := put(t, s, "k", "first text", blobstore.Cond{})
	two := put(t, s, "k", "other text", blobstore.Cond{})
	if one.Version == two.Version {
		t.Error("two texts have one version")
	}
	wantText(t, s, "k", "other text")
	put(t, s, "k", "short", blobstore.Cond{})
	wantText(t, s, "k", "short")
}

func testNotThere(t *testing.T, s blobstore.Store) {
	wantGone(t, s, "nothing/here")
	put(t, s, "dir/file", "x", blobstore.Cond{})
	wantGone(t, s, "dir")        // a folder is no object
	wantGone(t, s, "dir/fil")    // nor is a beginning
	wantGone(t, s, "dir/file/x") // nor what is below one
	wantKeys(t, s, "dir/file/")
}

func testDelete(t *testing.T, s blobstore.Store) {
	if err := s.Delete(t.Context(), "never/was"); err != nil {
		t.Errorf("Delete of what is not there: %v", err)
	}
	put(t, s, "a/b/c", "1", blobstore.Cond{})
	put(t, s, "a/b/d", "2", blobstore.Cond{})
	for range 2 {
		if err := s.Delete(t.Context(), "a/b/c"); err != nil {
			t.Fatal(err)
		}
		wantGone(t, s, "a/b/c")
	}
	wantKeys(t, s, "", "a/b/d")
	if err := s.Delete(t.Context(), "a/b/d"); err != nil {
		t.Fatal(err)
	}
	wantKeys(t, s, "")
	put(t, s, "a/b", "a folder's name is free when the folder is empty", blobstore.IfAbsent())
}

func testBadKeys(t *testing.T, s blobstore.Store) {
	bad := []string{
		"", "/", "/abs", "a//b", "a/", ".", "..", "../x", "a/../b", "a/./b", "A", "a b", "a\\b", "a\x00b", "ä", "a:b", "+sessdex/tmp/x",
		"%2e%2e/x", "a?x", "a*", strings.Repeat("k", 513), "a\n",
	}
	for _, key := range bad {
		_, _, gerr := s.Get(t.Context(), key)
		_, perr := s.Put(t.Context(), key, strings.NewReader("x"), 1, blobstore.Cond{})
		_, serr := s.Stat(t.Context(), key)
		for how, err := range map[string]error{"Get": gerr, "Put": perr, "Stat": serr, "Delete": s.Delete(t.Context(), key)} {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s(%q): %v, want fs.ErrInvalid", how, key, err)
			}
		}
	}
	for _, prefix := range []string{"/", "/abs", "a//b", ".", "..", "a/.", "../", "../x", "a/../b", "A", "a b", "\x00"} {
		n := 0
		for info, err := range s.List(t.Context(), prefix) {
			if n++; !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("List(%q) yields %v, %v, want fs.ErrInvalid", prefix, info, err)
			}
		}
		if n != 1 {
			t.Errorf("List(%q) yields %d times, want one error", prefix, n)
		}
	}
	wantKeys(t, s, "")
}

func testWrongSize(t *testing.T, s blobstore.Store) {
	put(t, s, "there", "stays", blobstore.Cond{})
	for _, text := range []string{"12345", big()} {
		for _, off := range []int64{-1, 1, -int64(len(text)), 1 << 30, -int64(len(text)) - 1} {
			size := int64(len(text)) + off
			for _, key := range []string{"new", "there"} {
				for name, r := range readers(text) {
					if _, err := s.Put(t.Context(), key, r, size, blobstore.Cond{}); err == nil {
						t.Errorf("Put of %d bytes as %d from a %s: no error", len(text), size, name)
					} else if errors.Is(err, blobstore.ErrUnavailable) || errors.Is(err, blobstore.ErrLostRace) {
						t.Errorf("Put of %d bytes as %d from a %s blames the store: %v", len(text), size, name, err)
					}
				}
			}
		}
	}
	wantGone(t, s, "new")
	wantText(t, s, "there", "stays")
}

// readers gives a text from a reader that can seek and from one that cannot.
func readers(text string) map[string]io.Reader {
	return map[string]io.Reader{
		"seeker": bytes.NewReader([]byte(text)),
		"stream": iotest.OneByteReader(bytes.NewReader([]byte(text[:min(len(text), 1000)]))),
		"buffer": bytes.NewBufferString(text),
	}
}

func testFailingReader(t *testing.T, s blobstore.Store) {
	broken := errors.New("the source broke")
	for _, n := range []int{0, 10, 1 << 20} {
		r := io.MultiReader(strings.NewReader(strings.Repeat("x", n)), iotest.ErrReader(broken))
		_, err := s.Put(t.Context(), "k", r, int64(n)+10, blobstore.Cond{})
		if !errors.Is(err, broken) || errors.Is(err, blobstore.ErrUnavailable) {
			t.Errorf("Put from a reader that breaks after %d bytes: %v", n, err)
		}
	}
	wantGone(t, s, "k")
}

func testSeekers(t *testing.T, s blobstore.Store) {
	r := strings.NewReader("skipped, and then stored")
	if _, err := r.Seek(9, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "k", r, int64(r.Len()), blobstore.Cond{}); err != nil {
		t.Fatal(err)
	}
	wantText(t, s, "k", "and then stored")

	// One stream longer than what is kept in memory for a second try.
	text := big()
	if _, err := s.Put(t.Context(), "k", io.MultiReader(strings.NewReader(text)), int64(len(text)), blobstore.Cond{}); err != nil {
		t.Fatal(err)
	}
	wantText(t, s, "k", text)
}

func testList(t *testing.T, s blobstore.Store) {
	keys := []string{"a-b", "a.b", "a/b", "a/b-c", "a/c/d", "a_b", "ab.c/d", "ab/c", "abc", "z"}
	for _, i := range rand.Perm(len(keys)) {
		put(t, s, keys[i], keys[i], blobstore.Cond{})
	}
	if !slices.IsSorted(keys) {
		t.Fatal("the test's keys are out of order")
	}
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b-", "a/c/", "a/c/d", "ab", "ab/", "ab.", "b", "a/c/d/e", "zz", ".x"} {
		want := []string{}
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) {
				want = append(want, k)
			}
		}
		wantKeys(t, s, prefix, want...)
	}
}

// testListMany passes the thousand keys that S3 lists at a time.
func testListMany(t *testing.T, s blobstore.Store) {
	var want []string
	for i := range 1050 {
		want = append(want, fmt.Sprintf("many/%04d", i))
	}
	parallel(8, func(worker int) {
		for i := worker; i < len(want); i += 8 {
			if _, err := s.Put(t.Context(), want[i], strings.NewReader("x"), 1, blobstore.IfAbsent()); err != nil {
				t.Error(err)
			}
		}
	})
	wantKeys(t, s, "many/", want...)
	wantKeys(t, s, "many/099", want[990:1000]...)
}

func testListStops(t *testing.T, s blobstore.Store) {
	for _, k := range []string{"a", "b/c", "d"} {
		put(t, s, k, "x", blobstore.Cond{})
	}
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range s.List(t.Context(), "") { // yielding after false panics
			if n++; n == stop {
				break
			}
		}
	}
}

func testDamage(t *testing.T, s blobstore.Store, damage func(*testing.T, blobstore.Store, string)) {
	for _, text := range []string{"some words", big()} {
		put(t, s, "sound", text, blobstore.Cond{})
		put(t, s, "hurt", text, blobstore.Cond{})
		damage(t, s, "hurt")
		wantText(t, s, "sound", text)
		r, _, err := s.Get(t.Context(), "hurt")
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		if !errors.Is(err, blobstore.ErrDamaged) {
			t.Errorf("Get of %d damaged bytes: %v, want ErrDamaged", len(text), err)
		}
		put(t, s, "hurt", "healed", blobstore.Cond{})
		wantText(t, s, "hurt", "healed")
	}
}
