package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sessdex/blobstore"
)

func parallel(n int, f func(worker int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func wantLost(t *testing.T, s blobstore.Store, key string, cond blobstore.Cond) {
	t.Helper()
	for name, r := range readers("the loser's text") {
		_, err := s.Put(t.Context(), key, r, 16, cond)
		if !errors.Is(err, blobstore.ErrLostRace) {
			t.Errorf("Put(%s) from a %s: %v, want ErrLostRace", key, name, err)
		}
	}
}

func testCreate(t *testing.T, s blobstore.Store) {
	put(t, s, "k", "first", blobstore.IfAbsent())
	wantLost(t, s, "k", blobstore.IfAbsent())
	wantText(t, s, "k", "first")
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "again", blobstore.IfAbsent())
	put(t, s, "empty", "", blobstore.IfAbsent())
	wantLost(t, s, "empty", blobstore.IfAbsent())
}

func testReplace(t *testing.T, s blobstore.Store) {
	wantLost(t, s, "k", blobstore.IfVersion("0123456789abcdef0123456789abcdef"))
	wantGone(t, s, "k")
	one := put(t, s, "k", "one", blobstore.Cond{})
	wantLost(t, s, "k", blobstore.IfVersion("0123456789abcdef0123456789abcdef"))
	wantLost(t, s, "k", blobstore.IfVersion("")) // a version that was forgotten
	two := put(t, s, "k", "two", blobstore.IfVersion(one.Version))
	wantLost(t, s, "k", blobstore.IfVersion(one.Version))
	wantText(t, s, "k", "two")
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	wantLost(t, s, "k", blobstore.IfVersion(two.Version))
	wantGone(t, s, "k")
}

// racers is how many writers want one key at once.
const racers = 50

func testRaceCreate(t *testing.T, s blobstore.Store) {
	for _, text := range []string{"", "one text for all"} { // own text for each, then the same bytes
		key := "create/" + strconv.Itoa(len(text))
		winner := race(t, s, key, text, blobstore.IfAbsent())
		wantText(t, s, key, winner)
	}
}

func testRaceReplace(t *testing.T, s blobstore.Store) {
	info := put(t, s, "k", "before", blobstore.IfAbsent())
	winner := race(t, s, "k", "", blobstore.IfVersion(info.Version))
	wantText(t, s, "k", winner)
}

// race lets all writers put at once and returns what the only winner wrote.
func race(t *testing.T, s blobstore.Store, key, text string, cond blobstore.Cond) string {
	t.Helper()
	var mu sync.Mutex
	var winners []string
	start := make(chan struct{})
	go close(start)
	parallel(racers, func(i int) {
		mine := text
		if mine == "" {
			mine = fmt.Sprintf("writer %02d", i)
		}
		<-start
		_, err := s.Put(t.Context(), key, strings.NewReader(mine), int64(len(mine)), cond)
		switch {
		case err == nil:
			mu.Lock()
			winners = append(winners, mine)
			mu.Unlock()
		case !errors.Is(err, blobstore.ErrLostRace):
			t.Errorf("writer %d: %v, want ErrLostRace", i, err)
		}
	})
	if len(winners) != 1 {
		t.Fatalf("%d of %d writers won: %q", len(winners), racers, winners)
	}
	return winners[0]
}

// testCount is what conditions are for: read, change, write back, and read
// again when someone else was first. No addition may be lost.
func testCount(t *testing.T, s blobstore.Store) {
	const workers, each = 4, 5
	put(t, s, "n", "0", blobstore.IfAbsent())
	parallel(workers, func(int) {
		for done := 0; done < each; {
			text, info, err := read(t, s, "n")
			n, aerr := strconv.Atoi(text)
			if err != nil || aerr != nil {
				t.Errorf("read %q: %v", text, err)
				return
			}
			next := strconv.Itoa(n + 1)
			_, err = s.Put(t.Context(), "n", strings.NewReader(next), int64(len(next)), blobstore.IfVersion(info.Version))
			switch {
			case err == nil:
				done++
			case !errors.Is(err, blobstore.ErrLostRace):
				t.Error(err)
				return
			}
		}
	})
	wantText(t, s, "n", strconv.Itoa(workers*each))
}

// testReadersBesideWriter checks that a reader sees one object, whole, however
// often it is replaced under it.
func testReadersBesideWriter(t *testing.T, s blobstore.Store) {
	text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 200_000+i) }
	put(t, s, "k", text(0), blobstore.Cond{})
	parallel(3, func(worker int) {
		for i := range 10 {
			if worker == 0 {
				_, err := s.Put(t.Context(), "k", strings.NewReader(text(i)), int64(200_000+i), blobstore.Cond{})
				if err != nil {
					t.Error(err)
				}
				continue
			}
			got, info, err := read(t, s, "k")
			if err != nil {
				t.Error(err)
			} else if want := text(len(got) - 200_000); got != want || info.Size != int64(len(got)) {
				t.Errorf("a reader saw a mix of two objects: %d bytes, %s", len(got), short(got))
			}
		}
	})
}
