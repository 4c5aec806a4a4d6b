package indexer

import (
	"context"
	"iter"
	"strings"

	"sessdex/library"
	"sessdex/session"
)

// compare tells the library whether a transcript that was read and the stored one of
// the same session hold each other's turns. Where the stored one cannot be read it
// says no to both, so that nothing is dropped.
func (x *Indexer) compare(r *reading) library.Compare {
	return func(ctx context.Context, stored *session.Card) (draftHolds, storedHolds bool) {
		was, err := x.Turns(ctx, stored, "")
		if err != nil {
			return false, false
		}
		return holds(r.turns, was), holds(was, r.turns)
	}
}

// holds reports whether every turn of part stands in all, in the same order: as it
// was, or gone on with. One that was undone since still stands there.
func holds(all, part iter.Seq[session.Turn]) bool {
	next, stop := iter.Pull(all)
	defer stop()
	for t := range part {
		for {
			candidate, ok := next()
			if !ok {
				return false
			}
			if goesOn(&t, &candidate) {
				break
			}
		}
	}
	return true
}

// goesOn reports whether the turn now is the turn was, with nothing taken away.
func goesOn(was, now *session.Turn) bool {
	if was.Role != now.Role || was.Ref != now.Ref || was.Tool != now.Tool {
		return false
	}
	for _, s := range [][2]string{
		{now.Text, was.Text}, {now.Thinking, was.Thinking}, {now.Input, was.Input}, {now.Output, was.Output},
	} {
		if !strings.HasPrefix(s[0], s[1]) {
			return false
		}
	}
	return true
}
