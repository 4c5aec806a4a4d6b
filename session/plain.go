package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes text harmless to show, to a terminal, a browser or a model: what
// these would act on, or a reader would not see, is left out. Plain text comes
// back as it is, without a copy. See Strip.
func Plain(s string) string {
	s, _ = Strip(s)
	return s
}

// Strip is Plain, and says how many characters and sequences it left out:
// terminal sequences, whole; control characters but newline and tab; bidirectional
// controls; zero-width and filler characters; tag characters; variation selectors
// but one U+FE0E or U+FE0F after a character, which emoji need.
//
// It does not count what it puts something else for: U+FFFD for a byte that is not
// UTF-8, a newline for the separators U+2028 and U+2029 and for a carriage return,
// which just goes before a newline. A second time changes nothing.
func Strip(s string) (plain string, removed int) {
	var b strings.Builder
	copied := 0 // s[:copied] is written, or left out
	last := ' ' // the character before in what is written
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f || c == '\n' || c == '\t' {
			last = rune(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		put := ""
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\r', r == '\u2028', r == '\u2029':
			put, last = "\n", '\n'
		case r == utf8.RuneError && size == 1:
			put, last = "\ufffd", r
		case unicode.IsControl(r):
			size = sequenceLen(s[i:])
			removed++
		case unicode.Is(invisible, r), isSelector(r) && (last <= ' ' || last == utf8.RuneError || isSelector(last)):
			removed++
		default:
			last = r
			i += size
			continue
		}
		b.WriteString(s[copied:i])
		b.WriteString(put)
		i += size
		copied = i
	}
	if copied == 0 {
		return s, 0
	}
	b.WriteString(s[copied:])
	return b.String(), removed
}

// isSelector: U+FE0E asks for the text form of the character before, U+FE0F for the emoji.
func isSelector(r rune) bool { return r == '\ufe0e' || r == '\ufe0f' }

// invisible is what a reader cannot see and a model can, besides controls: soft
// hyphen, joiners and fillers, bidirectional controls, zero-width characters,
// variation selectors but the two that emoji use, interlinear annotations,
// shorthand and music controls, tag characters.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0d, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, {Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, {Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
	LatinOffset: 1,
}

// How far a terminal sequence is followed, in bytes.
const (
	maxControl = 64   // a control sequence: a colour, a movement
	maxCommand = 4096 // a command string: a title, the target of a link
)

// sequenceLen is the length of the terminal sequence (ECMA-48) that s begins
// with, else of the control character it begins with. A sequence is introduced by
// ESC and a character, or by the one C1 character that means the same: two bytes either way.
func sequenceLen(s string) int {
	r, alone := utf8.DecodeRuneInString(s)
	kind := r - 0x40 // what ESC would need for a C1 character
	if r == 0x1b && len(s) > 1 {
		kind = rune(s[1])
	} else if alone == 1 {
		return 1
	}
	body := s[2:]
	switch kind {
	case '[': // parameters, then a final character
		n := 0
		for n < min(len(body), maxControl) && body[n] >= 0x20 && body[n] <= 0x3f {
			n++
		}
		if n < len(body) && body[n] >= 0x40 && body[n] <= 0x7e {
			return 2 + n + 1
		}
	case ']', 'P', 'X', '^', '_': // on one line up to BEL or the string terminator
		for n := 0; n < min(len(body), maxCommand) && body[n] != '\n'; n++ {
			switch {
			case body[n] == 0x07:
				return 2 + n + 1
			case strings.HasPrefix(body[n:], "\x1b\\"), strings.HasPrefix(body[n:], "\u009c"):
				return 2 + n + 2
			case body[n] == 0x1b:
				return alone
			}
		}
	case '(', ')', '*', '+', '#', '%': // a character set, and the character that names it
		if r == 0x1b && body != "" && body[0] >= '0' && body[0] <= '~' {
			return 3
		}
	case '7', '8', '=', '>': // the cursor's place, the keypad's mode
		if r == 0x1b {
			return 2
		}
	}
	return alone
}
