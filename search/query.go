package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
)

// Limits of a query.
const (
	maxTerms  = 24  // distinct words that are searched: the rarest
	maxSlots  = 64  // tokens of these: bits of a mask
	maxLooked = 256 // distinct words of a long text whose rarity is looked up
)

// A term is one word of the query with the tokens that stand for it.
type term struct {
	whole string   // the word's own token
	parts []string // tokens of its parts, empty for a plain word
	must  bool     // a word of a phrase
	at    int      // its number in the text it comes from
	docs  uint64   // turns that hold it, about

	wholeBit, partBits uint64 // places in the masks
}

// in reports whether the masked tokens hold the word: itself or all its parts.
func (t *term) in(mask uint64) bool {
	return mask&t.wholeBit != 0 || t.partBits != 0 && mask&t.partBits == t.partBits
}

// A slot is a token to look up, with its weight in the score.
type slot struct {
	token  string
	weight float64
	bit    uint64
}

// A plan is what a query's words come down to.
type plan struct {
	terms   []term
	slots   []slot
	phrases [][]term // each in order
}

// partWeight is what a part of an identifier counts, against the whole.
const partWeight = 0.4

// newPlan analyzes the words. Stop words are left out, unless there are no others.
func newPlan(p Parsed) plan {
	var pl plan
	words := terms(strings.Join(p.Words, " "))
	if useful := slices.DeleteFunc(slices.Clone(words), func(t term) bool { return t.stop() }); len(useful) > 0 || len(p.Phrases) > 0 {
		words = useful
	}
	for _, text := range p.Phrases {
		phrase := terms(text)
		for _, t := range phrase {
			if !t.stop() || len(phrase) == 1 {
				t.must = true
				words = append(words, t)
			}
		}
		if len(phrase) > 0 {
			pl.phrases = append(pl.phrases, phrase)
		}
	}
	pl.add(words)
	return pl
}

// add takes words without those that came before.
func (pl *plan) add(words []term) {
	seen := map[string]int{}
	for _, t := range pl.terms {
		seen[t.whole] = len(seen)
	}
	for _, t := range words {
		if i, ok := seen[t.whole]; ok {
			pl.terms[i].must = pl.terms[i].must || t.must
			continue
		}
		seen[t.whole] = len(pl.terms)
		pl.terms = append(pl.terms, t)
	}
}

// terms analyzes a text into words. Of a run of a script without spaces the pairs
// are taken, or the single character.
func terms(text string) []term {
	var out []term
	var a analyzer
	last, paired := -1, -1
	a.analyze(text, func(t token) {
		switch {
		case t.pair:
			if n := len(out) - 1; t.word == last && n >= 0 && paired != t.word {
				out[n].whole = string(t.term) // the first character gives way
			} else {
				out = append(out, term{whole: string(t.term), at: t.word})
			}
			paired = t.word + 1
		case t.part:
			n := len(out) - 1
			if !slices.Contains(out[n].parts, string(t.term)) {
				out[n].parts = append(out[n].parts, string(t.term))
			}
		case t.word == paired: // the second character of the pair before
		default:
			out = append(out, term{whole: string(t.term), at: t.word})
		}
		last = t.word
	})
	return out
}

// prune keeps the rarest words where there are too many, by how many turns hold
// them, and gives every token its slot.
func (pl *plan) prune(count func(token string) (uint64, error)) error {
	pl.terms = pl.terms[:min(len(pl.terms), maxLooked)]
	for i := range pl.terms {
		t := &pl.terms[i]
		n, err := count(t.whole)
		if err != nil {
			return err
		}
		if n == 0 && len(t.parts) > 0 {
			n = math.MaxUint64
			for _, p := range t.parts {
				c, err := count(p)
				if err != nil {
					return err
				}
				n = min(n, c)
			}
		}
		t.docs = n
	}
	if len(pl.terms) > maxTerms {
		rare := slices.Clone(pl.terms)
		slices.SortStableFunc(rare, func(a, b term) int {
			return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.docs, b.docs))
		})
		pl.terms = rare[:maxTerms]
	}
	bits := map[string]uint64{}
	bit := func(token string, weight float64) uint64 {
		if b, ok := bits[token]; ok {
			return b
		}
		if len(pl.slots) == maxSlots {
			return 0
		}
		b := uint64(1) << len(pl.slots)
		bits[token] = b
		pl.slots = append(pl.slots, slot{token, weight, b})
		return b
	}
	for i := range pl.terms {
		pl.terms[i].wholeBit = bit(pl.terms[i].whole, 1)
	}
	for i := range pl.terms {
		for _, p := range pl.terms[i].parts {
			pl.terms[i].partBits |= bit(p, partWeight)
		}
	}
	return nil
}

// order puts words of phrases first and words that are nowhere last.
func order(t term) int {
	switch {
	case t.must:
		return 0
	case t.docs == 0:
		return 2
	}
	return 1
}

// covered is the number of words that the masked tokens hold.
func (pl *plan) covered(mask uint64) int {
	n := 0
	for i := range pl.terms {
		if pl.terms[i].in(mask) {
			n++
		}
	}
	return n
}

// share is the part of the query's words that the masked tokens hold.
func (pl *plan) share(mask uint64) float64 {
	return float64(pl.covered(mask)) / float64(len(pl.terms))
}

// countDocs is the number of documents that hold a token in a field.
func countDocs(ctx context.Context, r index.IndexReader, field, token string) (uint64, error) {
	f, err := r.TermFieldReader(ctx, []byte(token), field, false, false, false)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Count(), nil
}
