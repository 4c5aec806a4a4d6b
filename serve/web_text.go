package serve

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"sessdex/session"
)

// webText is text of a transcript as people should see it: what is invisible, or
// would reorder what is around it, stands as a sign that can be seen (␀ for a
// control character, ⟦U+202E⟧ for others). Colour codes of terminals are left
// out. It is plain text: the template escapes it.
func webText(s string) string {
	if session.Plain(s) == s {
		return s
	}
	s = strings.ReplaceAll(colour.ReplaceAllString(s, ""), "\r\n", "\n")
	var b strings.Builder
	last := rune(0)
	for _, r := range s {
		switch {
		case session.Plain(string(r)) == string(r), joins(last, r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the block of control pictures
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
		}
		last = r
	}
	return b.String()
}

// colour matches a terminal's control sequences.
var colour = regexp.MustCompile(`\x1b\[[0-9;:?]*[ -/]*[@-~]`)

// joins reports whether r is a zero-width joiner or a variation selector where
// scripts and emoji need one. After Latin letters and ASCII it only hides.
func joins(last, r rune) bool {
	return (r == 0x200c || r == 0x200d || r == 0xfe0e || r == 0xfe0f) && last >= 0x0600 && session.Plain(string(last)) != ""
}

// webLine is webText on one line of at most n runes.
func webLine(s string, n int) string { return session.OneLine(webText(s), n) }

// webCut is webText of at most n runes and how many are missing.
func webCut(s string, n int) (string, int) {
	s = webText(s)
	if len(s) <= n {
		return s, 0
	}
	head := beforeMask(runePrefix(s, n), s)
	return head, utf8.RuneCountInString(s[len(head):])
}
