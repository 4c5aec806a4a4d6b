package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"sessdex/harness"
	"sessdex/library"
	"sessdex/search"
)

// How often the index and the import state are brought up to date, so that an
// interrupted import is not done over.
const flushEvery = 2 * time.Second

// imported is what became of one transcript.
type imported struct {
	src     harness.Source
	harness string
	saved   library.Saved
	reading *reading
	err     error
}

// importFiles reads transcripts with as many goroutines as there are workers, and
// has one of its own account for them and put them into the index.
func (x *Indexer) importFiles(ctx context.Context, todo []harness.Source, asked map[string]bool, o ImportOptions, rep *Report) error {
	in, err := x.indexed(ctx, o)
	if err != nil {
		return err
	}
	s := sink{
		x: x, o: o, rep: rep, asked: asked, in: in, w: x.Index.Writer(), revision: x.revision(),
		states: map[string]fileState{}, flushed: time.Now(), progress: Progress{Items: len(todo)},
	}
	for _, src := range todo {
		s.progress.Bytes += src.Size
	}
	work := func(ctx context.Context, src harness.Source) imported {
		return x.importFile(ctx, src, o, func(n int) { s.bytes.Add(int64(n)) })
	}
	err = fan(ctx, x.workers(), todo, work, func(f imported) error { return s.take(ctx, f) })
	if o.DryRun {
		return err
	}
	if err == nil || errors.Is(err, context.Canceled) {
		// What was done before a person stopped it stays done.
		err = cmp.Or(err, s.flush(context.WithoutCancel(ctx)))
	}
	return cmp.Or(err, s.w.Close(context.WithoutCancel(ctx)))
}

// indexed says which card version of each session the index has. A damaged index
// is built anew first; a missing one has none.
func (x *Indexer) indexed(ctx context.Context, o ImportOptions) (map[string]string, error) {
	if o.DryRun {
		return nil, nil
	}
	in, err := x.Index.Seen(ctx)
	if errors.Is(err, search.ErrDamaged) {
		if _, err = x.Sync(ctx, nil); err == nil {
			in, err = x.Index.Seen(ctx)
		}
	}
	if errors.Is(err, search.ErrMissing) {
		return nil, nil
	}
	return in, err
}

// sink takes what the workers made, one transcript at a time.
type sink struct {
	x        *Indexer
	o        ImportOptions
	rep      *Report
	asked    map[string]bool
	in       map[string]string // card versions in the index, by session
	w        *search.Writer
	revision string
	states   map[string]fileState // not yet written
	flushed  time.Time
	progress Progress
	bytes    atomic.Int64 // read by the workers so far
}

func (s *sink) take(ctx context.Context, f imported) error {
	defer f.reading.Close()
	s.rep.Parsed++
	if err := ctx.Err(); err != nil {
		return err
	}
	if fatal(f.err) {
		return f.err
	}
	st := fileState{Stamp: f.src.Stamp, Revision: s.revision, Harness: f.harness}
	row, asked := s.rep.file(f.src, f.harness), s.asked[f.src.Path]
	if f.err == nil {
		st.ID, st.Turns = f.saved.Card.ID, ownTurns(f.saved.Card)
		s.rep.session(row, f.saved.Outcome, st.ID, st.Turns)
		st.Unknown, st.BadLines = f.reading.meta.Unknown, f.reading.meta.BadLines
		row.lost(st.Unknown, st.BadLines)
		for rule, n := range f.reading.card.Secrets {
			s.rep.Secrets[rule] += n
		}
		if err := s.index(ctx, f); err != nil {
			return err
		}
	} else {
		s.rep.refuse(row, f.src.Key(), f.err, asked)
		why := reason(f.err, f.src.Path, false)
		switch {
		case errors.Is(f.err, harness.ErrDamaged), errors.Is(f.err, library.ErrCardSize):
			st.Fail = why
		case passedOver(f.err, false):
			st.Skip = why
		}
	}
	if st.lasting() && !errors.Is(f.err, errOthers) {
		s.states[f.src.Key()] = st
	}
	s.progress.Done++
	s.progress.DoneBytes = s.bytes.Load()
	if s.o.Progress != nil {
		s.o.Progress(s.progress)
	}
	if time.Since(s.flushed) > flushEvery {
		return s.flush(ctx)
	}
	return nil
}

// index puts a session into the index, unless it is there as it is.
func (s *sink) index(ctx context.Context, f imported) error {
	if s.o.DryRun || !f.saved.Current || s.in[f.saved.Card.ID] == f.saved.CardVersion {
		return nil
	}
	return s.w.Put(ctx, search.Document{Card: f.saved.Card, CardVersion: f.saved.CardVersion, Turns: f.reading.turns})
}

// flush writes what was done so far: first the index, then what that tells of
// sessions that are copies of each other, then that it was done.
func (s *sink) flush(ctx context.Context) error {
	if s.o.DryRun {
		return nil
	}
	if err := s.w.Flush(ctx); err != nil {
		return err
	}
	own, err := s.x.relate(ctx, s.w, idsOf(s.states))
	if err != nil {
		return err
	}
	s.rep.recount(own)
	err = cmp.Or(s.x.state().write(s.states), s.x.state().recount(own))
	clear(s.states)
	s.flushed = time.Now()
	return err
}

// fatal errors are about the library as a whole, not about one file.
func fatal(err error) bool {
	return errors.Is(err, errLibrary) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

var errLibrary = errors.New("the library cannot be written")

// importFile takes one transcript into the library. seen is told of bytes as they
// are read.
func (x *Indexer) importFile(ctx context.Context, src harness.Source, o ImportOptions, seen func(int)) imported {
	f := imported{src: src, harness: nobody}
	f.reading = &reading{}
	f.err = x.read(ctx, f.reading, src, seen)
	switch {
	case f.reading.harness != nil:
		f.harness = f.reading.harness.Name
	case src.Harness != nil:
		f.harness = src.Harness.Name
	}
	if f.err != nil {
		return f
	}
	if len(o.Harnesses) > 0 && !slices.Contains(o.Harnesses, f.harness) {
		f.err = fmt.Errorf("%w: it is of %s", errOthers, f.harness)
		return f
	}
	if o.DryRun {
		f.saved = library.Saved{Card: f.reading.card}
		if f.saved.Outcome, f.err = x.Library.Would(ctx, f.reading.draft, f.reading.card); f.err != nil {
			f.err = fmt.Errorf("%w: %w", errLibrary, f.err)
		}
		return f
	}
	f.saved, f.err = x.Library.Save(ctx, f.reading.draft, f.reading.card, x.compare(f.reading))
	if f.err == nil && o.repair && f.saved.Outcome == library.Unchanged && f.saved.Current {
		f.err = x.Library.Repair(ctx, f.reading.draft, f.saved.Card)
	}
	if f.err != nil && !errors.Is(f.err, library.ErrNewerCard) && !errors.Is(f.err, library.ErrCardSize) {
		f.err = fmt.Errorf("%w: %w", errLibrary, f.err)
	}
	f.reading.draft.Close()
	return f
}
