package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of a snippet, in runes. A window is chosen by the bytes of about as many.
const (
	snippetRunes = 300
	leadBytes    = 60 // text before the first matched word
	windowBytes  = 240
)

// mark is a matched word: its place in the text and the tokens it stands for.
type mark struct {
	start, end int
	mask       uint64
	weight     float64
}

// snippet cuts from text the window that holds the most of the query's tokens, each
// weighted, and gives the byte ranges of the matched words in it.
func snippet(text string, slots []slot) (string, [][2]int) {
	marks := findMarks(text, slots)
	from := 0
	if len(marks) > 0 {
		from = bestWindow(marks)
	}
	out, offset := cutWindow(text, from)
	ranges := [][2]int{}
	for _, m := range marks {
		if s, e := m.start-offset, m.end-offset; s >= 0 && e <= len(out) {
			ranges = append(ranges, [2]int{s, e})
		}
	}
	return flatten(out, ranges)
}

// findMarks lists the words of text that the query asks for.
func findMarks(text string, slots []slot) []mark {
	wanted := make(map[string]slot, len(slots))
	for _, s := range slots {
		if have, ok := wanted[s.token]; !ok || have.weight < s.weight {
			wanted[s.token] = s
		}
	}
	var marks []mark
	var a analyzer
	a.analyze(text, func(t token) {
		s, ok := wanted[string(t.term)]
		if !ok {
			return
		}
		n := len(marks)
		if n > 0 && t.start < marks[n-1].end { // a part of the word before, or the next pair
			marks[n-1].end = max(marks[n-1].end, t.end)
			if marks[n-1].mask&s.bit == 0 {
				marks[n-1].weight += s.weight
			}
			marks[n-1].mask |= s.bit
			return
		}
		marks = append(marks, mark{t.start, t.end, s.bit, s.weight})
	})
	return marks
}

// bestWindow is where the window begins that holds the most weight of different
// tokens; of equals, the first.
func bestWindow(marks []mark) int {
	best, bestWeight := 0, -1.0
	for i := range marks {
		var mask uint64
		weight := 0.0
		for _, m := range marks[i:] {
			if m.end > marks[i].start+windowBytes {
				break
			}
			if m.mask&^mask != 0 {
				weight += m.weight
			} else {
				weight += m.weight / 100
			}
			mask |= m.mask
		}
		if weight > bestWeight {
			best, bestWeight = i, weight
		}
	}
	return max(0, marks[best].start-leadBytes)
}

// cutWindow cuts at most snippetRunes from text, beginning near from, at borders
// of words where they are near, and never within a rune or a mask.
func cutWindow(text string, from int) (out string, offset int) {
	from = wordStart(text, from)
	from = outOfMask(text, from, false)
	to, runes := from, 0
	for to < len(text) && runes < snippetRunes {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
		runes++
	}
	if to < len(text) {
		if i := strings.LastIndexFunc(text[from:to], unicode.IsSpace); i > (to-from)*3/4 {
			to = from + i
		}
		to = max(from, outOfMask(text, to, true))
	}
	return text[from:to], from
}

// wordStart moves i back or forth a little to where a word begins.
func wordStart(text string, i int) int {
	if i <= 0 {
		return 0
	}
	for i < len(text) && !utf8.RuneStart(text[i]) {
		i++
	}
	for j := i; j > max(0, i-leadBytes/2); j-- {
		if c := text[j-1]; c == ' ' || c == '\n' || c == '\t' {
			return j
		}
	}
	return i
}

// maskStart begins the text that stands where a secret was taken out.
const maskStart = "[REDACTED:"

// maxMask is the longest mask that is kept whole.
const maxMask = 80

// outOfMask moves i to the beginning (end: false, so that the mask is shown) or
// before the mask that it lies within.
func outOfMask(text string, i int, end bool) int {
	open := strings.LastIndex(text[max(0, i-maxMask):min(len(text), i+len(maskStart)-1)], maskStart)
	if open < 0 {
		return i
	}
	open += max(0, i-maxMask)
	closed := strings.IndexByte(text[open:min(len(text), open+maxMask)], ']')
	if open >= i || closed >= 0 && open+closed < i {
		return i
	}
	if !end && closed < 0 {
		return i
	}
	return open
}

// flatten makes one line of a window: runs of white space become one space,
// control characters and bytes that are no UTF-8 are dropped; ranges follow.
func flatten(s string, ranges [][2]int) (string, [][2]int) {
	var b strings.Builder
	moved := make([]int, len(s)+1) // old place: new place
	space := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		drop := r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !unicode.IsSpace(r)
		isSpace := unicode.IsSpace(r)
		if isSpace && b.Len() > 0 {
			space = true
		}
		if !drop && !isSpace {
			if space {
				b.WriteByte(' ')
				space = false
			}
			moved[i] = b.Len()
			b.WriteString(s[i : i+size])
		} else {
			moved[i] = b.Len()
		}
		for j := i + 1; j < i+size; j++ {
			moved[j] = moved[i]
		}
		i += size
		moved[i] = b.Len()
	}
	out := b.String()
	kept := ranges[:0]
	for _, r := range ranges {
		if from, to := moved[r[0]], min(moved[r[1]], len(out)); from < to {
			kept = append(kept, [2]int{from, to})
		}
	}
	return out, slices.Clip(kept)
}
