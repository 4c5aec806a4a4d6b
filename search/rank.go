package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// Tiers of a Result, strictest first.
const (
	TierBrowse = "browse" // no words: every session that passes the filters
	TierAll    = "all"    // every word stands in the session
	TierMost   = "most"   // at least mostShare of the words do
	TierSome   = "some"   // at least someShare of them, or any, where no session has so many
	TierFuzzy  = "fuzzy"  // words spelled like them
)

// The weights of a session's score. Turns count with their scores, best first,
// each decay times the one before; to them comes what the session's own
// document scores. A session's sum is multiplied with the share of the words that
// it holds.
const (
	decay       = 0.6
	saidWeight  = 0.5
	toldWeight  = 0.5
	titleWeight = 0.6
	aboutWeight = 0.4

	together = 0.5 // more, at most, for a turn that holds all the words

	mostShare = 0.6
	someShare = 0.3

	strictWords = 3 // up to so many words, a stricter tier always answers

	newestBonus = 0.05                // of the score, for a session of now
	halfLife    = 90 * 24 * time.Hour // in which the bonus halves
)

// average lengths in words that BM25 takes for normal.
var averages = map[string]float64{
	fieldText: 100, fieldSaid: 300, fieldTold: 1500, fieldTitle: 10, fieldAbout: 150,
	fieldSaidBefore: 300, fieldToldBefore: 1500,
}

// search is the state of one query.
type search struct {
	ctx  context.Context
	v    *View
	q    Query
	plan plan
	f    filter
	now  time.Time
	soft time.Time // from here on, common words are left out

	pass   []bool // rows that the filters let through
	copied []bool // rows whose inherited turns count elsewhere; nil: none

	exact bool // the total is exact
}

// rank finds the sessions that answer, best first, with the tier that did.
func (s *search) rank() ([]*found, string, error) {
	by, err := s.match(s.plan.slots)
	if err != nil {
		return nil, "", err
	}
	if len(s.plan.phrases) > 0 {
		if err := s.checkPhrases(by); err != nil {
			return nil, "", err
		}
	}
	tier, hits := s.tier(by)
	if len(hits) == 0 && len(s.plan.phrases) == 0 {
		slots, err := s.fuzzySlots()
		if err != nil || len(slots) == 0 {
			return nil, TierSome, err
		}
		if by, err = s.match(slots); err != nil {
			return nil, "", err
		}
		tier = TierFuzzy
		_, hits = s.tier(by)
	}
	s.sort(hits)
	return hits, tier, nil
}

// match scores turns and sessions by tokens.
func (s *search) match(slots []slot) (map[int]*found, error) {
	reader := s.v.l.turns.reader
	all, err := reader.DocCount()
	if err != nil {
		return nil, err
	}
	turns := newScores(all, s.v.l.turns.end)
	defer turns.free()
	type counted struct {
		slot
		docs uint64
	}
	order := make([]counted, 0, len(slots))
	for _, sl := range slots {
		n, err := countDocs(s.ctx, reader, fieldText, sl.token)
		if err != nil {
			return nil, err
		}
		order = append(order, counted{sl, n})
	}
	slices.SortStableFunc(order, func(a, b counted) int { return cmp.Compare(a.docs, b.docs) })
	rare := 0
	for _, c := range order {
		only := all > manyDocs && rare >= rareEnough && float64(c.docs) > commonShare*float64(all)
		if time.Now().After(s.soft) {
			s.exact = false
			break
		}
		if only {
			s.exact = false
		}
		if c.docs > 0 {
			rare++
		}
		if err := turns.add(posting{s.ctx, reader, fieldText, c.slot, all, averages[fieldText]}, only); err != nil {
			return nil, err
		}
	}
	by, err := turns.group(s, reader)
	if err != nil {
		return nil, err
	}
	for _, f := range by {
		weight := 1.0
		for _, t := range f.best[:f.turns] {
			f.score += weight * float64(t.score) * (1 + together*s.plan.share(t.mask))
			weight *= decay
		}
	}
	return by, s.matchSessions(by, slots)
}

// matchSessions adds what the sessions' own documents score.
func (s *search) matchSessions(by map[int]*found, slots []slot) error {
	reader := s.v.l.sessions.reader
	all, err := reader.DocCount()
	if err != nil {
		return err
	}
	for _, part := range []struct {
		field  string
		weight float64
		role   string // counted when this role is asked for
		before bool   // words of inherited turns
	}{
		{fieldSaid, saidWeight, "u", false}, {fieldTold, toldWeight, "a", false},
		{fieldTitle, titleWeight, "", false}, {fieldAbout, aboutWeight, "", false},
		{fieldSaidBefore, saidWeight, "u", true}, {fieldToldBefore, toldWeight, "a", true},
	} {
		if part.before && s.copied == nil {
			continue
		}
		if letters := roleLetters(s.f.role); letters != "" && letters != part.role {
			continue
		}
		sc := newScores(all, s.v.l.sessions.end)
		for _, sl := range slots {
			if err := sc.add(posting{s.ctx, reader, part.field, sl, all, averages[part.field]}, false); err != nil {
				sc.free()
				return err
			}
		}
		for i := range s.v.t.rows {
			doc := s.v.t.rows[i].doc
			if !s.pass[i] || doc >= uint64(len(sc.mask)) || sc.mask[doc] == 0 || part.before && s.copied[i] {
				continue
			}
			f := by[i]
			if f == nil {
				f = &found{row: i}
				by[i] = f
			}
			f.mask |= sc.mask[doc]
			f.score += part.weight * float64(sc.score[doc])
		}
		sc.free()
	}
	return nil
}

// tier picks the sessions of the strictest tier that has any. With many words,
// a stricter tier answers only where it keeps the best session: a long question
// rarely has all its words in the session that it is about.
func (s *search) tier(by map[int]*found) (string, []*found) {
	n := len(s.plan.terms)
	need := func(share float64) int { return max(1, int(math.Ceil(share*float64(n)))) }
	var few, some, most, all []*found
	var best *found
	for _, f := range by {
		f.score *= s.prior(f)
		c := s.plan.covered(f.mask)
		f.score *= s.plan.share(f.mask)
		if c < need(someShare) {
			if c > 0 {
				few = append(few, f)
			}
			continue
		}
		some = append(some, f)
		if c >= need(mostShare) {
			most = append(most, f)
			if best == nil || f.score > best.score {
				best = f
			}
		}
		if c == n {
			all = append(all, f)
		}
	}
	switch {
	case len(all) > 0 && (n <= strictWords || slices.Contains(all, best)):
		return TierAll, all
	case len(most) > 0:
		return TierMost, most
	}
	if len(some) == 0 {
		some = few
	}
	return TierSome, some
}

// prior prefers newer sessions, a little.
func (s *search) prior(f *found) float64 {
	last := s.v.t.rows[f.row].time()
	if last.IsZero() {
		return 1
	}
	age := max(0, s.now.Sub(last))
	return 1 + newestBonus*math.Exp2(-float64(age)/float64(halfLife))
}

// sort orders by score or by last activity; ties by last activity, then id.
func (s *search) sort(hits []*found) {
	rows := s.v.t.rows
	slices.SortFunc(hits, func(a, b *found) int {
		byTime := cmp.Or(cmp.Compare(rows[b.row].last, rows[a.row].last), cmp.Compare(rows[a.row].id, rows[b.row].id))
		if s.q.Sort == Recent {
			return byTime
		}
		return cmp.Or(cmp.Compare(b.score, a.score), byTime)
	})
}
