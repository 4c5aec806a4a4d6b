package search

import (
	"context"
	"errors"
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
}

var scoresPool = sync.Pool{New: func() any { return new(scores) }}

func newScores() *scores { return scoresPool.Get().(*scores) }

func (s *scores) free() {
	clear(s.score)
	clear(s.mask)
	s.score, s.mask = s.score[:0], s.mask[:0]
	scoresPool.Put(s)
}

func (s *scores) grow(doc uint64) {
	for n := uint64(len(s.score)); n <= doc; n = uint64(len(s.score)) {
		if doc < uint64(cap(s.score)) && doc < uint64(cap(s.mask)) {
			s.score, s.mask = s.score[:doc+1], s.mask[:doc+1]
			return
		}
		size := max(2*n, doc+1, 4096)
		score, mask := make([]float32, doc+1, size), make([]uint64, doc+1, size)
		copy(score, s.score)
		copy(mask, s.mask)
		s.score, s.mask = score, mask
	}
}

// How far common words are followed. In a large index, documents are found by the
// query's rare words; a word that more than commonShare of them hold adds to
// the score of those only.
const (
	manyDocs    = 200_000
	commonShare = 0.01
	rareEnough  = 3 // at least so many words find documents
	checkEvery  = 1 << 12
)

// add looks up one token in a field and adds to the scores. With only, documents
// that hold nothing else yet are passed over.
func (s *scores) add(ctx context.Context, r index.IndexReader, field string, sl slot, all uint64, average float64, only bool) (err error) {
	f, err := r.TermFieldReader(ctx, []byte(sl.token), field, true, true, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	docs := f.Count()
	if docs == 0 {
		return nil
	}
	weight := sl.weight * idf(docs, all)
	var d index.TermFieldDoc
	for n := 1; ; n++ {
		next, err := f.Next(d.Reset())
		if err != nil || next == nil {
			return err
		}
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		doc := next.ID.Value()
		if doc >= uint64(len(s.score)) {
			if only {
				return nil
			}
			s.grow(doc)
		}
		if only && s.mask[doc] == 0 {
			continue
		}
		length := 1 / (next.Norm * next.Norm)
		s.score[doc] += float32(weight * bm25(float64(next.Freq), length, average))
		s.mask[doc] |= sl.bit
	}
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
func (s *scores) group(ctx context.Context, r index.IndexReader, t *table, pass []bool, roles []string) (map[int]*found, error) {
	out := map[int]*found{}
	err := s.each(ctx, r, t, pass, roles, func(row int, turn turnScore) {
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
// asked for, in the order of their documents.
func (s *scores) each(ctx context.Context, r index.IndexReader, t *table, pass []bool, roles []string, visit func(row int, turn turnScore)) error {
	values, err := r.DocValueReader([]string{fieldAt})
	if err != nil {
		return err
	}
	letters := roleLetters(roles)
	var doc uint64
	var id index.IndexInternalID
	at := func(_ string, at []byte) {
		if len(at) < 2 {
			return
		}
		i, ok := t.byID[string(at[1:])]
		if !ok || !pass[i] || letters != "" && strings.IndexByte(letters, at[0]|0x20) < 0 {
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
		if d%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
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
