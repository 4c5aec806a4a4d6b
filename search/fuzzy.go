package search

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	index "github.com/blevesearch/bleve_index_api"
)

// Limits of spelling.
const (
	fuzzyMin    = 4 // characters a word must have to be spelled differently
	fuzzyTwo    = 7 // characters from which on two errors are allowed
	fuzzyWords  = 8 // words in the index that may stand for one of the query
	fuzzyVisit  = 20_000
	fuzzyWeight = 0.6
)

// fuzzySlots gives the tokens of the query and, for those that are nowhere, the
// indexed tokens spelled most like them, and the words that begin with them.
func (s *search) fuzzySlots() ([]slot, error) {
	r, ok := s.v.l.turns.reader.(index.IndexReaderFuzzy)
	if !ok {
		return nil, nil
	}
	slots := slices.Clone(s.plan.slots)
	found := false
	for _, t := range s.plan.terms {
		n := utf8.RuneCountInString(t.whole)
		if t.docs > 0 || n < fuzzyMin {
			continue
		}
		like, err := s.alike(r, t.whole, 1+n/fuzzyTwo)
		if err != nil {
			return nil, err
		}
		for _, l := range like {
			slots = append(slots, slot{l, fuzzyWeight, t.wholeBit})
			found = true
		}
	}
	if !found {
		return nil, nil
	}
	return slots, nil
}

// alike lists indexed tokens within a number of errors of a word, or beginning
// with it, most common first.
func (s *search) alike(r index.IndexReaderFuzzy, word string, errs int) (out []string, err error) {
	type candidate struct {
		term string
		docs uint64
	}
	var all []candidate
	reader := s.v.l.turns.reader
	for e := 1; e <= min(errs, 2) && len(all) == 0; e++ {
		_, size := utf8.DecodeRuneInString(word)
		dict, err := r.FieldDictFuzzy(fieldText, word, e, word[:size])
		if err != nil {
			return nil, err
		}
		for range fuzzyVisit {
			entry, err2 := dict.Next()
			if err2 != nil || entry == nil {
				err = err2
				break
			}
			all = append(all, candidate{term: strings.Clone(entry.Term)})
		}
		if err = errors.Join(err, dict.Close()); err != nil {
			return nil, err
		}
	}
	for i := range all {
		if all[i].docs, err = countDocs(s.ctx, reader, fieldText, all[i].term); err != nil {
			return nil, err
		}
	}
	err = eachTerm(reader, fieldText, word, func(t string, docs uint64) bool {
		all = append(all, candidate{strings.Clone(t), docs})
		return len(all) < fuzzyVisit
	})
	slices.SortStableFunc(all, func(a, b candidate) int { return int(b.docs) - int(a.docs) })
	for _, c := range all[:min(len(all), fuzzyWords)] {
		out = append(out, c.term)
	}
	return out, err
}
