package contextpack

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// ErrOptions marks errors that come from what the caller asked for: a budget
// out of range, an encoding that does not exist, a turn that is not there.
var ErrOptions = errors.New("cannot pack with these options")

// Count is the number of tokens of text in an encoding ("": the default), the
// same that tiktoken-go's EncodeOrdinary gives: special tokens are plain text
// and each byte that is not UTF-8 counts as U+FFFD. Its time grows with the
// text's length times its logarithm, whatever the text is. An unknown encoding is
// an error that wraps ErrOptions. Safe for concurrent use.
func Count(encoding, text string) (int, error) {
	v, err := vocabularyOf(encoding)
	if err != nil {
		return 0, err
	}
	return v.count(text), nil
}

// A vocabulary counts tokens in one encoding. It never changes once loaded.
type vocabulary struct {
	name  string
	ranks map[string]int32   // token bytes → merge rank
	first func(s string) int // length in bytes of the first piece of s, see pieces.go
}

// vocabularies hold one loader for each name in Encodings. Loading takes tens of
// milliseconds and as many megabytes, so it happens once, when first asked for.
var vocabularies = map[string]func() (*vocabulary, error){
	"o200k_base":  sync.OnceValues(func() (*vocabulary, error) { return load("o200k_base", firstO200k) }),
	"cl100k_base": sync.OnceValues(func() (*vocabulary, error) { return load("cl100k_base", firstCL100k) }),
}

func vocabularyOf(encoding string) (*vocabulary, error) {
	if encoding == "" {
		encoding = Encodings[0]
	}
	get, ok := vocabularies[encoding]
	if !ok {
		return nil, fmt.Errorf("%w: unknown encoding %.40q; there are %s", ErrOptions, encoding, strings.Join(Encodings, ", "))
	}
	return get()
}

// load reads the vocabulary that tiktoken-go-loader carries: a line for each
// token, its bytes in base64 and its rank.
func load(name string, first func(string) int) (*vocabulary, error) {
	file, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		return nil, fmt.Errorf("load vocabulary %s: %w", name, err)
	}
	type entry struct{ from, to, rank int32 }
	entries := make([]entry, 0, bytes.Count(file, []byte("\n"))+1)
	buf := make([]byte, 0, len(file)) // all tokens in one string: one allocation instead of 200,000
	for line := range bytes.Lines(file) {
		token, rank, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		if !ok {
			continue
		}
		from := int32(len(buf))
		if buf, err = base64.StdEncoding.AppendDecode(buf, token); err != nil {
			return nil, fmt.Errorf("load vocabulary %s: %w", name, err)
		}
		n, err := strconv.Atoi(string(rank))
		if err != nil {
			return nil, fmt.Errorf("load vocabulary %s: %w", name, err)
		}
		entries = append(entries, entry{from, int32(len(buf)), int32(n)})
	}
	all := string(buf)
	ranks := make(map[string]int32, len(entries))
	for _, e := range entries {
		ranks[all[e.from:e.to]] = e.rank
	}
	return &vocabulary{name: name, ranks: ranks, first: first}, nil
}

func (v *vocabulary) count(text string) int {
	n, _ := v.prefix(text, len(text)+1)
	return n
}

// prefix counts tokens from the start of text until the next piece would lead
// above limit, and says how many bytes (of the text made valid) were counted. It
// never ends inside a piece: see within.
func (v *vocabulary) prefix(text string, limit int) (tokens, end int) {
	text = valid(text)
	var m merger
	for end < len(text) {
		piece := text[end : end+v.first(text[end:])]
		n := 1
		if _, whole := v.ranks[piece]; !whole {
			n = m.count(v.ranks, piece)
		}
		if tokens+n > limit {
			break
		}
		tokens += n
		end += len(piece)
	}
	return tokens, end
}

// within is the largest offset in a piece such that what lies before it counts at
// most limit tokens; with last, the smallest such that what lies after it does. The
// offset is between two runes.
func (v *vocabulary) within(piece string, limit int, last bool) int {
	low, high := 0, len(piece) // bytes that are known to fit, and to be at least enough
	for high-low > utf8.UTFMax {
		size := (low + high) / 2
		part := piece[:runeStart(piece, size)]
		if last {
			part = piece[runeStart(piece, len(piece)-size):]
		}
		if v.count(part) <= limit {
			low = size
		} else {
			high = size
		}
	}
	if !last {
		return runeStart(piece, low)
	}
	at := len(piece) - low
	for at < len(piece) && !utf8.RuneStart(piece[at]) {
		at++
	}
	return at
}

// valid replaces each byte that is not UTF-8 by U+FFFD.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// A merger splits pieces into tokens by byte pair encoding: of all adjacent pairs
// that are tokens when joined, the one with the lowest rank is joined first,
// the leftmost on a tie. A heap of the pairs keeps the time at n log n: a piece
// may be a megabyte of one letter. The zero value is ready for use, and again after.
type merger struct {
	next, prev []int32 // the parts as a linked list of offsets; next[i] is where part i ends
	heap       []pair
}

// A pair is two adjacent parts: left is where the first begins and end where
// the second ends. It is stale once next[next[left]] is no longer end.
type pair struct{ rank, left, mid, end int32 }

func (m *merger) count(ranks map[string]int32, piece string) int {
	n := int32(len(piece))
	m.next = slices.Grow(m.next[:0], int(n)+1)[:n+1]
	m.prev = slices.Grow(m.prev[:0], int(n)+1)[:n+1]
	m.heap = m.heap[:0]
	for i := range n {
		m.next[i], m.prev[i] = i+1, i-1
	}
	m.next[n], m.prev[n] = -1, n-1
	for i := range n - 1 {
		m.offer(ranks, piece, i)
	}
	parts := int(n)
	for len(m.heap) > 0 {
		p := m.pop()
		if m.next[p.left] != p.mid || m.next[p.mid] != p.end {
			continue // one of the two has been joined with another since
		}
		m.next[p.left] = p.end
		m.prev[p.end] = p.left
		m.next[p.mid] = -1
		parts--
		if p.left > 0 {
			m.offer(ranks, piece, m.prev[p.left])
		}
		m.offer(ranks, piece, p.left)
	}
	return parts
}

// offer puts the pair that begins at left on the heap if it is a token.
func (m *merger) offer(ranks map[string]int32, piece string, left int32) {
	mid := m.next[left]
	if int(mid) >= len(piece) {
		return
	}
	end := m.next[mid]
	rank, ok := ranks[piece[left:end]]
	if !ok {
		return
	}
	m.heap = append(m.heap, pair{rank, left, mid, end})
	for i := len(m.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if !m.heap[i].before(m.heap[up]) {
			break
		}
		m.heap[i], m.heap[up] = m.heap[up], m.heap[i]
		i = up
	}
}

func (m *merger) pop() pair {
	h := m.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if right := down + 1; right < len(h) && h[right].before(h[down]) {
			down = right
		}
		if !h[down].before(h[i]) {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	m.heap = h
	return top
}

func (p pair) before(q pair) bool {
	return p.rank < q.rank || p.rank == q.rank && p.left < q.left
}
