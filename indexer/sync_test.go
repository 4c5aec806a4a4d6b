package indexer_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sessdex/blobstore"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/session"
)

func TestIndexIsAView(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	before := m.find(t, "")
	m.Index.Close()
	if err := os.RemoveAll(filepath.Join(m.data, "index")); err != nil {
		t.Fatal(err)
	}
	rep, err := m.Sync(ctx, nil)
	if err != nil || rep.Changed != 2 {
		t.Fatalf("sync without an index: %+v, %v", rep, err)
	}
	if got := m.find(t, ""); !slices.Equal(got, before) {
		t.Errorf("after sync %v, before %v", got, before)
	}
	rep, err = m.Sync(ctx, nil)
	if err != nil || rep.Changed+rep.Removed != 0 {
		t.Errorf("sync with nothing to do: %+v, %v", rep, err)
	}
	var told indexer.Progress
	rep, err = m.Reindex(ctx, func(p indexer.Progress) { told = p })
	if err != nil || rep.Changed != 2 || rep.Turns != 3 || told.Done != 2 {
		t.Errorf("reindex: %+v, %v, progress %+v", rep, err, told)
	}
	if got := m.find(t, ""); !slices.Equal(got, before) {
		t.Errorf("after reindex %v, before %v", got, before)
	}
}

// A damaged index is built anew by whoever next brings something in.
func TestDamagedIndexIsRebuilt(t *testing.T) {
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	damage := func() {
		m.Index.Close()
		bolts := 0
		filepath.WalkDir(filepath.Join(m.data, "index"), func(p string, d fs.DirEntry, err error) error {
			if filepath.Base(p) == "root.bolt" {
				bolts++
				os.Remove(p)
			}
			return nil
		})
		if bolts == 0 {
			t.Fatal("found nothing to damage")
		}
	}
	damage()
	m.imp(t, indexer.ImportOptions{}) // nothing to import, but to mend
	if got := m.find(t, "zeppelin"); len(got) != 1 {
		t.Errorf("after an import that found the index damaged: %v", got)
	}
	damage()
	m.write(t, claudeFile, claude(claudeID, "make the zeppelin fly", "past the obelisk"))
	m.imp(t, indexer.ImportOptions{})
	if got := m.find(t, "obelisk"); len(got) != 1 {
		t.Errorf("after an import into a damaged index: %v", got)
	}
	if got := m.find(t, "gondola"); len(got) != 1 {
		t.Errorf("the session beside it: %v", got)
	}
}

// What another machine wrote to the bucket arrives by Sync, and what was removed
// there goes.
func TestSyncFollowsTheBucket(t *testing.T) {
	ctx := context.Background()
	a := populated(t)
	b := onStore(t, a.store)
	a.imp(t, indexer.ImportOptions{})
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Changed != 2 {
		t.Fatalf("sync of the other machine: %+v, %v", rep, err)
	}
	id := session.NewID("ann", "claude-code", claudeID)
	if _, err := a.Tag(ctx, id, []string{"#Airship"}, nil); err != nil {
		t.Fatal(err)
	}
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Changed != 1 {
		t.Errorf("sync after a tag: %+v, %v", rep, err)
	}
	if got := b.find(t, "tag:airship"); !slices.Equal(got, []string{claudeID}) {
		t.Errorf("tag:airship finds %v there", got)
	}
	if err := a.Remove(ctx, id); err != nil {
		t.Fatal(err)
	}
	if rep, err := b.Sync(ctx, nil); err != nil || rep.Removed != 1 {
		t.Errorf("sync after a removal: %+v, %v", rep, err)
	}
	if got := b.find(t, "zeppelin"); len(got) != 0 {
		t.Errorf("a removed session is found: %v", got)
	}
}

// aged is a store whose clock says that everything was written a while ago.
type aged struct {
	blobstore.Store
	by time.Duration
}

func (a aged) List(ctx context.Context, prefix string) iter.Seq2[blobstore.Info, error] {
	return func(yield func(blobstore.Info, error) bool) {
		for info, err := range a.Store.List(ctx, prefix) {
			info.Time = info.Time.Add(-a.by)
			if !yield(info, err) {
				return
			}
		}
	}
}

// A server beside an import does not do its work a second time.
func TestFollowLeavesFreshCardsToTheirWriter(t *testing.T) {
	ctx := t.Context()
	a := populated(t)
	b := onStore(t, a.store)
	a.imp(t, indexer.ImportOptions{})
	if rep, err := b.Follow(ctx); err != nil || rep.Sessions != 2 || rep.Changed != 0 {
		t.Errorf("at once: %+v, %v", rep, err)
	}
	b.Library = library.New(aged{a.store, time.Minute}, "ws")
	if rep, err := b.Follow(ctx); err != nil || rep.Changed != 2 {
		t.Errorf("a minute later: %+v, %v", rep, err)
	}
}

// A library that shows nothing at all is rather not there than emptied.
func TestSyncDoesNotTakeAnAbsentLibraryForAnEmptyOne(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	m.Library = library.New(blobstore.NewMemory(), "ws")
	if _, err := m.Sync(ctx, nil); !errors.Is(err, indexer.ErrEmptyLibrary) {
		t.Errorf("sync with nothing in the library: %v", err)
	}
	if got := m.find(t, "zeppelin"); len(got) != 1 {
		t.Errorf("after it zeppelin finds %v", got)
	}
	if rep, err := m.Reindex(ctx, nil); err != nil || rep.Sessions != 0 {
		t.Errorf("reindex: %+v, %v", rep, err)
	}
	if got := m.find(t, "zeppelin"); len(got) != 0 {
		t.Errorf("after a reindex zeppelin finds %v", got)
	}
}

func TestSyncReportsWhatItCannotRead(t *testing.T) {
	ctx := context.Background()
	m := populated(t)
	m.imp(t, indexer.ImportOptions{})
	other := onStore(t, m.store)
	card, _, err := m.Library.Card(ctx, session.NewID("ann", "claude-code", claudeID))
	if err != nil {
		t.Fatal(err)
	}
	key := "ws/transcripts/" + card.ID + "/" + card.Version + ".zst"
	if _, err := m.store.Put(ctx, key, strings.NewReader("rot"), 3, blobstore.Cond{}); err != nil {
		t.Fatal(err)
	}
	rep, err := other.Sync(ctx, nil)
	if err != nil || rep.Changed != 1 || len(rep.Failures) != 1 || rep.Failures[0].Path != card.ID {
		t.Errorf("sync with a damaged transcript: %+v, %v", rep, err)
	}
	if got := other.find(t, "gondola"); len(got) != 1 {
		t.Errorf("the session beside it finds %v", got)
	}
}
