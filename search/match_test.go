package search

import (
	"errors"
	"fmt"
	"testing"
)

// A common word gives the turns that rare words found the same score whether it is
// followed everywhere or looked up for them only.
func TestCommonWordsOnlyScore(t *testing.T) {
	x := Open(t.TempDir() + "/index")
	t.Cleanup(x.Close)
	for i := range 5 { // several segments
		var lines []string
		for j := range 100 {
			line := "u: common"
			if (i*100+j)%7 == 0 {
				line = "u: other"
			}
			if (i*100+j)%31 == 0 {
				line += " rare"
			}
			lines = append(lines, line)
		}
		putAll(t, x, talk(fmt.Sprint("s", i), nil, lines...))
	}
	err := x.View(t.Context(), func(v *View) error {
		r := v.l.turns.reader
		all, err := r.DocCount()
		if err != nil {
			return err
		}
		full, only := newScores(all, v.l.turns.end), newScores(all, v.l.turns.end)
		defer full.free()
		defer only.free()
		for i, sl := range []slot{{"rare", 1, 1}, {"common", 1, 2}} {
			p := posting{t.Context(), r, fieldText, sl, all, 100}
			if err := full.add(p, false); err != nil {
				return err
			}
			if err := only.add(p, i > 0); err != nil {
				return err
			}
		}
		both := 0
		for doc, mask := range full.mask {
			switch {
			case mask&1 == 0:
				if doc < len(only.mask) && only.mask[doc] != 0 {
					t.Errorf("document %d was found by a common word", doc)
				}
				continue
			case mask == 3:
				both++
			}
			if only.mask[doc] != mask || only.score[doc] != full.score[doc] {
				t.Errorf("document %d: %b %g, want %b %g", doc, only.mask[doc], only.score[doc], mask, full.score[doc])
			}
		}
		if both < 10 {
			t.Errorf("only %d documents hold both words", both)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A posting of a document that there cannot be is damage; it reserves nothing.
func TestPostingOfNoDocument(t *testing.T) {
	x := newIndex(t, talk("a", nil, "u: alpha", "u: alpha", "u: alpha"), talk("b", nil, "u: alpha"))
	err := x.View(t.Context(), func(v *View) error {
		turns := v.l.turns
		if turns.end != 4 {
			t.Errorf("documents end at %d, want 4", turns.end)
		}
		s := newScores(4, turns.end-1)
		defer s.free()
		p := posting{t.Context(), turns.reader, fieldText, slot{"alpha", 1, 1}, 4, 100}
		if err := s.add(p, false); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
		if err := s.grow(1 << 40); !errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
