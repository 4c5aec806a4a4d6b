package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine folds white space into single spaces, drops control characters and
// cuts to at most n runes, the last being "…" where something was cut.
func OneLine(s string, n int) string {
	var b strings.Builder
	count, space := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError || unicode.IsControl(r):
			continue
		}
		need := 1
		if space {
			need = 2
		}
		if count+need > n {
			out := b.String()
			if count == n && n > 0 {
				_, size := utf8.DecodeLastRuneInString(out)
				out = out[:len(out)-size]
			}
			return strings.TrimRight(out, " ") + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		count += need
	}
	return b.String()
}
