package search

import (
	"testing"

	"pgregory.net/rapid"
)

// What is kept of a session is what was put of it.
func TestKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s kept
		model := map[place]bool{}
		n := 0
		for range rapid.IntRange(0, 30).Draw(t, "turns") {
			n += rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "step")
			for k := range rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "pieces") {
				if err := s.add(place{n, k}); err != nil {
					t.Fatal(err)
				}
				model[place{n, k}] = true
			}
		}
		for i := -1; i <= n+1; i++ {
			for k := range 6 {
				if p := (place{i, k}); s.has(p) != model[p] {
					t.Fatalf("%v: %v, want %v, of %v", p, s.has(p), model[p], s)
				}
			}
		}
		if n > 0 && (s.add(place{n - 1, 0}) == nil || s.add(place{n, 9}) == nil) {
			t.Fatal("pieces are taken in any order")
		}
	})
}

// A writer remembers a session of very many turns in a few words.
func TestPutOfManyTurnsRemembersLittle(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: x"))
	p := &put{w: x.Writer(), ctx: t.Context(), id: "a"}
	d := talk("a", nil, "u: one", "a: two", "t: Bash | three | ")
	n := 0
	for n < 30_000 {
		for turn := range d.Turns {
			n++
			turn.N = n
			if err := p.turn(turn); err != nil {
				t.Fatal(err)
			}
			p.w.turns, p.w.bytes, p.block = nil, 0, nil // as if a batch had been written
		}
	}
	if len(p.keep) > 1 {
		t.Errorf("%d runs for %d turns", len(p.keep), n)
	}
}
