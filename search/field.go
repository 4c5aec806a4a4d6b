package search

import (
	"github.com/blevesearch/bleve/v2/document"
	index "github.com/blevesearch/bleve_index_api"
)

// Fields are handed to Bleve with their terms already counted: no reflection
// over structs, and no allocation per token. Bleve calls Analyze from its own
// worker goroutines, several documents at once.

// A field is one named field of a document: words to be scored, exact keywords,
// or bytes that are only stored.
type field struct {
	name    string
	options index.FieldIndexingOptions
	texts   []string // words to analyze
	terms   []string // keywords as they are
	value   []byte   // stored bytes
	freqs   index.TokenFrequencies
	length  int
}

// wordsField is a field that is searched by words and scored.
func wordsField(name string, texts ...string) *field {
	return &field{name: name, options: index.IndexField, texts: texts}
}

// countedField is a words field whose terms were counted before.
func countedField(name string, c *counter) *field {
	return &field{name: name, options: index.IndexField, freqs: c.freqs, length: c.length}
}

// keywordField is a field of exact terms, with doc values where they are read back.
// Bleve loses terms of such a field in merges when they have a frequency.
func keywordField(name string, docValues bool, terms ...string) *field {
	f := &field{name: name, options: index.IndexField | index.SkipFreqNorm, terms: terms}
	if docValues {
		f.options |= index.DocValues
	}
	return f
}

// storedField is a field that is only kept.
func storedField(name string, value []byte) *field {
	return &field{name: name, options: index.StoreField, value: value}
}

var _ document.Field = (*field)(nil)

func (f *field) Name() string                                     { return f.name }
func (f *field) Value() []byte                                    { return f.value }
func (f *field) ArrayPositions() []uint64                         { return nil }
func (f *field) EncodedFieldType() byte                           { return 't' }
func (f *field) Options() index.FieldIndexingOptions              { return f.options }
func (f *field) AnalyzedLength() int                              { return f.length }
func (f *field) AnalyzedTokenFrequencies() index.TokenFrequencies { return f.freqs }
func (f *field) NumPlainTextBytes() uint64                        { return uint64(len(f.value)) }
func (f *field) Size() int                                        { return len(f.value) }

// Analyze counts the field's terms.
func (f *field) Analyze() {
	if f.freqs != nil {
		return
	}
	var c counter
	for _, s := range f.texts {
		c.add(s)
	}
	f.freqs, f.length = c.freqs, c.length
	if f.freqs == nil {
		f.freqs = make(index.TokenFrequencies, len(f.terms))
	}
	for _, s := range f.terms {
		f.freqs[s] = never
	}
}

// A counter counts the terms of texts. The zero value is ready.
type counter struct {
	analyzer
	freqs  index.TokenFrequencies
	length int // words: what BM25 calls the length of a document
	slab   []index.TokenFreq
}

// add counts the terms of one text.
func (c *counter) add(text string) {
	if c.freqs == nil {
		c.freqs = make(index.TokenFrequencies, 16+len(text)/32)
	}
	last := -1
	c.analyze(text, func(t token) {
		if t.word != last {
			last = t.word
			c.length++
		}
		switch tf := c.freqs[string(t.term)]; tf {
		case nil:
			c.freqs[string(t.term)] = once
		case once:
			c.freqs[string(t.term)] = c.more(2)
		default:
			tf.SetFrequency(tf.Frequency() + 1)
		}
	})
}

// Most terms stand in a document once and keywords have no frequency at all; they
// share these, which nobody changes.
var (
	once  = withFrequency(1)
	never = withFrequency(0)
)

func withFrequency(n int) *index.TokenFreq {
	tf := new(index.TokenFreq)
	tf.SetFrequency(n)
	return tf
}

// more is a frequency that can grow.
func (c *counter) more(n int) *index.TokenFreq {
	if len(c.slab) == cap(c.slab) {
		c.slab = make([]index.TokenFreq, 0, max(8, min(2*cap(c.slab), 1024)))
	}
	c.slab = append(c.slab, index.TokenFreq{})
	tf := &c.slab[len(c.slab)-1]
	tf.SetFrequency(n)
	return tf
}
