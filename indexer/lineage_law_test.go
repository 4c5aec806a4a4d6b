package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sessdex/session"
)

// history draws sessions that fork each other as harnesses do it: a fork copies the
// records up to some place, perhaps without what was undone or compacted away, and
// perhaps says so; then any of them goes on.
func history(t *rapid.T) []*relative {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type made struct {
		turns     []session.Turn
		from      string
		inherited int
	}
	var all []*made
	n := 0
	grow := func(m *made) {
		for range rapid.IntRange(0, 3).Draw(t, "own") {
			n++
			clock = clock.Add(time.Minute)
			turn := session.Turn{Role: session.User, Ref: fmt.Sprint(n), Time: clock}
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0, 1, 2:
				turn.Role = session.Assistant
			case 3:
				turn.Role = session.Summary
			case 4:
				turn.Undone = true
			}
			m.turns = append(m.turns, turn)
		}
	}
	first := &made{turns: []session.Turn{{Role: session.User, Ref: "0", Time: clock}}}
	grow(first)
	all = append(all, first)
	for range rapid.IntRange(1, 6).Draw(t, "forks") {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "of")
		of := all[i]
		cut := rapid.IntRange(1, len(of.turns)).Draw(t, "at")
		copied := slices.Clone(of.turns[:cut])
		if rapid.Bool().Draw(t, "leaves out") {
			copied = slices.DeleteFunc(copied, func(t session.Turn) bool { return t.Undone })
			for k := len(copied) - 1; k > 0; k-- {
				if copied[k].Role == session.Summary {
					copied = copied[k:]
					break
				}
			}
		}
		f := &made{turns: copied}
		if rapid.Bool().Draw(t, "tells") {
			f.from, f.inherited = fmt.Sprint("s", i), len(copied)
		}
		all = append(all, f)
		grow(f)
		if rapid.Bool().Draw(t, "goes on") {
			grow(of)
		}
	}
	var out []*relative
	for i, m := range all {
		card := &session.Card{Meta: session.Meta{NativeID: fmt.Sprint("s", i), ForkedFrom: m.from, Inherited: session.Counts{User: m.inherited}}}
		out = append(out, newRelative(card, m.turns))
	}
	return out
}

func verdicts(family []*relative) string {
	var out []string
	for _, r := range family {
		out = append(out, fmt.Sprintf("%s from %q %d %v", r.card.NativeID, r.from, r.inherited, r.copied))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestEachTurnCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		family := history(t)
		decide(family)
		counted := map[string][]string{}
		for _, r := range family {
			for i, turn := range r.turns {
				if i >= r.inherited {
					counted[turn.Ref] = append(counted[turn.Ref], r.card.NativeID)
				}
			}
		}
		for _, r := range family {
			for _, turn := range r.turns {
				if in := counted[turn.Ref]; len(in) != 1 {
					t.Fatalf("turn %s counts in %v:\n%s", turn.Ref, in, verdicts(family))
				}
			}
		}
		want := verdicts(family)
		shuffled := rapid.Permutation(family).Draw(t, "order")
		decide(shuffled)
		if got := verdicts(shuffled); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
	})
}
