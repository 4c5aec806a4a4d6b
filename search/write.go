package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"
	zapx "github.com/blevesearch/zapx/v17"

	"sessdex/session"
)

// Limits of a batch. A batch is what a writer holds in memory, and how long
// readers wait for it.
const (
	batchBytes = 4 << 20
	batchDocs  = 2000
)

// writeConfig is how an index is opened for writing. Segments are merged only
// when there are many: a merge of everything after every batch would cost more
// than all queries gain.
var writeConfig = map[string]any{
	"scorchMergePlanOptions": map[string]any{"MaxSegmentsPerTier": 10, "SegmentsPerMergeTask": 10, "FloorSegmentSize": 2000},
}

// plainBuffers stops Bleve from sizing the buffer of a new segment by the one
// before, which may be of the other index, whose documents are far larger: clearing
// it was a tenth of all work.
var plainBuffers = sync.OnceFunc(func() { zapx.NewSegmentBufferNumResultsFactor = 0 })

// serialKey holds the number of the newest batch, in both indexes.
var serialKey = []byte("sessdex.batch")

// A Writer puts sessions into an index, in batches: it takes an exclusive lease
// only while it writes one. What it was given is in the index after Flush or
// Close at the latest. It is not safe for concurrent use; several writers of
// one index take turns.
type Writer struct {
	x    *Index
	held *lease // set while rebuilding: the generation being built

	turns, sessions []*document.Document
	replaced        map[string]kept // session: the pieces that are to stay
	deleted         []string        // sessions to remove
	bytes           int
	err             error // the first failure: the writer is of no use afterwards
}

// Writer starts writing. It does no I/O before the first batch is full.
func (x *Index) Writer() *Writer {
	plainBuffers()
	return &Writer{x: x, replaced: map[string]kept{}}
}

// Put makes the index hold this session, instead of whatever it held under its
// id. The session counts as seen (see [Index.Seen]) when all of it is written.
func (w *Writer) Put(ctx context.Context, d Document) error {
	if d.Card == nil || d.Card.ID == "" {
		return errors.New("index session: it has no id")
	}
	if err := w.settle(ctx, d.Card.ID); err != nil {
		return err
	}
	p := &put{w: w, ctx: ctx, id: d.Card.ID, inherited: inherited(d.Card)}
	if d.Turns != nil {
		for t := range d.Turns {
			if err := p.turn(t); err != nil {
				return fmt.Errorf("index session %s: %w", p.id, err)
			}
		}
	}
	if err := p.finish(d); err != nil {
		return fmt.Errorf("index session %s: %w", p.id, err)
	}
	return nil
}

// put is the writing of one session.
type put struct {
	w    *Writer
	ctx  context.Context
	id   string
	keep kept

	inherited  int // leading turns that another session said first
	own, heard spoken
	roots      []string // see rootTerms

	block     []byte             // pieces of the open block
	blockText int                // text in it
	first     *document.Document // the piece it is kept with
	blocks    []byte             // places of all blocks
	last      place              // of the newest block

	echo bool // the turn at hand is an answer of ours: kept, but not found by its words
}

func (p *put) turn(t session.Turn) error {
	words := &p.own
	if t.N <= p.inherited {
		words = &p.heard
	}
	words.add(&t)
	p.roots = appendRoot(p.roots, &t)
	p.echo = t.Echo()
	return pieces(t, p.piece)
}

// spoken counts the words of a session by who said them.
type spoken struct {
	said, told           counter
	saidBytes, toldBytes int
}

func (s *spoken) add(t *session.Turn) {
	c, n := &s.told, &s.toldBytes
	switch t.Role {
	case session.Tool:
		return
	case session.User:
		c, n = &s.said, &s.saidBytes
	}
	if room := wordsBytes - *n; room > 0 {
		c.add(t.Text[:cutText(t.Text, room)])
	}
	*n += len(t.Text)
}

func (p *put) piece(t piece) error {
	at := place{t.N, t.K}
	if err := p.keep.add(at); err != nil {
		return err
	}
	doc := document.NewDocument(pieceID(p.id, t.N, t.K))
	if !p.echo {
		doc.AddField(wordsField(fieldText, t.searchText()))
	}
	doc.AddField(keywordField(fieldAt, true, atTerm(&t.Turn, p.id, t.N <= p.inherited)))
	if p.first == nil {
		p.first = doc
		p.blocks = appendPlace(p.blocks, p.last, at)
		p.last = at
	}
	p.w.turns = append(p.w.turns, doc)
	p.block = appendPiece(p.block, t)
	n := size(&t.Turn)
	p.blockText += n
	p.w.bytes += n + 256
	if p.blockText >= blockBytes {
		p.closeBlock()
		if p.w.full() {
			return p.w.flush(p.ctx)
		}
	}
	return nil
}

func (p *put) closeBlock() {
	if p.first == nil {
		return
	}
	p.first.AddField(storedField(fieldBlock, blockEncoder.EncodeAll(p.block, nil)))
	p.first, p.block, p.blockText = nil, p.block[:0], 0
}

func (p *put) finish(d Document) error {
	p.closeBlock()
	doc, err := p.sessionDocument(d)
	if err != nil {
		return err
	}
	w := p.w
	w.sessions = append(w.sessions, doc)
	w.replaced[p.id] = p.keep
	w.bytes += 4096
	if w.full() {
		return w.flush(p.ctx)
	}
	return nil
}

// inheritedMark stands before the session's id where the turn is an inherited one.
const inheritedMark = '~'

// atTerm says whose turn it is, and in which session.
func atTerm(t *session.Turn, id string, inherited bool) string {
	letter := "a"
	switch t.Role {
	case session.User:
		letter = "u"
	case session.Tool:
		letter = "t"
	case session.Summary:
		letter = "s"
	}
	if t.Undone {
		letter = strings.ToUpper(letter)
	}
	if inherited {
		letter += string(inheritedMark)
	}
	return letter + id
}

// Delete removes a session. One that is not there is no error.
func (w *Writer) Delete(ctx context.Context, id string) error {
	if err := w.settle(ctx, id); err != nil {
		return err
	}
	w.deleted = append(w.deleted, id)
	w.bytes += 1024
	if w.full() {
		return w.flush(ctx)
	}
	return nil
}

// settle writes what the batch already holds of a session, so that no batch
// holds two things about one.
func (w *Writer) settle(ctx context.Context, id string) error {
	if w.err != nil {
		return w.err
	}
	if _, ok := w.replaced[id]; ok || slices.Contains(w.deleted, id) {
		return w.flush(ctx)
	}
	return nil
}

func (w *Writer) full() bool {
	return w.bytes >= batchBytes || len(w.turns) >= batchDocs
}

// Flush writes what was given so far.
func (w *Writer) Flush(ctx context.Context) error {
	if w.err != nil {
		return w.err
	}
	return w.flush(ctx)
}

// Close writes what was given so far and ends the writer.
func (w *Writer) Close(ctx context.Context) error {
	err := w.Flush(ctx)
	if w.err == nil {
		w.err = errors.New("write to index: the writer is closed")
	}
	return err
}

func (w *Writer) flush(ctx context.Context) error {
	if len(w.turns)+len(w.sessions)+len(w.deleted) == 0 {
		return nil
	}
	err := w.batch(ctx)
	if err != nil {
		w.err = fmt.Errorf("write to index: %w", err)
	}
	clear(w.replaced)
	w.turns, w.sessions, w.deleted, w.bytes = nil, nil, nil, 0
	return w.err
}

// batch writes under one lease, turns before sessions: a session is never there
// before its turns.
func (w *Writer) batch(ctx context.Context) (err error) {
	l := w.held
	if l == nil {
		if l, err = w.x.write(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.close()) }()
	}
	turns, sessions := index.NewBatch(), index.NewBatch()
	for _, d := range w.turns {
		turns.Update(d)
	}
	if err := w.removeOld(l, turns); err != nil {
		return damaged(err)
	}
	for _, id := range w.deleted {
		sessions.Delete(id)
	}
	for _, d := range w.sessions {
		sessions.Update(d)
	}
	serial := binary.BigEndian.AppendUint64(nil, max(l.turns.serial, l.sessions.serial)+1)
	turns.SetInternal(serialKey, serial)
	sessions.SetInternal(serialKey, serial)
	if err := l.turns.batch(turns); err != nil {
		return err
	}
	return l.sessions.batch(sessions)
}

// removeOld adds to the batch the removal of documents that the replaced and
// the deleted sessions no longer have.
func (w *Writer) removeOld(l *lease, batch *index.Batch) error {
	r, err := l.turns.store.Reader()
	if err != nil {
		return err
	}
	defer r.Close()
	for id, keep := range w.replaced {
		if err := eachTerm(r, "_id", id+"/", func(doc string, _ uint64) bool {
			if _, p := parsePieceID(doc); !keep.has(p) {
				batch.Delete(doc)
			}
			return true
		}); err != nil {
			return err
		}
	}
	for _, id := range w.deleted {
		if err := eachTerm(r, "_id", id+"/", func(doc string, _ uint64) bool {
			batch.Delete(doc)
			return true
		}); err != nil {
			return err
		}
	}
	return nil
}

// eachTerm calls yield for the terms of a field that begin with prefix, in order,
// with the number of documents that have them, until it returns false.
func eachTerm(r index.IndexReader, field, prefix string, yield func(term string, docs uint64) bool) (err error) {
	dict, err := r.FieldDictPrefix(field, []byte(prefix))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dict.Close()) }()
	for {
		e, err := dict.Next()
		if err != nil || e == nil {
			return err
		}
		if !yield(e.Term, e.Count) {
			return nil
		}
	}
}
