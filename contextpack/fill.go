package contextpack

import (
	"cmp"
	"context"
	"slices"

	"sessdex/session"
)

// A filler selects the turns of one pack.
type filler struct {
	tok  tokenizer
	src  *source
	opts Options

	origin  string // the header's lines about the card
	fixed   int    // tokens of the frame without the notes
	opening *item
	focus   *item // the newest turn, or the one that was asked for; nil: nothing beside the opening
	before  *side // turns before the focus, nearest first
	after   *side // turns after it; none when packing the newest
}

// A part is a turn of a selection as it is shown.
type part struct {
	item *item
	segment
	cut bool
}

// A selection is what one pack shows, by turn number.
type selection struct {
	parts   []part
	opening int // number of the opening turn, shown first; 0: none
}

// newFiller makes a filler for options that were checked, and reads the opening
// request and the focus.
func newFiller(ctx context.Context, card *session.Card, read Reader, opts Options) (*filler, error) {
	tok, err := tokenizerOf(opts.Encoding)
	if err != nil {
		return nil, err
	}
	f := &filler{tok: tok, src: newSource(ctx, tok, card, read, opts), opts: opts}
	f.origin = fittingOrigin(tok, card, opts.MaxTokens)
	sample := anyBoundary(tok)
	f.fixed = tok.count(opened(sample, f.origin)) + tok.count(closed(sample))
	return f, f.start()
}

// start reads the opening request and the focus.
func (f *filler) start() (err error) {
	if f.opening, err = f.src.opening(); err != nil {
		return err
	}
	if f.opts.Around == 0 {
		f.before = newSide(f.src, -1, f.src.total)
		f.after = newSide(f.src, 1, f.src.total+1)
		if f.focus, err = f.before.at(0); err != nil || f.focus == nil {
			return err
		}
		f.before.items = f.before.items[1:]
		return nil
	}
	if f.opening != nil && f.opening.n == f.opts.Around {
		f.focus = f.opening
	} else {
		only := newSide(f.src, 1, f.opts.Around)
		only.batch = 1
		if f.focus, err = only.at(0); err != nil {
			return err
		}
		if f.focus != nil && f.focus.n != f.opts.Around { // the reader does not have it
			f.focus = nil
		}
	}
	f.before = newSide(f.src, -1, f.opts.Around-1)
	f.after = newSide(f.src, 1, f.opts.Around+1)
	return nil
}

// Shares of the room that a single turn may take when it does not fit beside others.
const (
	openingShare = 3 // a third
	focusKeeps   = 3 // all but a third
)

// fill selects turns for room tokens, of which lines about gaps take gaps: the
// opening request, the focus, then the turns on both sides of it in turn, each side
// as far as whole turns fit; then what is left goes to the next turn on each side,
// and to what had to be cut.
func (f *filler) fill(room, gaps int) (*selection, error) {
	sel := &selection{}
	room -= gaps
	if f.opening != nil {
		sel.opening = f.opening.n
		limit := room / openingShare
		if f.focus == f.opening {
			limit = f.focusRoom(room)
		}
		room -= sel.add(f.opening, limit)
	}
	if f.focus != nil && f.focus != f.opening {
		room -= sel.add(f.focus, f.focusRoom(room))
	}
	room, err := f.grow(sel, room)
	if err != nil {
		return nil, err
	}
	f.topUp(sel, room)
	slices.SortFunc(sel.parts, func(a, b part) int { return cmp.Compare(a.item.n, b.item.n) })
	return sel, nil
}

func (f *filler) focusRoom(room int) int {
	if f.focus.ruler.fits(room) {
		return room
	}
	return room - room/focusKeeps
}

// grow adds turns before and after the focus in turn, and returns the room left.
func (f *filler) grow(sel *selection, room int) (int, error) {
	var tooLarge []*item
	open := []*side{f.before, f.after}
	for i := 0; len(open) > 0; i++ {
		still := open[:0:0]
		for _, d := range open {
			it, err := d.at(i)
			switch {
			case err != nil:
				return 0, err
			case it == nil:
			case it.ruler.fits(room):
				room -= sel.add(it, room)
				still = append(still, d)
			default:
				tooLarge = append(tooLarge, it)
			}
		}
		open = still
	}
	for _, it := range tooLarge {
		room -= sel.add(it, room)
	}
	return room, nil
}

// topUp gives the room that is left to turns that were cut, the newest first.
func (f *filler) topUp(sel *selection, room int) {
	for i := len(sel.parts) - 1; i >= 0 && room > 0; i-- {
		p := &sel.parts[i]
		if !p.cut {
			continue
		}
		if s, ok := p.item.cut(p.tokens + room); ok && s.tokens > p.tokens {
			room -= s.tokens - p.tokens
			p.segment = s
			p.cut = s.text != p.item.ruler.text
		}
	}
}

// add shows it in at most room tokens, if that is possible, and returns its cost.
func (sel *selection) add(it *item, room int) int {
	s, ok := it.cut(room)
	if !ok {
		return 0
	}
	sel.parts = append(sel.parts, part{it, s, s.text != it.ruler.text})
	return s.tokens
}

func (sel *selection) anyCut() bool {
	return slices.ContainsFunc(sel.parts, func(p part) bool { return p.cut })
}

func (sel *selection) tokens() int {
	n := 0
	for _, p := range sel.parts {
		n += p.segment.tokens
	}
	return n
}
