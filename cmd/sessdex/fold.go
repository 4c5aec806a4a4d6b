package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// fold breaks a line that is wider than the person's terminal at its spaces, and
// begins each further line with hang spaces. Where there is no terminal the line is
// whole, for other programs.
func (a *app) fold(text string, hang int) string {
	w, tty := terminal(a.out)
	if !tty {
		return strings.ReplaceAll(text, noBreak, " ")
	}
	return foldTo(text, w, hang)
}

// noBreak is a space that stays on its line.
const noBreak = "\u00a0"

// unbroken keeps the words of text on one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", noBreak) }

// foldTo breaks text, which is one line, into lines of at most cols columns. A word
// that is wider stands whole on a line of its own, so that it can be copied.
func foldTo(text string, cols, hang int) string {
	var b strings.Builder
	at, broken := 0, true // broken: nothing is on this line yet but spaces
	for i, word := range strings.Split(text, " ") {
		w := columns(word)
		switch {
		case i == 0:
		case !broken && w > 0 && at+1+w > cols:
			b.WriteString("\n" + strings.Repeat(" ", hang))
			at, broken = hang, true
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += w
		broken = broken && w == 0
	}
	return strings.ReplaceAll(b.String(), noBreak, " ")
}

// columns is how wide a terminal shows text: East Asian wide characters take two
// columns; combining ones, and the attributes that a style sets, take none.
func columns(text string) int {
	n := 0
	escape := false
	for _, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			n++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				n++
			}
		}
	}
	return n
}
