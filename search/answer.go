package search

import (
	"context"
	"fmt"
	"time"
)

// Limits of an answer.
const (
	defaultLimit = 10
	maxLimit     = 100
	maxOffset    = 10_000

	queryTime = 5 * time.Second // a query that takes longer fails
	softTime  = 2 * time.Second // a query that takes longer leaves out common words
)

// Search answers a query from this view. Any text is a valid query. Values that
// are out of range are brought into it; an offset above 10,000 gives no hits.
func (v *View) Search(ctx context.Context, q Query) (*Result, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	now := time.Now()
	parsed := ParseQuery(q.Text)
	s := &search{ctx: ctx, v: v, q: q, f: newFilter(q, parsed, now), now: now, soft: now.Add(softTime), exact: true}
	r, err := s.answer(parsed)
	if err != nil {
		return nil, fmt.Errorf("search: %w", damaged(err))
	}
	return r, nil
}

func (s *search) answer(p Parsed) (*Result, error) {
	var err error
	if s.pass, err = s.f.apply(s.ctx, s.v.l.sessions.reader, s.v.t); err != nil {
		return nil, err
	}
	if err := s.findCopies(); err != nil {
		return nil, err
	}
	if err := s.exclude(p.Not); err != nil {
		return nil, err
	}
	s.plan = newPlan(p)
	if err := s.plan.prune(func(token string) (uint64, error) {
		return countDocs(s.ctx, s.v.l.turns.reader, fieldText, token)
	}); err != nil {
		return nil, err
	}
	r := &Result{Hits: []Hit{}}
	var hits []*found
	if len(s.plan.terms) > 0 {
		if hits, r.Tier, err = s.rank(); err != nil {
			return nil, err
		}
	} else if p.Empty() {
		r.Tier, hits = TierBrowse, s.browse()
	} else {
		r.Tier = TierSome // nothing in the text can be searched for: "((("
	}
	r.Total, r.TotalExact = len(hits), s.exact
	if s.q.Facets {
		if r.Facets, err = s.facets(hits); err != nil {
			return nil, err
		}
	}
	limit, offset := s.q.Limit, max(0, s.q.Offset)
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	if offset > maxOffset {
		return r, nil
	}
	end := min(len(hits), offset+limit)
	for _, f := range hits[min(offset, end):end] {
		h, err := s.hit(f)
		if err != nil {
			return nil, err
		}
		r.Hits = append(r.Hits, h)
	}
	if end < len(hits) && end <= maxOffset {
		r.NextOffset = end
	}
	return r, nil
}

// findCopies settles whose inherited turns are found in other sessions: in sessions
// that the asker may see.
func (s *search) findCopies() error {
	s.copied = s.v.t.copied
	if s.copied == nil || s.f.viewer == "" {
		return nil
	}
	n := narrow{ctx: s.ctx, r: s.v.l.sessions.reader, t: s.v.t}
	visible := n.rowsOf(fieldViewer, s.f.viewer)
	s.copied = s.v.t.elsewhere(visible)
	return n.err
}

// browse lists every session that passes, newest first.
func (s *search) browse() []*found {
	var hits []*found
	for _, i := range s.v.t.newest {
		if s.pass[i] {
			hits = append(hits, &found{row: int(i)})
		}
	}
	return hits
}

// hit is what is shown of a session found.
func (s *search) hit(f *found) (Hit, error) {
	st, err := s.v.storedHitOf(f.row)
	if err != nil {
		return Hit{}, err
	}
	h := st.hit(s.v.t.rows[f.row].id)
	h.Score = f.score
	h.Snippet = st.Opening
	if f.turns == 0 { // browsing, or found by its title or paths only
		if len(s.plan.slots) > 0 {
			h.Snippet, h.Marks = snippet(st.Opening, s.plan.slots)
		}
		return h, nil
	}
	p, err := s.v.pieceOf(f.best[0].doc)
	if err != nil {
		return Hit{}, err
	}
	h.Turn, h.Role = p.N, string(p.Role)
	h.Snippet, h.Marks = snippet(p.searchText(), s.plan.slots)
	return h, nil
}
