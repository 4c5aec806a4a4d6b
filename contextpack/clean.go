package contextpack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sessdex/session"
)

// maxRun is the length in bytes above which a run without a break is broken up.
// Whoever counts a pack again with a tokenizer that merges a run in quadratic time
// must not pay for what a transcript holds.
const maxRun = 1000

// runBreak stands where a run was broken. A bare newline would not do: white space
// and slashes go on past it in the encodings' expressions.
const runBreak = "\n[unbroken run, goes on]\n"

// maskOpen begins every mark that the scrubber leaves: [REDACTED:rule:abcdef].
const (
	maskOpen = "[REDACTED:"
	maxMask  = 120
)

// invisible holds what a reader cannot see and a model can: bidirectional controls,
// zero-width characters, fillers, tag characters and the variation selectors beyond
// the two that emoji use.
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

// clean makes quoted text safe to hand to an agent: no control characters but
// newline and tab, no terminal sequences, nothing invisible, no special tokens
// of chat templates, valid UTF-8. It says how many characters and sequences it
// took out or broke up; carriage returns become newlines and are not counted.
func clean(s string) (string, int) {
	if plain(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	removed := 0
	selector := false // the rune before was a variation selector that was kept
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		was := selector
		selector = false
		switch {
		case r == '\r':
			if i+1 >= len(s) || s[i+1] != '\n' {
				b.WriteByte('\n')
			}
		case r == 0x1b:
			size = escapeLen(s[i:])
			removed++
		case r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case r == '\ufe0e' || r == '\ufe0f':
			selector = true
			if was {
				removed++
			} else {
				b.WriteRune(r)
			}
		case r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(invisible, r):
			removed++
		case r == '<' && specialLen(s[i:]) > 0:
			size = specialLen(s[i:])
			b.WriteString("<| " + s[i+2:i+size])
			removed++
		default:
			b.WriteRune(r) // one byte that is no UTF-8 becomes one U+FFFD
		}
		i += size
	}
	return b.String(), removed
}

// oneLine is s, clean, on one line and cut to at most n runes, outside a mask.
func oneLine(s string, n int) string {
	s, _ = clean(s)
	s = session.OneLine(s, n)
	whole, cut := strings.CutSuffix(s, "…")
	if i := strings.LastIndexByte(whole, '['); cut && i >= 0 {
		if last := whole[i:]; strings.HasPrefix(maskOpen, last) || strings.HasPrefix(last, maskOpen) && !strings.Contains(last, "]") {
			return strings.TrimRight(whole[:i], " ") + "…"
		}
	}
	return s
}

// plain reports whether clean has nothing to do: printable ASCII without "<|".
func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f || c == '|' && i > 0 && s[i-1] == '<' {
			return false
		}
	}
	return true
}

// escapeLen is the length of the terminal sequence that s begins with, ESC
// included: a control sequence (ESC [ … letter), a command string (ESC ] … BEL or ESC \)
// on one line, or ESC alone where what follows is neither.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 1
	}
	switch s[1] {
	case '[':
		i := 2
		for i < len(s) && i < 64 && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	case ']', 'P', '^', '_':
		for i := 2; i < len(s) && i < 4096 && s[i] != '\n'; i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				break
			}
		}
	}
	return 1
}

// specialLen is the length of the special token that s begins with, such as
// <|endoftext|>, or 0. A service that encodes special tokens would take one in a
// quoted text for its own; broken up it is text, and counts the same everywhere.
func specialLen(s string) int {
	if !strings.HasPrefix(s, "<|") {
		return 0
	}
	for i := 2; i < len(s) && i < 40; i++ {
		switch c := s[i]; {
		case c == '|' && i > 2 && i+1 < len(s) && s[i+1] == '>':
			return i + 2
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return 0
		}
	}
	return 0
}

// breakRuns puts runBreak into runs of letters, of signs or of white space that are
// longer than maxRun. Newlines within signs do not end a run ("/\n/\n/" is one piece
// in o200k_base); combining marks belong to the run they stand in.
func breakRuns(s string) string {
	const none, letters, signs, blanks = 0, 1, 2, 3
	var b strings.Builder
	kind, start, copied := none, 0, 0
	for i := 0; i < len(s); {
		c, size := classAt(s[i:])
		next := signs
		switch {
		case c&newline != 0 && kind == signs, c&head != 0 && c&letter == 0 && kind != blanks && kind != none:
			next = kind
		case c&number != 0:
			next = none
		case c&(letter|head) != 0:
			next = letters
		case c&space != 0:
			next = blanks
		}
		if next != kind || next == none {
			kind, start = next, i
		} else if i+size-start > maxRun {
			b.WriteString(s[copied:i])
			b.WriteString(runBreak)
			copied, start = i, i
		}
		i += size
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

// frameWords begin the lines that make the frame of a pack, after a "[".
var frameWords = []string{"turn", "gap", "cut", "quoted", "end of", "more"}

// escapeFrame puts a backslash before a "[" with which a line of quoted text
// would look like one of the frame's own.
func escapeFrame(s string) string {
	var b strings.Builder
	copied := 0
	for i := 0; ; i++ {
		at := strings.IndexByte(s[i:], '[')
		if at < 0 {
			break
		}
		i += at
		if startsLine(s, i) && looksLikeFrame(s[i+1:]) {
			b.WriteString(s[copied:i])
			b.WriteByte('\\')
			copied = i
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

func startsLine(s string, i int) bool {
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if r == '\n' {
			return true
		}
		if !unicode.IsSpace(r) {
			return false
		}
		i -= size
	}
	return true
}

func looksLikeFrame(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), 40)], " \t")
	for _, w := range frameWords {
		if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
			return true
		}
	}
	return false
}
