package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sessdex/harness"
	"sessdex/library"
	"sessdex/search"
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

// How often the index and the import state are brought up to date, so that an
// interrupted import is not done over.
const flushEvery = 2 * time.Second

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
	return rep, err
}

// importOnce also names the sessions that the library could not give back.
func (x *Indexer) importOnce(ctx context.Context, o ImportOptions) (rep *Report, lost []string, err error) {
	rep = newReport()
	found := x.collect(o, rep)
	known := map[string]bool{}
	if !o.DryRun && !o.quick {
		for ref, err := range x.Library.Cards(ctx) {
			if err != nil {
				return rep, nil, err
			}
			known[ref.ID] = true
		}
	}
	todo, err := x.changed(found, func(id string) bool { return o.quick || known[id] }, rep)
	if err != nil {
		return rep, nil, err
	}
	if len(todo) > 0 {
		if err := x.importFiles(ctx, todo, o, rep); err != nil {
			return rep, nil, err
		}
	}
	if o.DryRun || o.quick {
		return rep, nil, nil
	}
	synced, err := x.Sync(ctx, nil)
	if err != nil {
		return rep, nil, err
	}
	rep.Synced = synced.Changed
	rep.Failures = append(rep.Failures, synced.Failures...)
	for _, f := range synced.Failures {
		lost = append(lost, f.Path)
	}
	return rep, lost, nil
}

// collect lists the files to import, by path.
func (x *Indexer) collect(o ImportOptions, rep *Report) []harness.Source {
	var found []harness.Source
	take := func(s harness.Source) { found = append(found, s) }
	if len(o.Paths) > 0 {
		for _, p := range o.Paths {
			x.collectPath(p, take, rep)
		}
	} else {
		for _, h := range harness.All {
			if len(o.Harnesses) > 0 && !slices.Contains(o.Harnesses, h.Name) {
				continue
			}
			harness.Discover(h, x.Env, take, func(p harness.Problem) {
				rep.problem(p.Harness, filepath.Dir(p.Path), p.Path, p.Err)
			})
		}
	}
	slices.SortFunc(found, func(a, b harness.Source) int { return strings.Compare(a.Key(), b.Key()) })
	return slices.CompactFunc(found, func(a, b harness.Source) bool { return a.Key() == b.Key() })
}

// errPart is the outcome of a file whose words come with another file.
var errPart = errors.New("part of a session that is counted at another file")

// collectPath takes what a file leads to, or every file below a folder.
func (x *Indexer) collectPath(path string, take func(harness.Source), rep *Report) {
	fail := func(p string, err error) { rep.problem("unknown", path, p, err) }
	one := func(p string, asked bool) {
		srcs, carrier, err := harness.Sources(p)
		switch {
		case carrier != p && !asked:
			fail(p, errPart)
		case err != nil && asked && !errors.Is(err, harness.ErrNoSession):
			row := rep.source("unknown", path)
			row.Files++
			rep.fail(row, p, reason(err, p))
		case err != nil:
			fail(p, err)
		}
		if err != nil || carrier != p && !asked {
			return
		}
		for _, src := range srcs {
			src.Root = path
			take(src)
		}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		row := rep.source("unknown", path)
		row.Files++
		rep.fail(row, path, reason(err, path))
	case !info.IsDir():
		abs, err := filepath.Abs(path)
		if err != nil {
			fail(path, err)
			return
		}
		one(abs, true)
	default:
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			fail(path, err)
			return
		}
		filepath.WalkDir(real, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				fail(p, err)
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			switch {
			case !d.IsDir():
				one(p, false)
			case p != real && x.ours(p):
				return fs.SkipDir
			}
			return nil
		})
	}
}

// ours reports whether a folder is where Sessdex keeps things: its data folder, or
// a directory store. What is kept there was imported once; a version kept beside
// the current one must not come back.
func (x *Indexer) ours(dir string) bool {
	if data := filepath.Dir(x.StateDir); dir == data || dir == resolved(data) {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, blobDir))
	return err == nil
}

// blobDir is the folder that every directory store has.
const blobDir = "+sessdex"

// reason is an error in a person's words, without the path that stands beside it.
func reason(err error, path string) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read it"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path == path {
		err = pe.Err
	}
	return err.Error()
}

// revision changes when the same bytes would be read differently.
func (x *Indexer) revision() string {
	return strconv.Itoa(harness.Revision) + "/" + x.Scrubber.Rules()
}

// changed drops the files that are as they were when last imported, and accounts
// for them.
func (x *Indexer) changed(found []harness.Source, known func(id string) bool, rep *Report) ([]harness.Source, error) {
	var todo []harness.Source
	rev := x.revision()
	err := x.state().read(func(get func(string) (fileState, bool)) {
		for _, src := range found {
			was, ok := get(src.Key())
			switch {
			case !ok || was.Stamp != src.Stamp || was.Revision != rev:
				todo = append(todo, src)
			case was.Skip != "":
				rep.skip(rep.file(src, was.Harness), src.Path, was.Skip)
			case known(was.ID):
				rep.file(src, was.Harness).session(library.Unchanged, was.Turns)
			default:
				todo = append(todo, src) // the bucket lost it, or is another one
			}
		}
	})
	return todo, err
}

// imported is what became of one file.
type imported struct {
	src     harness.Source
	harness string
	saved   library.Saved
	reading *reading
	err     error
}

func (x *Indexer) importFiles(ctx context.Context, todo []harness.Source, o ImportOptions, rep *Report) error {
	in, err := x.Index.Seen(ctx)
	if errors.Is(err, search.ErrDamaged) && !o.DryRun {
		if _, err = x.Sync(ctx, nil); err == nil { // builds it anew
			in, err = x.Index.Seen(ctx)
		}
	}
	if errors.Is(err, search.ErrMissing) || o.DryRun {
		in, err = nil, nil
	}
	if err != nil {
		return err
	}
	prog := Progress{Items: len(todo)}
	for _, s := range todo {
		prog.Bytes += s.Size
	}
	var bytesRead atomic.Int64
	w := x.Index.Writer()
	states := map[string]fileState{}
	flushed := time.Now()
	flush := func(ctx context.Context) error {
		if o.DryRun {
			return nil
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
		flushed = time.Now()
		err := x.state().write(states)
		clear(states)
		return err
	}

	work := func(ctx context.Context, src harness.Source) imported {
		return x.importFile(ctx, src, o, func(n int) { bytesRead.Add(int64(n)) })
	}
	sink := func(f imported) error {
		defer f.close()
		rep.Parsed++
		if err := ctx.Err(); err != nil {
			return err
		}
		st := fileState{Stamp: f.src.Stamp, Revision: x.revision(), Harness: f.harness}
		row := rep.file(f.src, f.harness)
		switch {
		case f.err == nil:
			card := f.saved.Card
			st.ID, st.Turns = card.ID, f.reading.meta.Turns.Less(f.reading.meta.Inherited).Total()
			row.session(f.saved.Outcome, st.Turns)
			rep.tally(row, f.reading)
			if !o.DryRun && f.saved.Current && in[card.ID] != f.saved.CardVersion {
				doc := search.Document{Card: card, CardVersion: f.saved.CardVersion, Turns: f.reading.turns}
				if err := w.Put(ctx, doc); err != nil {
					return err
				}
			}
			states[f.src.Key()] = st
		case errors.Is(f.err, ErrNoSession), errors.Is(f.err, errEmpty), errors.Is(f.err, harness.ErrTooLarge), errors.Is(f.err, harness.ErrUnknown) && !asked(o, f.src):
			st.Skip = f.err.Error()
			rep.skip(row, f.src.Path, st.Skip)
			states[f.src.Key()] = st
		case fatal(f.err):
			return f.err
		default:
			rep.fail(row, f.src.Path, reason(f.err, f.src.Path))
		}
		prog.Done++
		prog.DoneBytes = bytesRead.Load()
		if o.Progress != nil {
			o.Progress(prog)
		}
		if time.Since(flushed) > flushEvery {
			return flush(ctx)
		}
		return nil
	}
	err = fan(ctx, x.workers(), todo, work, sink)
	if err == nil || errors.Is(err, context.Canceled) {
		// What was done before a person stopped it stays done.
		err = cmp.Or(err, flush(context.WithoutCancel(ctx)))
	}
	if o.DryRun {
		return err
	}
	return cmp.Or(err, w.Close(context.WithoutCancel(ctx)))
}

// asked reports whether a person named this very file.
func asked(o ImportOptions, src harness.Source) bool {
	return !o.quick && slices.ContainsFunc(o.Paths, func(p string) bool {
		abs, err := filepath.Abs(p)
		return err == nil && abs == src.Path
	})
}

// fatal errors are about the library as a whole, not about one file.
func fatal(err error) bool {
	return errors.Is(err, errLibrary) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

var errLibrary = errors.New("the library cannot be written")

func (x *Indexer) importFile(ctx context.Context, src harness.Source, o ImportOptions, seen func(int)) imported {
	f := imported{src: src, harness: "unknown"}
	if src.Harness != nil {
		f.harness = src.Harness.Name
	}
	f.reading, f.err = x.read(ctx, src, seen)
	if f.reading != nil {
		f.harness = f.reading.card.Harness
	} else if h, err := harness.Identify(src); err == nil {
		f.harness = h.Name
	}
	if f.err != nil {
		return f
	}
	if len(o.Harnesses) > 0 && !slices.Contains(o.Harnesses, f.harness) {
		f.err = fmt.Errorf("%w: it is of %s, which was not asked for", ErrNoSession, f.harness)
		return f
	}
	if o.DryRun {
		f.saved = library.Saved{Card: f.reading.card, Outcome: library.Created}
		return f
	}
	f.saved, f.err = x.Library.Save(ctx, f.reading.draft, f.reading.card)
	if f.err == nil && o.repair && f.saved.Outcome == library.Unchanged && f.saved.Current {
		f.err = x.Library.Repair(ctx, f.reading.draft, f.saved.Card)
	}
	if f.err != nil && !errors.Is(f.err, library.ErrNewerCard) && !errors.Is(f.err, library.ErrCardSize) {
		f.err = fmt.Errorf("%w: %w", errLibrary, f.err)
	}
	f.reading.draft.Close()
	return f
}

func (f *imported) close() {
	if f.reading != nil {
		f.reading.Close()
	}
}

func (r *Report) tally(row *SourceReport, rd *reading) {
	for k, n := range rd.meta.Unknown {
		row.Unknown[k] += n
	}
	row.BadLines += rd.meta.BadLines
	for k, n := range rd.card.Secrets {
		r.Secrets[k] += n
	}
}
