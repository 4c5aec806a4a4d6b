package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"sessdex/session"
)

// A View is the index at one moment: a read lease kept over several questions.
// It is valid during the call of [Index.View] that made it, and not for
// concurrent use. Writers wait while it is open.
type View struct {
	x      *Index
	l      *lease
	t      *table
	blocks map[uint64][]piece // decoded blocks of this view
}

// View calls f with the index as it is now. Like every reading call it fails with
// ErrMissing, ErrForeign, ErrDamaged or ErrBusy where there is no index to ask.
func (x *Index) View(ctx context.Context, f func(*View) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	l, err := x.read(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if r := recover(); r != nil { // reading a torn segment
			err = fmt.Errorf("read index %s: %w: %v", x.root, ErrDamaged, r)
		}
		err = errors.Join(err, x.release(l))
	}()
	v := &View{x: x, l: l, blocks: map[uint64][]piece{}}
	if v.t, err = x.readTable(ctx, l); err != nil {
		return fmt.Errorf("read index %s: %w", x.root, damaged(err))
	}
	return f(v)
}

// Search answers a query. See [View.Search].
func (x *Index) Search(ctx context.Context, q Query) (r *Result, err error) {
	err = x.View(ctx, func(v *View) error {
		r, err = v.Search(ctx, q)
		return err
	})
	return r, err
}

// Turns gives turns of a session. See [View.Turns].
func (x *Index) Turns(ctx context.Context, id string, from, to int) (turns []session.Turn, err error) {
	err = x.View(ctx, func(v *View) error {
		turns, err = v.Turns(ctx, id, from, to)
		return err
	})
	return turns, err
}

// Seen gives the card version of every session in the index, by session id.
func (x *Index) Seen(ctx context.Context) (seen map[string]string, err error) {
	err = x.View(ctx, func(v *View) error {
		seen = v.Seen()
		return nil
	})
	return seen, err
}

// Resolve finds sessions by a reference. See [View.Resolve].
func (x *Index) Resolve(ctx context.Context, ref string) (ids []string, err error) {
	err = x.View(ctx, func(v *View) error {
		ids, err = v.Resolve(ctx, ref)
		return err
	})
	return ids, err
}

// Seen gives the card version of every session in the index, by session id.
func (v *View) Seen() map[string]string {
	seen := make(map[string]string, len(v.t.rows))
	for i := range v.t.rows {
		seen[v.t.rows[i].id] = v.t.rows[i].version
	}
	return seen
}

// ErrNoSession reports a session that is not in the index.
var ErrNoSession = errors.New("no such session in the index")

// Turns gives the turns of a session from number from to number to, both
// inclusive, as they were put, in order. Numbers outside the session are no
// error; a session that is not there is ErrNoSession.
func (v *View) Turns(ctx context.Context, id string, from, to int) ([]session.Turn, error) {
	j := joiner{turns: []session.Turn{}}
	blocks, err := v.blocksOf(id)
	if err != nil {
		return nil, err
	}
	// The first block that can hold turn from is the last one that begins at or
	// before its first piece.
	first, found := slices.BinarySearchFunc(blocks, place{from, 0}, comparePlaces)
	if !found && first > 0 {
		first--
	}
	for _, b := range blocks[first:] {
		if b.n > to {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pieces, err := v.block(id, b)
		if err != nil {
			return nil, err
		}
		for _, p := range pieces {
			if from <= p.N && p.N <= to {
				j.add(p)
			}
		}
		clear(v.blocks) // long reads in bounded memory
	}
	j.close()
	return j.turns, nil
}

// blocksOf lists the first pieces of a session's blocks.
func (v *View) blocksOf(id string) ([]place, error) {
	i, ok := v.t.byID[id]
	if !ok {
		return nil, fmt.Errorf("session %s: %w", id, ErrNoSession)
	}
	b, err := stored(v.l.sessions.reader, v.t.rows[i].id, fieldBlocks)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", id, damaged(err))
	}
	return parsePlaces(b), nil
}

// block reads the block that begins with a piece.
func (v *View) block(id string, at place) ([]piece, error) {
	r := v.l.turns.reader
	doc, err := r.InternalID(pieceID(id, at.n, at.k))
	if err != nil {
		return nil, fmt.Errorf("turn %d of session %s: %w", at.n, id, damaged(err))
	}
	if doc == nil {
		return nil, fmt.Errorf("turn %d of session %s is being rewritten: %w", at.n, id, ErrBusy)
	}
	if have, ok := v.blocks[doc.Value()]; ok {
		return have, nil
	}
	b, err := stored(r, pieceID(id, at.n, at.k), fieldBlock)
	if err != nil {
		return nil, fmt.Errorf("turn %d of session %s: %w", at.n, id, damaged(err))
	}
	var out []piece
	if err := decodeBlock(b, func(p piece) bool { out = append(out, p); return true }); err != nil {
		return nil, fmt.Errorf("turn %d of session %s: %w: %v", at.n, id, ErrDamaged, err)
	}
	v.blocks[doc.Value()] = out
	return out, nil
}

// stored gives a stored field of a document, nil where it has none.
func stored(r index.IndexReader, id, field string) (value []byte, err error) {
	d, err := r.Document(id)
	if err != nil || d == nil {
		return nil, err
	}
	d.VisitFields(func(f index.Field) {
		if f.Name() == field {
			value = f.Value()
		}
	})
	return value, nil
}

// storedHitOf reads what a session's hit is made of.
func (v *View) storedHitOf(i int) (storedHit, error) {
	var h storedHit
	id := v.t.rows[i].id
	b, err := stored(v.l.sessions.reader, id, fieldHit)
	if err == nil {
		err = json.Unmarshal(b, &h)
	}
	if err != nil {
		return h, fmt.Errorf("read session %s: %w: %v", id, ErrDamaged, err)
	}
	return h, nil
}

// Limits of Resolve.
const (
	minRef      = 4  // characters from which on a reference may be a prefix
	maxResolved = 10 // ids
)

// Resolve gives the ids of the sessions whose id or native id is ref, or, where there is
// none, of those whose id or native id begins with it, at most 10. The beginning of a
// native id has 4 characters at least.
func (v *View) Resolve(ctx context.Context, ref string) ([]string, error) {
	ref = strings.ToLower(strings.TrimSpace(ref))
	ids := []string{}
	if ref == "" {
		return ids, nil
	}
	if _, ok := v.t.byID[ref]; ok {
		ids = append(ids, ref)
	}
	n := narrow{ctx: ctx, r: v.l.sessions.reader, t: v.t}
	add := func(have []bool) {
		for i, ok := range have {
			if ok && len(ids) < maxResolved && !slices.Contains(ids, v.t.rows[i].id) {
				ids = append(ids, v.t.rows[i].id)
			}
		}
	}
	add(n.rowsOf(fieldNative, ref))
	if len(ids) > 0 && n.err == nil {
		return ids, nil // "s-1" is no short form of "s-10"
	}
	prefix := func(field string) (terms []string) {
		n.err = errors.Join(n.err, eachTerm(n.r, field, ref, func(t string, _ uint64) bool {
			terms = append(terms, t)
			return len(terms) < 2*maxResolved
		}))
		return terms
	}
	if n.err == nil {
		add(n.rowsOf("_id", prefix("_id")...))
	}
	if len(ref) >= minRef && n.err == nil {
		add(n.rowsOf(fieldNative, prefix(fieldNative)...))
	}
	if n.err != nil {
		return nil, fmt.Errorf("look for session %s: %w", ref, damaged(n.err))
	}
	return ids, nil
}
