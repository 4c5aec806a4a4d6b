// Package indexer brings sessions in: it reads transcripts, has them scrubbed,
// puts them into the library and then into the index.
//
// There is one way into the index: a card, and the turns parsed from the
// transcript that the card names. Import comes there from files, Publish from
// bytes handed over, Sync and Reindex from the bucket. Whatever fails or dies
// between the steps is healed by the next Sync, because the order is always
// transcript, card, index.
package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"golang.org/x/sync/errgroup"

	"sessdex/harness"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/search"
	"sessdex/session"
)

// Indexer brings sessions into a library and an index. Its fields are set once,
// before use; its methods may be called from any number of goroutines and
// processes at once.
type Indexer struct {
	Library  *library.Library
	Index    *search.Index
	Scrubber *scrub.Scrubber
	StateDir string      // folder for what is remembered about imported files
	Owner    string      // whose sessions these are
	Host     string      // this machine's name, kept on cards
	Env      harness.Env // where to look for sessions
	Workers  int         // transcripts read at once; 0: one for each CPU
	Log      *slog.Logger
}

// Progress is how far a long job has come.
type Progress struct {
	Items, Done      int   // sessions or files
	Bytes, DoneBytes int64 // of transcripts, where known
}

func (x *Indexer) workers() int {
	if x.Workers > 0 {
		return x.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// fan runs work on every job with n goroutines and hands the results to sink in
// one. It ends at the first error of sink, or when ctx does.
func fan[J, R any](ctx context.Context, n int, jobs []J, work func(context.Context, J) R, sink func(R) error) error {
	g, ctx := errgroup.WithContext(ctx)
	results := make(chan R)
	var next atomic.Int64
	var running atomic.Int64
	n = max(1, min(n, len(jobs)))
	running.Store(int64(n))
	for range n {
		g.Go(func() error {
			defer func() {
				if running.Add(-1) == 0 {
					close(results)
				}
			}()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return nil
				}
				select {
				case results <- work(ctx, jobs[i]):
				case <-ctx.Done():
				}
			}
			return ctx.Err()
		})
	}
	g.Go(func() error {
		for r := range results {
			if err := sink(r); err != nil {
				return err
			}
		}
		return nil
	})
	return g.Wait()
}

// parsed is a transcript that was read to its end.
type parsed struct {
	meta  session.Meta
	turns iter.Seq[session.Turn]
}

// parse reads scrubbed bytes with the parser of h, line by line.
func parse(ctx context.Context, h *harness.Harness, src harness.Source, r io.Reader) (parsed, error) {
	p := h.New(src)
	long, err := eachLine(ctx, r, func(line []byte) error {
		p.Line(trimNewline(line))
		return nil
	})
	if err != nil {
		return parsed{}, err
	}
	meta, turns := p.Finish()
	meta.BadLines += long
	return parsed{meta, turns}, nil
}

// eachLine hands take the lines of a transcript with their ends, one after the
// other. It passes over those that are too long for anybody, and counts them.
func eachLine(ctx context.Context, r io.Reader, take func(line []byte) error) (long int, err error) {
	for line, err := range harness.Lines(r) {
		if errors.Is(err, harness.ErrLongLine) {
			long++
			continue
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return long, err
		}
		if err := take(line); err != nil {
			return long, err
		}
	}
	return long, nil
}

func trimNewline(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// load makes the index's document of a session from what the bucket holds.
func (x *Indexer) load(ctx context.Context, id string) (search.Document, error) {
	card, cardVersion, err := x.Library.Card(ctx, id)
	if err != nil {
		return search.Document{}, err
	}
	turns, err := x.Turns(ctx, card, "")
	return search.Document{Card: card, CardVersion: cardVersion, Turns: turns}, err
}

// Turns parses a stored version of a session, the current one where version is
// empty.
func (x *Indexer) Turns(ctx context.Context, card *session.Card, version string) (iter.Seq[session.Turn], error) {
	h := harness.ByName(card.Harness)
	if h == nil {
		return nil, fmt.Errorf("read session %s: this sessdex does not know the harness %q: update it", card.ID, card.Harness)
	}
	r, _, err := x.Library.Transcript(ctx, card, version)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := parse(ctx, h, harness.Source{Harness: h, Path: card.SourcePath}, r)
	return p.turns, err
}

// Command is a program to run in a folder.
type Command = harness.Command

// Harnesses lists the names of the harnesses whose sessions are read.
func Harnesses() []string {
	var names []string
	for _, h := range harness.All {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return names
}

// ErrUnknownFormat means that bytes are no transcript of a harness we know.
var ErrUnknownFormat = harness.ErrUnknown

// Resume is the command that goes on with a session in its own harness; a sub-agent
// goes on in the session that started it. There is none where the transcript's id is
// not of the form that harnesses give.
func Resume(m *session.Meta) (Command, bool) {
	h := harness.ByName(m.Harness)
	if h == nil || h.Resume == nil || !harness.PlainID(m.NativeID) || m.Parent != "" && !harness.PlainID(m.Parent) {
		return Command{}, false
	}
	if m.Subagent && m.Parent != "" {
		outer := *m
		outer.NativeID = m.Parent
		m = &outer
	}
	cmd := h.Resume(m)
	cmd.Dir = plainDir(cmd.Dir)
	return cmd, true
}

// Start is the command that begins a new session of a harness with a prompt.
func Start(name, dir, prompt string) (Command, bool) {
	h := harness.ByName(name)
	if h == nil || h.Start == nil {
		return Command{}, false
	}
	return h.Start(plainDir(dir), prompt), true
}

// Starters lists the harnesses that Start knows.
func Starters() []string {
	return slices.DeleteFunc(Harnesses(), func(name string) bool { return harness.ByName(name).Start == nil })
}

// plainDir is a recorded folder, or "" where it is none that can stand in a command.
func plainDir(dir string) string {
	if len(dir) > 4096 || strings.HasPrefix(dir, "-") || strings.ContainsFunc(dir, unicode.IsControl) || session.Plain(dir) != dir {
		return ""
	}
	return dir
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
