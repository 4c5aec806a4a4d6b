package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	index "github.com/blevesearch/bleve_index_api"
)

// BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework",
// 2009, section 3. Bleve's own scorer takes the number of distinct terms for the
// length of all documents, which changes with every merge of segments, so scores
// are made here from the postings. The average length is fixed: a score then
// depends on the document and the rarity of the word only. Frequencies count with
// their square root, since the output of tools repeats a word many times without
// being about it.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

func idf(docs, all uint64) float64 {
	return math.Log(1 + (float64(max(all, docs)-docs)+0.5)/(float64(docs)+0.5))
}

// bm25 is the part of the score that depends on the document: of a word that
// stands freq times in length words.
func bm25(freq, length, average float64) float64 {
	freq = math.Sqrt(freq)
	return freq * (bm25K1 + 1) / (freq + bm25K1*(1-bm25B+bm25B*length/average))
}

// scores accumulates, for documents by number, a score and the tokens found.
type scores struct {
	score []float32
	mask  []uint64
	end   uint64 // the numbers are below
}

var scoresPool = sync.Pool{New: func() any { return new(scores) }}

// newScores is room for about so many documents, whose numbers are below end.
func newScores(docs, end uint64) *scores {
	s := scoresPool.Get().(*scores)
	s.end = end
	if n := int(docs + docs/4); cap(s.score) < n {
		s.score, s.mask = make([]float32, 0, n), make([]uint64, 0, n)
	}
	return s
}

func (s *scores) free() {
	clear(s.score)
	clear(s.mask)
	s.score, s.mask = s.score[:0], s.mask[:0]
	scoresPool.Put(s)
}

// grow makes room for a document's number. A flipped bit in a segment can make any
// number of one.
func (s *scores) grow(doc uint64) error {
	if doc >= s.end {
		return fmt.Errorf("document %d of %d: %w", doc, s.end, ErrDamaged)
	}
	n := int(doc) + 1
	if n <= len(s.score) {
		return nil
	}
	if n > cap(s.score) || n > cap(s.mask) {
		size := max(2*len(s.score), n, 4096)
		s.score = append(make([]float32, 0, size), s.score...)
		s.mask = append(make([]uint64, 0, size), s.mask...)
	}
	s.score, s.mask = s.score[:n], s.mask[:n]
	return nil
}

// How far common words are followed. In a large index, documents are found by the
// query's rare words; a word that more than commonShare of them hold adds to
// the score of those only.
const (
	manyDocs    = 50_000
	commonShare = 0.01
	rareEnough  = 3 // at least so many words find documents
	checkEvery  = 1 << 12
)

// A posting is one token in one field of an index.
type posting struct {
	ctx     context.Context
	r       index.IndexReader
	field   string
	slot    slot
	all     uint64  // documents in the index
	average float64 // length of the field
}

// add looks up a token and adds to the scores of the documents that hold it. With
// only, those that hold nothing else yet are passed over.
func (s *scores) add(p posting, only bool) (err error) {
	f, err := p.r.TermFieldReader(p.ctx, []byte(p.slot.token), p.field, true, true, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	docs := f.Count()
	if docs == 0 {
		return nil
	}
	weight := p.slot.weight * idf(docs, p.all)
	take := func(d *index.TermFieldDoc) {
		doc := d.ID.Value()
		s.score[doc] += float32(weight * bm25(float64(d.Freq), 1/(d.Norm*d.Norm), p.average))
		s.mask[doc] |= p.slot.bit
	}
	if only {
		return s.addOnly(p, f, take)
	}
	var d index.TermFieldDoc
	for n := 1; ; n++ {
		next, err := f.Next(d.Reset())
		if err != nil || next == nil {
			return err
		}
		if n%checkEvery == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if err := s.grow(next.ID.Value()); err != nil {
			return err
		}
		take(next)
	}
}

// addOnly visits the documents that have a score and hold the token.
func (s *scores) addOnly(p posting, f index.TermFieldReader, take func(*index.TermFieldDoc)) error {
	var d index.TermFieldDoc
	var id index.IndexInternalID
	at := uint64(0) // the document f stands at, plus one
	for doc, mask := range s.mask {
		if mask == 0 || uint64(doc)+1 < at {
			continue
		}
		if uint64(doc)+1 > at {
			if p.ctx.Err() != nil {
				return p.ctx.Err()
			}
			id = index.NewIndexInternalID(id, uint64(doc))
			next, err := f.Advance(id, d.Reset())
			if err != nil || next == nil {
				return err
			}
			at = next.ID.Value() + 1
		}
		if at == uint64(doc)+1 {
			take(&d)
		}
	}
	return nil
}

// A found is one session with what the query found of it.
type found struct {
	row   int     // in the table
	mask  uint64  // tokens found anywhere in it
	score float64 // see rank.go
	best  [bestTurns]turnScore
	turns int // of best that are set
}

// A turnScore is a turn's document and its score.
type turnScore struct {
	doc   uint64
	score float32
	mask  uint64
}

// bestTurns is how many turns of a session can add to its score: the next would
// count less than 0.6 to the eighth, 2 %.
const bestTurns = 8

func (f *found) add(t turnScore) {
	at := f.turns
	for at > 0 && f.best[at-1].score < t.score {
		at--
	}
	if at == bestTurns {
		return
	}
	f.turns = min(f.turns+1, bestTurns)
	copy(f.best[at+1:f.turns], f.best[at:])
	f.best[at] = t
}

// undoneWeight is what a turn counts that was rolled back.
const undoneWeight = 0.5

// group sums up scored turns by session.
func (s *scores) group(q *search, r index.IndexReader) (map[int]*found, error) {
	out := map[int]*found{}
	err := s.each(q, r, func(row int, turn turnScore) {
		f := out[row]
		if f == nil {
			f = &found{row: row}
			out[row] = f
		}
		f.mask |= turn.mask
		f.add(turn)
	})
	return out, err
}

// each visits the scored turns of the rows that pass and of the roles that are
// asked for, in the order of their documents. Turns that are found in the session
// they were copied from are passed over.
func (s *scores) each(q *search, r index.IndexReader, visit func(row int, turn turnScore)) error {
	values, err := r.DocValueReader([]string{fieldAt})
	if err != nil {
		return err
	}
	letters := roleLetters(q.f.role)
	var doc uint64
	var id index.IndexInternalID
	at := func(_ string, at []byte) {
		if len(at) < 2 {
			return
		}
		of := at[1:]
		inherited := of[0] == inheritedMark
		if inherited {
			of = of[1:]
		}
		i, ok := q.v.t.byID[string(of)]
		if !ok || !q.pass[i] || inherited && q.copied != nil && q.copied[i] || letters != "" && strings.IndexByte(letters, at[0]|0x20) < 0 {
			return
		}
		score := s.score[doc]
		if at[0] < 'a' {
			score *= undoneWeight
		}
		visit(i, turnScore{doc, score, s.mask[doc]})
	}
	for d, mask := range s.mask {
		if mask == 0 {
			continue
		}
		if d%checkEvery == 0 && q.ctx.Err() != nil {
			return q.ctx.Err()
		}
		doc = uint64(d)
		id = index.NewIndexInternalID(id, doc)
		if err := values.VisitDocValues(id, at); err != nil {
			return err
		}
	}
	return nil
}

func roleLetters(roles []string) string {
	letters := ""
	for _, r := range roles {
		if r != "" {
			letters += strings.ToLower(r[:1])
		}
	}
	return letters
}
