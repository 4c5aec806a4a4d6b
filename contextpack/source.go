package contextpack

import (
	"context"
	"fmt"

	"sessdex/session"
)

// How many turns are asked for at once: few at first, then twice as many each
// time, so that a small pack reads little and a large one asks seldom.
const (
	firstRange = 32
	largeRange = 512
	wholeBelow = 64   // sessions up to this length are read in one go
	leadLimit  = 1000 // the opening request is looked for among so many turns
)

// A source reads the turns of one session as a pack needs them: from the start
// until the opening request is found, and from the focus outward.
type source struct {
	ctx   context.Context // of the one call that made the source
	tok   tokenizer
	read  Reader
	card  *session.Card
	total int // turns in the session
	tools bool
	focus int // number of the turn that was asked for; 0: none

	left   int // turns that may still be read
	opener int // number of the opening turn; 0: none found

	lead     []*item // what can be shown of turns 1 to leadRead
	leadRead int

	seen     int // turns read that the card counts as showable
	showable int // turns read that can be shown
}

func newSource(ctx context.Context, tok tokenizer, card *session.Card, read Reader, opts Options) *source {
	s := &source{ctx: ctx, tok: tok, read: read, card: card, total: card.Turns.Total(), tools: opts.ToolCalls, focus: opts.Around}
	// A message has a few tool calls, a shown turn at least a dozen tokens: this is
	// never reached by sessions that people have, and bounds those they do not.
	s.left = max(4096, 2*opts.MaxTokens)
	return s
}

// fetch reads the turns from..to and renders those that can be shown.
func (s *source) fetch(from, to int) ([]*item, error) {
	turns, err := s.read(s.ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("read turns %d to %d of session %s: %w", from, to, s.card.ID, err)
	}
	s.left -= to - from + 1
	var items []*item
	last := from - 1
	for i := range turns {
		t := &turns[i]
		if t.N <= last || t.N > to {
			return nil, fmt.Errorf("read turns %d to %d of session %s: turn %d is out of order", from, to, s.card.ID, t.N)
		}
		last = t.N
		if t.Role != session.Tool || s.tools {
			s.seen++
		}
		it, ok := newItem(t, s.tools, t.N == s.focus)
		if !ok {
			continue
		}
		if s.opener == 0 && t.Role == session.User && !t.Undone && it.body != "" && to <= s.leadRead {
			s.opener = t.N
		}
		it.ruler = newRuler(s.tok, it.head+it.body)
		it.body = it.ruler.text[len(it.head):] // one copy is enough
		s.showable++
		items = append(items, it)
	}
	return items, nil
}

// opening reads from the start until it finds the first request that a person made
// and did not take back. It gives up after leadLimit turns: then nil.
func (s *source) opening() (*item, error) {
	for step := 16; s.opener == 0 && s.leadRead < min(s.total, leadLimit); step *= 2 {
		from := s.leadRead + 1
		s.leadRead = min(s.total, s.leadRead+step)
		if s.total <= wholeBelow {
			s.leadRead = s.total
		}
		items, err := s.fetch(from, s.leadRead)
		if err != nil {
			return nil, err
		}
		s.lead = append(s.lead, items...)
	}
	for _, it := range s.lead {
		if it.n == s.opener {
			return it, nil
		}
	}
	return nil, nil
}

// A side is the turns that can be shown in one direction from a starting point,
// nearest first, read when first needed.
type side struct {
	src   *source
	step  int // -1: towards the start, 1: towards the end
	next  int // the next turn to read
	batch int
	items []*item
}

// newSide begins with turn start itself.
func newSide(src *source, step, start int) *side {
	return &side{src: src, step: step, next: start, batch: firstRange}
}

// at is the i-th turn of the side; nil: there is none, or no more may be read.
func (d *side) at(i int) (*item, error) {
	for i >= len(d.items) {
		if d.next < 1 || d.next > d.src.total {
			return nil, nil
		}
		if d.next <= d.src.leadRead {
			d.takeLead()
			continue
		}
		if d.src.left <= 0 {
			return nil, nil
		}
		n := min(d.batch, d.src.left)
		from, to := d.next, min(d.src.total, d.next+n-1)
		if d.step < 0 {
			from, to = max(d.src.leadRead+1, d.next-n+1), d.next
		}
		items, err := d.src.fetch(from, to)
		if err != nil {
			return nil, err
		}
		d.add(items)
		d.batch = min(2*d.batch, largeRange)
		d.next = to + 1
		if d.step < 0 {
			d.next = from - 1
		}
	}
	return d.items[i], nil
}

// takeLead takes what the opening has read already.
func (d *side) takeLead() {
	var items []*item
	for _, it := range d.src.lead {
		if d.step < 0 && it.n <= d.next || d.step > 0 && it.n >= d.next {
			items = append(items, it)
		}
	}
	d.add(items)
	d.next = d.src.leadRead + 1
	if d.step < 0 {
		d.next = 0
	}
}

func (d *side) add(items []*item) {
	for i := range items {
		if d.step < 0 {
			i = len(items) - 1 - i
		}
		if items[i].n != d.src.opener { // shown before all others
			d.items = append(d.items, items[i])
		}
	}
}

// unread estimates how many of the turns that were not read can be shown: what the
// card counts less what was seen. It cannot know of undone and empty ones.
func (s *source) unread() int {
	all := s.card.Turns.User + s.card.Turns.Assistant + s.card.Turns.Summary
	if s.tools {
		all += s.card.Turns.Tool
	}
	return max(0, all-s.seen)
}
