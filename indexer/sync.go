package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sessdex/library"
	"sessdex/search"
)

// SyncReport is what Sync and Reindex did.
type SyncReport struct {
	Sessions int          `json:"sessions"` // in the bucket
	Changed  int          `json:"changed"`  // put into the index
	Removed  int          `json:"removed"`  // taken out of it
	Turns    int          `json:"turns"`    // put into the index
	Bytes    int64        `json:"bytes"`    // of transcripts read
	Failures []FileReason `json:"failures"` // sessions that could not be read; never nil
	TookMS   int64        `json:"took_ms"`

	put []string // ids of the sessions put into the index
}

// ErrEmptyLibrary means that a library which had sessions shows none. Sync leaves
// the index as it is; Reindex makes it empty, too.
var ErrEmptyLibrary = errors.New("is its disk or bucket there? If the sessions are really gone, run `sessdex reindex`")

// Sync brings the index in line with the bucket: sessions whose card the index
// has not seen are read and put in, those that are gone are taken out. It costs
// one listing when there is nothing to do. A missing index is built, and a damaged
// one built anew.
func (x *Indexer) Sync(ctx context.Context, progress func(Progress)) (*SyncReport, error) {
	return x.sync(ctx, syncOptions{progress: progress})
}

// settled is the age at which Follow takes a card up: whoever wrote a younger one
// on this machine is about to put it into the index itself.
const settled = 10 * time.Second

// Follow is Sync for a process that does it now and then beside others: it leaves
// alone what was written in the last seconds.
func (x *Indexer) Follow(ctx context.Context) (*SyncReport, error) {
	return x.sync(ctx, syncOptions{age: settled})
}

type syncOptions struct {
	age      time.Duration     // of cards that are left alone: below it
	cards    []library.CardRef // as they are listed just now; nil: to be listed
	progress func(Progress)
}

// cards lists the library's cards.
func (x *Indexer) cards(ctx context.Context) ([]library.CardRef, error) {
	all := []library.CardRef{}
	for ref, err := range x.Library.Cards(ctx) {
		if err != nil {
			return nil, err // an incomplete listing would look like removals
		}
		all = append(all, ref)
	}
	return all, nil
}

func (x *Indexer) sync(ctx context.Context, o syncOptions) (*SyncReport, error) {
	start := time.Now()
	rep := &SyncReport{Failures: []FileReason{}}
	seen, err := x.Index.Seen(ctx)
	switch {
	case errors.Is(err, search.ErrMissing):
		seen = map[string]string{}
	case errors.Is(err, search.ErrDamaged):
		x.Log.Warn("the index is damaged and is built anew", "err", err)
		return x.Reindex(ctx, o.progress)
	case err != nil:
		return rep, err
	}
	if o.cards == nil {
		if o.cards, err = x.cards(ctx); err != nil {
			return rep, err
		}
	}
	rep.Sessions = len(o.cards)
	var todo []library.CardRef
	for _, ref := range o.cards {
		if seen[ref.ID] != ref.Version && (o.age == 0 || start.Sub(ref.Time) >= o.age) {
			todo = append(todo, ref)
		}
		delete(seen, ref.ID)
	}
	if rep.Sessions == 0 && len(seen) > 0 {
		// A disk that is not mounted looks like this, too.
		return rep, fmt.Errorf("sync: %s holds no session, but the index has %d: %w", x.Library.Address(), len(seen), ErrEmptyLibrary)
	}
	if len(todo) == 0 && len(seen) == 0 {
		rep.TookMS = time.Since(start).Milliseconds()
		return rep, nil
	}
	w := x.Index.Writer()
	err = x.putAll(ctx, w, todo, rep, o.progress)
	for id := range seen {
		if err == nil {
			err = w.Delete(ctx, id)
			rep.Removed++
		}
	}
	err = cmp.Or(err, w.Close(ctx))
	rep.TookMS = time.Since(start).Milliseconds()
	return rep, err
}

// Reindex builds the index anew from the bucket, beside the old one, which
// answers until the new one is whole and takes its place.
func (x *Indexer) Reindex(ctx context.Context, progress func(Progress)) (*SyncReport, error) {
	start := time.Now()
	rep := &SyncReport{Failures: []FileReason{}}
	all, err := x.cards(ctx)
	if err != nil {
		return rep, err
	}
	rep.Sessions = len(all)
	err = x.Index.Rebuild(ctx, func(w *search.Writer) error {
		return x.putAll(ctx, w, all, rep, progress)
	})
	rep.TookMS = time.Since(start).Milliseconds()
	return rep, err
}

// loaded is a session read from the bucket, or why it could not be.
type loaded struct {
	id  string
	doc search.Document
	err error
}

// putAll reads sessions from the bucket and puts them into the index. One that
// cannot be read is reported and stays as it was.
func (x *Indexer) putAll(ctx context.Context, w *search.Writer, refs []library.CardRef, rep *SyncReport, progress func(Progress)) error {
	prog := Progress{Items: len(refs)}
	work := func(ctx context.Context, ref library.CardRef) loaded {
		doc, err := x.load(ctx, ref.ID)
		return loaded{ref.ID, doc, err}
	}
	return fan(ctx, x.workers(), refs, work, func(l loaded) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.err != nil {
			rep.Failures = append(rep.Failures, FileReason{l.id, l.err.Error()})
		} else {
			if err := w.Put(ctx, l.doc); err != nil {
				return err
			}
			rep.Changed++
			rep.put = append(rep.put, l.id)
			rep.Turns += ownTurns(l.doc.Card)
			rep.Bytes += l.doc.Card.Bytes
			prog.DoneBytes += l.doc.Card.Bytes
		}
		prog.Done++
		if progress != nil {
			progress(prog)
		}
		return nil
	})
}
