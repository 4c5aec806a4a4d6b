package scrub

import (
	"bytes"
	"slices"
)

// A span is a finding: the secret's bounds in the flat text, and its rule.
type span struct {
	lo, hi int
	rule   *rule
	mark   []byte // what replaces it
	marks  int    // how often it did
}

// A scan looks for secrets in one flat text. It is reused from text to text.
type scan struct {
	rules [][]*rule // by keyword: whom it wakes
	words *automaton

	t     []byte
	found []span
	// seen[i] is where rule i last looked, as base + offset + 1, so that a
	// text with a thousand keywords in one token is looked at once.
	seen   []int
	base   int
	open   []window // by rule: the near window that still grows
	active []*rule  // rules with an open window
	budget int      // bytes that expressions may still read; see work
	value  assignment
	run    window // see runAt
	memory memory
}

type window struct{ lo, hi int }

// maxToken is the longest token in which a secret is looked for. Longer runs
// are images, signatures and encrypted reasoning.
const maxToken = 4096

// work is how many bytes the expressions may read of a text of n bytes, long
// expressions counting more, and a match counting as perMatch. Real transcripts use less than a quarter of it. Text
// that needs more was made to stall the scrubber, and is masked as a whole from
// there on: fail closed.
func work(n int) int { return 4*n + 1<<20 }

const perMatch = 512

// secrets returns the spans of t to mask: sorted, apart, outside of marks.
// They are valid until the next call.
func (s *scan) secrets(t []byte) []span {
	s.t, s.found, s.active = t, s.found[:0], s.active[:0]
	s.value, s.run = assignment{keyword: -1}, window{}
	s.budget = work(len(t))
	s.words.each(t, func(word, end int) bool {
		start := end - s.words.sizes[word]
		for _, r := range s.rules[word] {
			if s.try(r, start, end); s.budget < 0 {
				s.found = append(s.found, span{lo: start, hi: len(t), rule: tooComplex})
				return false
			}
		}
		return true
	})
	for _, r := range s.active {
		if s.budget < 0 {
			break
		}
		if s.flush(r); s.budget < 0 {
			s.found = append(s.found, span{hi: len(t), rule: tooComplex})
		}
	}
	s.memory.find(t, s.add)
	s.base += len(t) + 2
	return s.merge()
}

// release lets go of the text, and of the list of findings if it grew large.
func (s *scan) release() {
	s.t = nil
	if cap(s.found) > 1<<12 {
		s.found = nil
	}
}

// tooComplex is the rule id of text on which the scrubber gave up.
var tooComplex = &rule{id: "too-complex", index: -1}

// try looks for r's secret around the keyword at t[start:end].
func (s *scan) try(r *rule, start, end int) {
	if r.find != nil {
		r.find(s, r, start, end)
		return
	}
	switch r.shape {
	case token:
		lo, hi, whole := s.token(start, end, r.reach)
		if hi-lo >= r.minLen-1 && s.first(r, lo) {
			s.match(r, lo, hi, whole)
		}
	case assign:
		v := s.assignment(start, end)
		if v.lo < 0 || v.hi-v.lo < 8 || !s.first(r, v.lo) {
			return
		}
		if r.id == genericRule && !plausible(s.t, v) {
			return
		}
		s.match(r, v.name, v.hi, true)
	case near:
		lo, hi := s.around(start, end, r.reach)
		w := &s.open[r.index]
		switch {
		case !slices.Contains(s.active, r):
			s.active = append(s.active, r)
			*w = window{lo, hi}
		case lo <= w.hi:
			w.hi = max(w.hi, hi)
		default:
			s.flush(r)
			*w = window{lo, hi}
		}
	}
}

func (s *scan) flush(r *rule) { w := s.open[r.index]; s.match(r, w.lo, w.hi, true) }

// first reports whether r has not looked at position at before.
func (s *scan) first(r *rule, at int) bool {
	at += s.base + 1
	if s.seen[r.index] == at {
		return false
	}
	s.seen[r.index] = at
	return true
}

// match adds what r's expression finds in t[lo:hi]. whole says that the secret
// may end where the window does. Before a parenthesis it may not, since that
// makes it the name of a function; nor before a mark, or else each mark would
// make a secret of what stands before it, on and on.
func (s *scan) match(r *rule, lo, hi int, whole bool) {
	t := s.t[lo:hi]
	whole = whole && (hi == len(s.t) || s.t[hi] != '(' && !bytes.HasPrefix(s.t[hi:], markHead))
	if r.literal != nil && !bytes.Contains(t, r.literal) {
		return
	}
	s.budget -= len(t) * r.cost
	for at := 0; at < len(t); {
		m := r.re().FindSubmatchIndex(t[at:])
		if m == nil {
			return
		}
		a, b := r.secret(m)
		if (whole || at+m[1] < len(t)) && r.accepts(t[at+m[0]:at+m[1]], t[at+a:at+b]) {
			s.add(r, lo+at+a, lo+at+b)
		}
		// Go on after the secret, not after the match: what ends one may start
		// the next.
		at += max(b, m[0]+1)
		s.budget -= perMatch
	}
}

// add records a finding.
func (s *scan) add(r *rule, lo, hi int) {
	for lo < hi && isSpace(s.t[lo]) {
		lo++
	}
	for lo < hi && isSpace(s.t[hi-1]) {
		hi--
	}
	if lo < hi {
		s.found = append(s.found, span{lo: lo, hi: hi, rule: r})
	}
}

// token returns the token around t[start:end], at most reach bytes before and
// four times that, for expressions without an upper limit, after. whole says
// that it ends at a delimiter and not at that limit.
func (s *scan) token(start, end, reach int) (lo, hi int, whole bool) {
	run := s.runAt(start)
	lo, hi = max(run.lo, start-reach), max(end, min(run.hi, end+4*reach))
	return lo, hi, hi >= run.hi
}

// runAt returns the whole run without delimiters that holds offset i; it is
// empty at a delimiter. The last run is remembered, so that any number of
// keywords in one long run cost one walk over it.
func (s *scan) runAt(i int) window {
	if s.run.lo <= i && i < s.run.hi {
		return s.run
	}
	lo, hi := i, i
	for hi < len(s.t) && !delimiter[s.t[hi]] {
		hi++
	}
	for lo > 0 && hi > i && !delimiter[s.t[lo-1]] {
		lo--
	}
	s.run = window{lo, hi}
	return s.run
}

// around returns a window of reach bytes to both sides, widened to delimiters.
func (s *scan) around(start, end, reach int) (lo, hi int) {
	lo, hi = max(0, start-reach), min(len(s.t), end+reach)
	for n := 0; lo > 0 && n < 256 && !delimiter[s.t[lo-1]]; n++ {
		lo--
	}
	for n := 0; hi < len(s.t) && n < 256 && !delimiter[s.t[hi]]; n++ {
		hi++
	}
	return lo, hi
}

// merge sorts the findings, joins those that overlap under the rule that ranks
// highest, and takes existing marks out of them.
func (s *scan) merge() []span {
	if len(s.found) == 0 {
		return nil
	}
	slices.SortFunc(s.found, func(a, b span) int {
		if a.lo != b.lo {
			return a.lo - b.lo
		}
		return a.rule.index - b.rule.index
	})
	out := s.found[:1]
	for _, f := range s.found[1:] {
		last := &out[len(out)-1]
		if f.lo >= last.hi {
			out = append(out, f)
			continue
		}
		last.hi = max(last.hi, f.hi)
		if f.rule.index < last.rule.index {
			last.rule = f.rule
		}
	}
	return withoutMarks(s.t, out)
}
