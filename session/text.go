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

// Plain makes text harmless to show: invalid UTF-8 becomes U+FFFD, and what a
// terminal, a browser or a model would act on or not show is left out: C0
// controls but newline and tab, C1, escape, bidirectional controls, zero-width
// and tag characters. Clean text comes back as it is, without a copy.
func Plain(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r // strings.Map writes U+FFFD for invalid bytes
	}, s)
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20 || r >= 0x7f && r <= 0x9f:
		return true
	case r < 0x200b:
		return r == 0xad || r == 0x61c || r == 0x180e
	case r <= 0x200f: // zero width and direction marks
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}
