package indexer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"sessdex/harness"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/session"
)

// ErrNoSession means that a transcript holds no conversation: no session, and no
// failure either.
var ErrNoSession = harness.ErrNoSession

// reading is a transcript on its way into the library.
type reading struct {
	parsed
	harness *harness.Harness // nil: of none that we know
	draft   *library.Draft
	card    *session.Card
}

func (r *reading) Close() {
	if r.draft != nil {
		r.draft.Close()
	}
}

// read takes one transcript through the scrubber and from there both into a
// draft and through the parser, in one pass, and makes its card. Errors that wrap
// harness.ErrUnknown or ErrNoSession mean that the file is no session; the reading
// still says whose file it is. The caller closes it in any case. seen is told of bytes
// as they are read.
func (x *Indexer) read(ctx context.Context, r *reading, src harness.Source, seen func(int)) error {
	in, err := src.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	head := make([]byte, harness.HeadBytes)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if n == 0 {
		return errEmpty
	}
	if r.harness, err = harness.Detect(head[:n]); err != nil {
		return err
	}
	src.Harness = r.harness
	r.draft = library.NewDraft()
	pass := x.Scrubber.NewPass()
	src.Dir = pass.Text(src.Dir) // the only words of a session that are in no line of it
	parser := r.harness.New(src)
	var tail tail
	first := ""
	long, err := eachLine(ctx, io.MultiReader(bytes.NewReader(head[:n]), in), func(line []byte) error {
		seen(len(line))
		if tail.torn(line) {
			return nil
		}
		clean := pass.Line(line)
		if err := r.draft.Write(clean); err != nil {
			return err
		}
		if first == "" {
			first = hashOf(clean)
		}
		parser.Line(trimNewline(clean.Bytes()))
		return nil
	})
	if err != nil {
		return err
	}
	r.meta, r.turns = parser.Finish()
	r.meta.BadLines += long + tail.lost
	if r.meta.Turns.Total() == 0 {
		if long > 0 { // it may have been in there
			return fmt.Errorf("%w that could be read: %w", ErrNoSession, harness.ErrLongLine)
		}
		return ErrNoSession
	}
	if err := r.draft.Finish(); err != nil {
		return err
	}
	r.card = x.card(src, r.parsed, pass, first)
	return nil
}

// tail tells a record that is still being written, or never was to its end, from
// the lines before it. It is left out until it is whole: half a record says nothing,
// and half a secret is not recognized as one.
type tail struct {
	lines bool // the transcript is a record a line
	begun bool
	lost  int
}

func (t *tail) torn(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	if !t.begun {
		t.begun = true
		t.lines = bytes.HasPrefix(trimmed, []byte("{")) && bytes.HasSuffix(trimmed, []byte("}"))
		return false
	}
	if !t.lines || line[len(line)-1] == '\n' || !bytes.HasPrefix(trimmed, []byte("{")) {
		return false
	}
	for range harness.Values(trimmed) {
		return false
	}
	t.lost++
	return true
}

// hashOf names a transcript that carries no id, by its first line.
func hashOf(s scrub.Scrubbed) string {
	sum := sha256.Sum256(s.Bytes())
	return "sha256-" + hex.EncodeToString(sum[:8])
}

// card makes the card of a transcript that was read.
func (x *Indexer) card(src harness.Source, p parsed, pass *scrub.Pass, first string) *session.Card {
	c := &session.Card{Schema: session.CardSchema, Owner: x.Owner, Meta: p.meta, Host: x.Host, Imported: now()}
	c.Harness = src.Harness.Name
	if c.NativeID == "" {
		c.NativeID = first
		if stem := strings.TrimSuffix(filepath.Base(src.Path), filepath.Ext(src.Path)); src.Part != "" {
			c.NativeID = pass.Text(src.Part)
		} else if src.Path != "" {
			c.NativeID = pass.Text(stem)
		}
	}
	c.ID = session.NewID(x.Owner, c.Harness, c.NativeID)
	c.SourcePath = pass.Text(src.Path)
	if !strings.Contains(c.Repo, "/") { // the transcript does not say itself
		if repo := GitRepo(c.Dir); repo != "" {
			c.Repo = pass.Text(repo)
		}
	}
	edited := map[string]bool{}
	var reads []string
	tags := tagger{}
	for t := range p.turns {
		for _, f := range t.Edits {
			if !edited[f] {
				edited[f] = true
				c.Files = append(c.Files, f)
			}
		}
		reads = append(reads, t.Reads...)
		tags.turn(&t)
	}
	for _, f := range session.Unique(reads) {
		if !edited[f] {
			c.Reads = append(c.Reads, f)
		}
	}
	c.AutoTags = tags.of(c)
	c.Encoding = "jsonl"
	if filepath.Ext(src.Path) == ".json" {
		c.Encoding = "json"
	}
	c.Secrets = pass.Counts()
	if len(c.Secrets) == 0 {
		c.Secrets = nil
	}
	return c
}

// publishedSource is a transcript handed over as bytes.
func publishedSource(raw []byte) harness.Source {
	return harness.Source{
		Size: int64(len(raw)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil },
	}
}

// Published is what Publish takes beside the transcript.
type Published struct {
	Title, Label, Parent string
	Tags                 []string
}

// Publish stores and indexes a transcript that was handed over, scrubbed like any
// other. The same bytes publish once.
func (x *Indexer) Publish(ctx context.Context, raw []byte, p Published) (library.Saved, error) {
	var r reading
	defer r.Close()
	err := x.read(ctx, &r, publishedSource(raw), func(int) {})
	if err != nil {
		return library.Saved{}, fmt.Errorf("publish: %w", err)
	}
	pass := x.Scrubber.NewPass()
	r.card.PeopleTitle = session.OneLine(pass.Text(p.Title), 120)
	r.card.Label = session.OneLine(pass.Text(p.Label), 200)
	for _, t := range p.Tags {
		tag, err := CleanTag(pass.Text(t))
		if err != nil {
			return library.Saved{}, err
		}
		r.card.PeopleTags = append(r.card.PeopleTags, tag)
	}
	slices.Sort(r.card.PeopleTags)
	r.card.PeopleTags = slices.Compact(r.card.PeopleTags)
	if p.Parent != "" && r.card.Inherited == (session.Counts{}) { // what the transcript copies, it tells better
		r.card.ForkedFrom = p.Parent
	}
	saved, err := x.Library.Save(ctx, r.draft, r.card, x.compare(&r))
	if err != nil {
		return saved, err
	}
	if err := x.Refresh(ctx, saved.Card.ID); err != nil {
		return saved, err
	}
	_, err = x.relateNow(ctx, []string{saved.Card.ID})
	return saved, err
}

// Refresh puts one session's present state from the bucket into the index.
func (x *Indexer) Refresh(ctx context.Context, id string) error {
	doc, err := x.load(ctx, id)
	if err != nil {
		return err
	}
	w := x.Index.Writer()
	if err := w.Put(ctx, doc); err != nil {
		w.Close(ctx)
		return err
	}
	return w.Close(ctx)
}

// IDOf is the id under which a transcript is, or would be, kept.
func (x *Indexer) IDOf(ctx context.Context, raw []byte) (string, error) {
	var r reading
	defer r.Close()
	err := x.read(ctx, &r, publishedSource(raw), func(int) {})
	if err != nil {
		return "", err
	}
	return r.card.ID, nil
}

// Remove takes a session out of the library and the index.
func (x *Indexer) Remove(ctx context.Context, id string) error {
	if err := x.Library.Remove(ctx, id); err != nil {
		return err
	}
	w := x.Index.Writer()
	return errors.Join(w.Delete(ctx, id), w.Close(ctx))
}
