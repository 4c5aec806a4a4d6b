package contextpack

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// minCut is the fewest tokens for which a turn is shown in part.
const minCut = 32

// cut is as much of the item as room tokens hold: whole where that is enough, else
// its beginning and its end with a line between that says how much is missing. It
// reports false where room is too small to be worth a cut.
//
// The time it takes is linear in room and, with a small factor, in the text.
func (it *item) cut(v *vocabulary, room int) (segment, bool) {
	if it.fits(v, room) {
		return segment{it.head + it.body, it.tokens}, true
	}
	if room < minCut {
		return segment{}, false
	}
	if it.body == "" {
		return it.shorten(v, room)
	}
	named := v.count(it.head) + v.count(cutLine(utf8.RuneCountInString(it.body))) // the two lines of the frame
	front, from := it.front(v, v.count(it.head)+(room-named)/2)
	back, ok := it.back(v, from, room-front.tokens)
	if !ok { // half of the room holds no part at either end
		front, from = it.front(v, room-named+v.count(it.head))
		if back, ok = it.back(v, from, room-front.tokens); !ok {
			return segment{}, false
		}
	}
	return segment{front.text + back.text, front.tokens + back.tokens}, true
}

// fits reports whether the whole item counts at most room. A huge one is not
// counted further than that.
func (it *item) fits(v *vocabulary, room int) bool {
	if it.tokens > 0 || it.body == "" || len(it.head)+len(it.body) <= room {
		return it.count(v) <= room
	}
	n, end := v.prefix(it.head+it.body, room)
	if end < len(it.head)+len(it.body) {
		return false
	}
	it.tokens = n
	return true
}

func cutLine(runes int) string { return fmt.Sprintf("[cut: %d characters]\n", runes) }

// front is the head line and the beginning of the body in at most room tokens,
// and where in the body it ends. The head line alone may be all there is.
func (it *item) front(v *vocabulary, room int) (segment, int) {
	text := it.head + it.body
	for limit := room - 1; limit > 0; {
		n, end := v.prefix(text, limit)
		if end < len(text) { // the piece that is too much may be a long one
			end += v.within(text[end:end+v.first(text[end:])], limit-n, false)
		}
		places := placesBefore(it.body, end-len(it.head))
		best, at, over := nicest(v, places, room, func(at int) string {
			return it.head + strings.TrimRight(it.body[:at], " \t\n") + "\n"
		})
		if at > 0 {
			return best, at
		}
		if over == 0 {
			break
		}
		limit -= over
	}
	return segment{it.head, v.count(it.head)}, 0
}

// back is the line about what is missing and the end of the body, from later than
// after, in at most room tokens.
func (it *item) back(v *vocabulary, after, room int) (segment, bool) {
	for limit := room - v.count(cutLine(utf8.RuneCountInString(it.body))); limit > 0; {
		places := placesAfter(it.body, max(it.suffix(v, after, limit), after+1))
		best, at, over := nicest(v, places, room, func(at int) string {
			return cutLine(utf8.RuneCountInString(it.body[after:at])) + escapeFrame(it.body[at:])
		})
		if at > 0 {
			return best, true
		}
		if over == 0 {
			break
		}
		limit -= over
	}
	line := cutLine(utf8.RuneCountInString(it.body[after:]))
	n := v.count(line)
	return segment{line, n}, after > 0 && n <= room
}

// nicest renders the places where a cut could be, best first, and takes the first
// that wastes at most a twentieth of room, else the one that wastes least. at is
// 0 where none fits; over is then by how much the last one is too large.
func nicest(v *vocabulary, places []int, room int, render func(at int) string) (best segment, at, over int) {
	for _, place := range places {
		text := render(place)
		n := v.count(text)
		if n > room {
			over = n - room
			continue
		}
		if n > best.tokens {
			best, at = segment{text, n}, place
		}
		if room-n <= room/20 {
			break
		}
	}
	return best, at, over
}

// suffix is the smallest offset in the body, not before after, from which at most
// limit tokens follow. It is found by counting a stretch at the end of the body
// that holds more than limit, forward, since pieces cannot be found backward.
func (it *item) suffix(v *vocabulary, after, limit int) int {
	for width := 8 * limit; ; width *= 2 {
		start := after
		if len(it.body)-width > after {
			start = runeStart(it.body, len(it.body)-width)
		}
		window := it.body[start:]
		total := v.count(window)
		if total <= limit {
			if start == after {
				return after
			}
			continue
		}
		before, end := v.prefix(window, total-limit)
		if before == total-limit {
			return start + end
		}
		piece := window[end : end+v.first(window[end:])] // its beginning is too much
		rest := total - before - v.count(piece)
		return start + end + v.within(piece, limit-rest, true)
	}
}

// shorten cuts a tool stub, which is one line.
func (it *item) shorten(v *vocabulary, room int) (segment, bool) {
	for runes := stubRunes - 25; runes > 0; runes -= 25 {
		text := oneLine(it.head, runes) + "\n"
		if n := v.count(text); n <= room {
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
	for at < len(s) && !utf8.RuneStart(s[at]) {
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

func runeStart(s string, at int) int {
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
