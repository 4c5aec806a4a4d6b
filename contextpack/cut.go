package contextpack

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minCut is the fewest tokens for which a turn is shown in part.
const minCut = 32

// cut is as much of the item as room tokens hold: whole where that is enough, else
// its beginning and its end with a line between that says how much is missing. It
// reports false where room is too small to be worth a cut.
func (it *item) cut(room int) (segment, bool) {
	if it.ruler.fits(room) {
		return segment{it.ruler.text, it.ruler.count()}, true
	}
	if room < minCut {
		return segment{}, false
	}
	if it.body == "" {
		return it.shorten(room)
	}
	count := it.ruler.tok.count
	head := count(it.head)
	named := head + count(cutLine(utf8.RuneCountInString(it.body))) // the two lines of the frame
	front, from := it.front(head + (room-named)/2)
	back, ok := it.back(from, room-front.tokens)
	if !ok { // half of the room holds no part at either end
		front, from = it.front(room - named + head)
		if back, ok = it.back(from, room-front.tokens); !ok {
			return segment{}, false
		}
	}
	return segment{front.text + back.text, front.tokens + back.tokens}, true
}

func cutLine(runes int) string { return fmt.Sprintf("[cut: %d characters]\n", runes) }

// front is the head line and the beginning of the body in at most room tokens,
// and where in the body it ends. The head line alone may be all there is.
func (it *item) front(room int) (segment, int) {
	for limit := room - 1; limit > 0; {
		places := placesBefore(it.body, it.ruler.upto(limit)-len(it.head))
		best, at, over := nicest(places, room, it.upto)
		if at > 0 {
			return best, at
		}
		if over == 0 {
			break
		}
		limit -= over
	}
	return segment{it.head, it.ruler.tok.count(it.head)}, 0
}

// upto is the item up to offset at in its body, ending in one newline. Only what
// comes after the last place where the text can be divided is counted anew.
func (it *item) upto(at int) segment {
	text := strings.TrimRight(it.ruler.text[:len(it.head)+at], " \t\n")
	safe := lastBreak(it.ruler.text, 0, len(text))
	return segment{text + "\n", it.ruler.before(safe) + it.ruler.tok.count(text[safe:]+"\n")}
}

// back is the line about what is missing and the end of the body, from later than
// after, in at most room tokens.
func (it *item) back(after, room int) (segment, bool) {
	count := it.ruler.tok.count
	for limit := room - count(cutLine(utf8.RuneCountInString(it.body))); limit > 0; {
		places := placesAfter(it.body, max(it.ruler.from(limit)-len(it.head), after+1))
		best, at, over := nicest(places, room, func(at int) segment { return it.from(after, at) })
		if at > 0 {
			return best, true
		}
		if over == 0 {
			break
		}
		limit -= over
	}
	line := cutLine(utf8.RuneCountInString(it.body[after:]))
	n := count(line)
	return segment{line, n}, after > 0 && n <= room
}

// from is the body from offset at on, after the line that says what is missing
// since after. Only what comes before the first place where the text can be
// divided is counted anew.
func (it *item) from(after, at int) segment {
	open, rest := cutLine(utf8.RuneCountInString(it.body[after:at])), it.body[at:]
	safe := nextBreak(rest, 1)
	if word := strings.TrimLeftFunc(rest, unicode.IsSpace); strings.HasPrefix(word, "[") && looksLikeFrame(word[1:]) {
		open += `\` // stood inside a line, and begins one now
	}
	return segment{open + rest, it.ruler.tok.count(open+rest[:safe]) + it.ruler.after(len(it.head)+at+safe)}
}

// nicest renders the places where a cut could be, best first, and takes the first
// that wastes at most a twentieth of room, else the one that wastes least. at is
// 0 where none fits; over is then by how much the last one is too large.
func nicest(places []int, room int, render func(at int) segment) (best segment, at, over int) {
	for _, place := range places {
		s := render(place)
		if s.tokens > room {
			over = s.tokens - room
			continue
		}
		if s.tokens > best.tokens {
			best, at = s, place
		}
		if room-s.tokens <= room/20 {
			break
		}
	}
	return best, at, over
}

// shorten cuts a tool stub, which is one line.
func (it *item) shorten(room int) (segment, bool) {
	for runes := stubRunes - 25; runes > 0; runes -= 25 {
		text := oneLine(it.head, runes) + "\n"
		if n := it.ruler.tok.count(text); n <= room {
			return segment{text, n}, true
		}
	}
	return segment{}, false
}

// How far in bytes a cut may move to the end of a line or of a word.
const (
	lineReach = 1000
	wordReach = 100
)

// placesBefore lists where s may be cut at or before at: after a line, before a
// blank, between two runes and outside a mask of the scrubber.
func placesBefore(s string, at int) []int {
	if at <= 0 {
		return nil
	}
	at = runeStart(s, min(at, len(s)))
	var places []int
	if low := max(0, at-lineReach); strings.Contains(s[low:at], "\n") {
		places = append(places, low+strings.LastIndexByte(s[low:at], '\n')+1)
	}
	if low := max(0, at-wordReach); strings.ContainsAny(s[low:at], " \t\n") {
		places = append(places, low+strings.LastIndexAny(s[low:at], " \t\n"))
	}
	if from, _, in := maskAround(s, at); in {
		at = from
	}
	return slices.DeleteFunc(append(places, at), func(at int) bool { return at <= 0 })
}

// placesAfter lists where s may be cut at or after at, by the same rules.
func placesAfter(s string, at int) []int {
	for at < len(s) && (!utf8.RuneStart(s[at]) || isSelector(s[at:])) {
		at++
	}
	if at >= len(s) {
		return nil
	}
	var places []int
	if i := strings.IndexByte(s[at:min(len(s), at+lineReach)], '\n'); i >= 0 {
		places = append(places, at+i+1)
	}
	if i := strings.IndexAny(s[at:min(len(s), at+wordReach)], " \t\n"); i >= 0 {
		places = append(places, at+i+1)
	}
	if _, to, in := maskAround(s, at); in {
		at = to
	}
	return slices.DeleteFunc(append(places, at), func(at int) bool { return at >= len(s) })
}

// maskAround finds the scrubber's mark that a cut at offset at would split.
func maskAround(s string, at int) (from, to int, in bool) {
	low := max(0, at-maxMask)
	from = strings.LastIndex(s[low:min(len(s), at+len(maskOpen)-1)], maskOpen)
	if from < 0 {
		return 0, 0, false
	}
	from += low
	end := strings.IndexByte(s[from:min(len(s), from+maxMask)], ']')
	if to = from + end + 1; end < 0 || at <= from || at >= to {
		return 0, 0, false
	}
	return from, to, true
}

// runeStart is the last place at or before at between two characters of s. A
// variation selector belongs to the rune before it, and means nothing elsewhere.
func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	if isSelector(s[at:]) {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return at
}

func isSelector(s string) bool {
	return strings.HasPrefix(s, "\ufe0e") || strings.HasPrefix(s, "\ufe0f")
}
