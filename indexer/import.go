package indexer

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"sessdex/harness"
	"sessdex/library"
)

// ImportOptions say what to import. The zero value takes every session of every
// harness on this machine.
type ImportOptions struct {
	Paths     []string       // files and folders; none: discover
	Harnesses []string       // only these; none: all
	DryRun    bool           // read and scrub, store nothing
	Progress  func(Progress) // told from one goroutine, often; may be nil

	// repair looks whether the library still has the bytes of what did not change.
	repair bool

	// quick trusts the import state without looking at the bucket: for a watcher
	// that has just imported everything.
	quick bool
}

// Import brings transcripts in. Files that did not change since they were last
// imported into this library are not read. A file that fails is reported and
// the rest goes on; the error is about the library or the index as a whole.
func (x *Indexer) Import(ctx context.Context, o ImportOptions) (*Report, error) {
	start := time.Now()
	rep, lost, err := x.importOnce(ctx, o)
	if err == nil && len(lost) > 0 {
		// The library lost what these sessions were made of. Where the files are
		// still there, they are read once more.
		var again int
		if again, err = x.state().forget(lost); err == nil && again > 0 {
			o.repair = true
			rep, _, err = x.importOnce(ctx, o)
		}
	}
	rep.settle()
	rep.TookMS = time.Since(start).Milliseconds()
	if err == nil && !o.DryRun && !o.quick {
		err = x.remember(rep)
	}
	return rep, err
}

// importOnce also names the sessions that the library could not give back.
func (x *Indexer) importOnce(ctx context.Context, o ImportOptions) (rep *Report, lost []string, err error) {
	rep = newReport()
	var cards []library.CardRef
	g, listing := errgroup.WithContext(ctx)
	if !o.DryRun && !o.quick {
		g.Go(func() (err error) {
			cards, err = x.cards(listing)
			return err
		})
	}
	found, asked := x.collect(o, rep)
	if err := g.Wait(); err != nil {
		return rep, nil, err
	}
	todo, err := x.changed(found, asked, known(cards, o.quick), rep)
	if err != nil {
		return rep, nil, err
	}
	if len(todo) > 0 {
		if err := x.importFiles(ctx, todo, asked, o, rep); err != nil {
			return rep, nil, err
		}
		cards = nil // no longer how they are
	}
	if o.DryRun || o.quick {
		return rep, nil, nil
	}
	synced, err := x.sync(ctx, syncOptions{cards: cards})
	if err != nil {
		return rep, nil, err
	}
	if err := x.relateSynced(ctx, synced, rep); err != nil {
		return rep, nil, err
	}
	rep.Synced = synced.Changed
	rep.Failures = append(rep.Failures, synced.Failures...)
	for _, f := range synced.Failures {
		lost = append(lost, f.Path)
	}
	return rep, lost, nil
}

// known reports which sessions the library has: those listed, or with trust all.
func known(cards []library.CardRef, trust bool) func(id string) bool {
	ids := make(map[string]bool, len(cards))
	for _, c := range cards {
		ids[c.ID] = true
	}
	return func(id string) bool { return trust || ids[id] }
}

// revision changes when the same bytes would be read differently.
func (x *Indexer) revision() string {
	return strconv.Itoa(harness.Revision) + "/" + x.Scrubber.Rules()
}

// changed drops the files that are as they were when last imported, and accounts
// for them.
func (x *Indexer) changed(found []harness.Source, asked map[string]bool, known func(id string) bool, rep *Report) ([]harness.Source, error) {
	var todo []harness.Source
	rev := x.revision()
	err := x.state().read(func(get func(string) (fileState, bool)) {
		for _, src := range found {
			was, ok := get(src.Key())
			switch {
			case !ok || was.Stamp != src.Stamp || was.Revision != rev:
				todo = append(todo, src)
			case was.ID == "" && asked[src.Path]:
				todo = append(todo, src) // whoever names a file wants to know about it
			case was.Skip != "":
				rep.skip(rep.file(src, was.Harness), src.Key(), was.Skip)
			case was.Fail != "":
				rep.fail(rep.file(src, was.Harness), src.Key(), was.Fail)
			case known(was.ID):
				row := rep.file(src, was.Harness)
				rep.session(row, library.Unchanged, was.ID, was.Turns)
				row.lost(was.Unknown, was.BadLines)
			default:
				todo = append(todo, src) // the bucket lost it, or is another one
			}
		}
	})
	return todo, err
}
