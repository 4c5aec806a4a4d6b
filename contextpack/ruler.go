package contextpack

import "math"

// A ruler says where the tokens of a text are. It encodes the text in stretches,
// each when it is first needed and never again, so that only what is near a
// budget is encoded, however long the text is. Its text must not hold longer runs
// than breakRuns leaves.
type ruler struct {
	tok    tokenizer
	text   string
	tokens [][]int // by stretch; nil: not encoded
	total  int     // tokens of the text once all is encoded, else 0
}

func newRuler(tok tokenizer, text string) *ruler {
	return &ruler{tok: tok, text: text, tokens: make([][]int, (len(text)+stretch-1)/stretch)}
}

// start is where stretch k begins: the first place after so many bytes where the
// text can be divided. The one after the last begins at the end.
func (r *ruler) start(k int) int {
	if k == 0 {
		return 0
	}
	return nextBreak(r.text, k*stretch)
}

func (r *ruler) encode(k int) []int {
	if r.tokens[k] == nil {
		r.tokens[k] = r.tok.EncodeOrdinary(r.text[r.start(k):r.start(k+1)])
	}
	return r.tokens[k]
}

// count is the number of tokens of the whole text.
func (r *ruler) count() int {
	r.fits(len(r.text))
	return r.total
}

// fits reports whether the whole text counts at most limit. It encodes from both
// ends to the middle until it knows: what it has encoded of a text that
// does not fit is what will be shown of it.
func (r *ruler) fits(limit int) bool {
	if r.total == 0 {
		n := 0
		for i := range r.tokens {
			k := i / 2
			if i%2 == 1 {
				k = len(r.tokens) - 1 - k
			}
			if n += len(r.encode(k)); n > limit {
				return false
			}
		}
		r.total = n
	}
	return r.total <= limit
}

// before is the number of tokens of the text up to at, where it can be divided.
func (r *ruler) before(at int) int {
	n, k := 0, 0
	for ; k < len(r.tokens) && r.start(k+1) <= at; k++ {
		n += len(r.encode(k))
	}
	if k < len(r.tokens) {
		_, inside := r.walk(k, at, math.MaxInt)
		n += inside
	}
	return n
}

// after is the number of tokens of the text from at on, where it can be divided.
func (r *ruler) after(at int) int {
	n, k := 0, len(r.tokens)-1
	for ; k >= 0 && r.start(k) >= at; k-- {
		n += len(r.encode(k))
	}
	if k >= 0 {
		_, inside := r.walk(k, at, math.MaxInt)
		n += len(r.encode(k)) - inside
	}
	return n
}

// upto is the largest offset up to which the text has at most limit tokens. It
// may be inside a rune.
func (r *ruler) upto(limit int) int {
	for k := range r.tokens {
		n := len(r.encode(k))
		if n > limit {
			at, _ := r.walk(k, math.MaxInt, limit)
			return at
		}
		limit -= n
	}
	return len(r.text)
}

// from is the smallest offset from which the text has at most limit tokens. It
// may be inside a rune.
func (r *ruler) from(limit int) int {
	for k := len(r.tokens) - 1; k >= 0; k-- {
		n := len(r.encode(k))
		if n > limit {
			at, _ := r.walk(k, math.MaxInt, n-limit)
			return at
		}
		limit -= n
	}
	return 0
}

// walk goes through the tokens of stretch k while they end at or before last and
// are at most limit, and says where it stopped and after how many.
func (r *ruler) walk(k, last, limit int) (at, n int) {
	at = r.start(k)
	for i, token := range r.encode(k) {
		end := at + len(r.tok.Decode([]int{token}))
		if n >= limit || end > last {
			break
		}
		at, n = end, i+1
	}
	return at, n
}
