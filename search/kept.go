package search

import (
	"cmp"
	"fmt"
	"slices"
)

// kept is the set of a session's pieces, as runs: a session can have a million
// turns, and most are numbered one after the other and are one piece each.
type kept []run

// A run is turns from, from+1, …, to, each of so many pieces.
type run struct{ from, to, pieces int }

// add takes pieces in order: turn after turn, of each the pieces 0, 1, ….
func (s *kept) add(p place) error {
	if len(*s) == 0 {
		*s = append(*s, run{p.n, p.n, 1})
		return nil
	}
	last := &(*s)[len(*s)-1]
	switch {
	case p.n == last.to && p.k == last.pieces: // one more of the newest turn
		if last.from < last.to {
			last.to--
			*s = append(*s, run{p.n, p.n, p.k + 1})
			return nil
		}
		last.pieces++
	case p.n == last.to+1 && p.k == 0 && last.pieces == 1:
		last.to++
	case p.n > last.to && p.k == 0:
		*s = append(*s, run{p.n, p.n, 1})
	default:
		return fmt.Errorf("turn %d comes after turn %d", p.n, last.to)
	}
	return nil
}

func (s kept) has(p place) bool {
	i, ok := slices.BinarySearchFunc(s, p.n, func(r run, n int) int { return cmp.Compare(r.from, n) })
	if !ok {
		i--
	}
	return i >= 0 && p.n <= s[i].to && p.k < s[i].pieces
}
