package indexer

import (
	"slices"
	"strings"

	"sessdex/session"
)

// A relative is one of several sessions with turns in common.
type relative struct {
	card  *session.Card
	turns []session.Turn // without texts
	told  string         // the session that its transcript says it was copied from

	// What decide works with: a number for what each turn has in common with its
	// copies, -1 where it has no id; and which numbers are in it.
	keys  []int
	holds []bool

	// What decide finds.
	from      string // native id of the session whose turns it begins with
	inherited int    // how many of them
	copied    bool   // nothing but the comparison tells
}

func newRelative(card *session.Card, turns []session.Turn) *relative {
	r := &relative{card: card, turns: turns}
	if !card.Copied {
		r.told = card.ForkedFrom
	}
	return r
}

// differs reports whether the card says anything else.
func (r *relative) differs() bool {
	return r.card.ForkedFrom != r.from || r.card.Copied != r.copied || r.card.Inherited.Total() != r.inherited
}

// decide finds for each session the leading turns that another one said first, so
// that each turn counts once: it is the turn of the first session that holds it, in
// the order of originals before copies. What a transcript tells goes before that.
func decide(family []*relative) {
	owner := make([]*relative, number(family))
	for _, r := range originalsFirst(family) {
		r.from, r.inherited, r.copied = r.told, 0, false
		if r.told != "" {
			r.inherited = min(r.card.Inherited.Total(), len(r.turns))
		}
		for i, key := range r.keys {
			if key < 0 || owner[key] == nil {
				break
			}
			if i+1 > r.inherited {
				r.inherited = i + 1
				if r.told == "" {
					r.from, r.copied = owner[key].card.NativeID, true
				}
			}
		}
		for _, key := range r.keys {
			if key >= 0 && owner[key] == nil {
				owner[key] = r
			}
		}
	}
}

// number gives turns that are copies of each other the same number, and returns how
// many numbers there are.
func number(family []*relative) int {
	type common struct {
		ref  string
		role session.Role
	}
	numbers := map[common]int{}
	for _, r := range family {
		r.keys = make([]int, len(r.turns))
		for i, t := range r.turns {
			r.keys[i] = -1
			if t.Ref == "" {
				continue
			}
			n, known := numbers[common{t.Ref, t.Role}]
			if !known {
				n = len(numbers)
				numbers[common{t.Ref, t.Role}] = n
			}
			r.keys[i] = n
		}
	}
	for _, r := range family {
		r.holds = make([]bool, len(numbers))
		for _, key := range r.keys {
			if key >= 0 {
				r.holds[key] = true
			}
		}
	}
	return len(numbers)
}

// originalsFirst puts each session behind those that it may be a copy of.
func originalsFirst(family []*relative) []*relative {
	all := slices.Clone(family)
	slices.SortFunc(all, func(a, b *relative) int { return strings.Compare(a.card.NativeID, b.card.NativeID) })
	waits := make([]int, len(all)) // how many are to come before
	behind := make([][]int, len(all))
	for i, a := range all {
		for j, b := range all {
			if i != j && a.precedes(b) {
				waits[j]++
				behind[i] = append(behind[i], j)
			}
		}
	}
	const placed = -1
	out := make([]*relative, 0, len(all))
	for range all {
		next := slices.Index(waits, 0)
		if next < 0 { // a circle
			next = slices.IndexFunc(waits, func(n int) bool { return n != placed })
		}
		waits[next] = placed
		out = append(out, all[next])
		for _, j := range behind[next] {
			if waits[j] > 0 {
				waits[j]--
			}
		}
	}
	return out
}

// precedes reports whether a is rather the original of b than the other way round.
func (a *relative) precedes(b *relative) bool {
	if a.told == b.card.NativeID || b.told == a.card.NativeID {
		return b.told == a.card.NativeID
	}
	ownA, insideA := a.beside(b)
	ownB, insideB := b.beside(a)
	switch {
	case insideA != insideB:
		// A copy may lack what was undone, compacted away or never sent. The one that
		// has something before or between what both have is no copy.
		return insideA
	case (ownA == nil) != (ownB == nil):
		return ownA == nil // it ended where the other went on
	case ownA != nil && !ownA.Time.Equal(ownB.Time):
		return ownA.Time.Before(ownB.Time)
	}
	return a.card.NativeID < b.card.NativeID
}

// beside is the first turn that the other session lacks, and whether one that both
// have comes after it.
func (r *relative) beside(other *relative) (own *session.Turn, inside bool) {
	for i, key := range r.keys {
		switch {
		case key < 0:
		case other.holds[key]:
			if own != nil {
				return own, true
			}
		case own == nil:
			own = &r.turns[i]
		}
	}
	return own, false
}
