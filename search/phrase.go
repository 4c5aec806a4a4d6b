package search

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
)

// maxChecked is how many turns are read to see whether a phrase stands in them.
const maxChecked = 400

// phraseBonus is what a turn counts that holds a phrase of the query.
const phraseBonus = 1.5

// checkPhrases takes away the sessions that lack a phrase. The index knows which
// turns hold all words of one; whether they stand in a row is read off the text.
func (s *search) checkPhrases(by map[int]*found) error {
	for _, phrase := range s.plan.phrases {
		ok, err := s.withPhrase(phrase)
		if err != nil {
			return err
		}
		for i, f := range by {
			t, has := ok[i]
			if !has {
				delete(by, i)
				continue
			}
			f.score += (phraseBonus - 1) * float64(t.score)
			t.score = float32(float64(f.best[0].score) + 1) // show this turn
			f.add(t)
		}
	}
	return nil
}

// withPhrase finds the sessions that have a turn with the phrase, and the best
// such turn of each.
func (s *search) withPhrase(phrase []term) (map[int]turnScore, error) {
	pl := plan{}
	pl.add(slices.Clone(phrase))
	if err := pl.prune(func(token string) (uint64, error) {
		return countDocs(s.ctx, s.v.l.turns.reader, fieldText, token)
	}); err != nil {
		return nil, err
	}
	var want uint64
	for _, t := range pl.terms {
		want |= t.wholeBit
	}
	type candidate struct {
		row int
		turnScore
	}
	var all []candidate
	if err := s.scan(pl.slots, func(row int, t turnScore) {
		if t.mask&want == want {
			all = append(all, candidate{row, t})
		}
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc, b.doc))
	})
	ok := map[int]turnScore{}
	checked := 0
	for _, c := range all {
		if _, done := ok[c.row]; done {
			continue
		}
		if len(phrase) > 1 {
			if checked++; checked > maxChecked {
				s.exact = false
				break
			}
			p, err := s.v.pieceOf(c.doc)
			if err != nil {
				return nil, err
			}
			if !holds(p.searchText(), phrase) {
				continue
			}
		}
		ok[c.row] = c.turnScore
	}
	return ok, nil
}

// scan scores turns by tokens and visits those of the sessions that pass.
func (s *search) scan(slots []slot, visit func(row int, t turnScore)) error {
	reader := s.v.l.turns.reader
	all, err := reader.DocCount()
	if err != nil {
		return err
	}
	turns := newScores(all, s.v.l.turns.end)
	defer turns.free()
	for _, sl := range slots {
		if err := turns.add(posting{s.ctx, reader, fieldText, sl, all, averages[fieldText]}, false); err != nil {
			return err
		}
	}
	return turns.each(s, reader, visit)
}

// exclude takes away the sessions that hold a word or phrase that must not occur, in
// a turn or, a word, in the title.
func (s *search) exclude(texts []string) error {
	for _, text := range texts {
		words := terms(text)
		if len(words) == 0 {
			continue
		}
		have, err := s.withPhrase(words)
		if err != nil {
			return err
		}
		for row := range have {
			s.pass[row] = false
		}
		if len(words) > 1 {
			continue
		}
		n := narrow{ctx: s.ctx, r: s.v.l.sessions.reader, t: s.v.t}
		for row, titled := range n.rowsOf(fieldTitle, words[0].whole) {
			s.pass[row] = s.pass[row] && !titled
		}
		if n.err != nil {
			return n.err
		}
	}
	return nil
}

// pieceOf reads the piece of a turn's document.
func (v *View) pieceOf(doc uint64) (piece, error) {
	var p piece
	name, err := v.l.turns.reader.ExternalID(index.NewIndexInternalID(nil, doc))
	if err != nil {
		return p, err
	}
	id, at := parsePieceID(name)
	blocks, err := v.blocksOf(id)
	if err != nil {
		return p, err
	}
	i, ok := slices.BinarySearchFunc(blocks, at, comparePlaces)
	if !ok {
		i--
	}
	if i < 0 {
		return p, nil
	}
	all, err := v.block(id, blocks[i])
	for _, p := range all {
		if p.N == at.n && p.K == at.k {
			return p, nil
		}
	}
	return p, err
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.k, b.k))
}

// parsePieceID takes a document id apart, see pieceID.
func parsePieceID(doc string) (id string, at place) {
	slash := strings.LastIndexByte(doc, '/')
	id = doc[:max(slash, 0)]
	n, k, _ := strings.Cut(doc[slash+1:], ".")
	at.n, _ = strconv.Atoi(n)
	at.k, _ = strconv.Atoi(k)
	return id, at
}

// holds reports whether the words of a phrase stand in text, in a row.
func holds(text string, phrase []term) bool {
	wanted := map[string]int{} // token: one of its places in the phrase
	for i, t := range phrase {
		wanted[t.whole] = i
	}
	at := make([]map[int]bool, len(phrase)) // words of the text, by token
	var a analyzer
	a.analyze(text, func(t token) {
		if t.part {
			return
		}
		if i, ok := wanted[string(t.term)]; ok {
			if at[i] == nil {
				at[i] = map[int]bool{}
			}
			at[i][t.word] = true
		}
	})
	for start := range at[wanted[phrase[0].whole]] {
		all := true
		for _, t := range phrase {
			if !at[wanted[t.whole]][start+t.at-phrase[0].at] {
				all = false
				break
			}
		}
		if all {
			return true
		}
	}
	return false
}
