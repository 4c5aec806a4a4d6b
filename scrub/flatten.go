package scrub

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A transcript hides a secret behind any number of escaping levels: a tool's
// JSON inside a JSON string, a key's newlines as \n or \\n, a letter as \u0041,
// colours between a name and its value. The rules look at the flat text, in
// which all levels are undone at once; findings are mapped back by walking the
// raw bytes a second time, which only lines with findings pay for.

// flatten appends raw to dst with every escape sequence undone. isJSON says
// that an unescaped quote is structure; see escape.
func flatten(dst, raw []byte, isJSON bool) []byte {
	for {
		i := nextEscape(raw, isJSON)
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		size, out, n := escape(raw[i:], isJSON)
		dst = append(dst, out[:n]...)
		raw = raw[i+size:]
	}
}

// nextEscape is the offset of the first byte that opens an escape sequence. In
// plain text that may be an ESC of a terminal; in JSON it is always spelled out.
func nextEscape(raw []byte, isJSON bool) int {
	if isJSON {
		return bytes.IndexByte(raw, '\\')
	}
	return bytes.IndexAny(raw, "\\\x1b")
}

// escape reads the escape sequence that b starts with: a run of back-slashes
// and what it escapes at whatever level. It returns the sequence's size in raw
// bytes and the n bytes of flat text that it stands for. A sequence never ends
// inside a JSON escape, so that cutting between sequences keeps JSON valid.
func escape(b []byte, isJSON bool) (size int, out [4]byte, n int) {
	if b[0] == 0x1b {
		if m := colour(b[1:]); m > 0 {
			return 1 + m, out, 0
		}
		out[0] = b[0]
		return 1, out, 1
	}
	k := 1
	for k < len(b) && b[k] == '\\' {
		k++
	}
	out[0], n = '\\', 1
	if k == len(b) {
		return k, out, n
	}
	odd := k%2 == 1
	switch c := b[k]; c {
	case '"':
		if isJSON && !odd {
			return k, out, n // \\" ends the literal: the quote is structure
		}
		out[0] = '"'
	case '/', '\'', '`':
		out[0] = c
	case 'n':
		out[0] = '\n'
	case 'r':
		out[0] = '\r'
	case 't':
		out[0] = '\t'
	case 'b', 'f':
		if !odd {
			return k, out, n
		}
		out[0] = ' '
	case 'u':
		return unicodeEscape(b, k)
	default:
		return k, out, n
	}
	return k + 1, out, n
}

// unicodeEscape reads k back-slashes and uXXXX, a surrogate pair of them, or
// the terminal sequence that an escaped ESC opens (which stands for nothing).
func unicodeEscape(b []byte, k int) (size int, out [4]byte, n int) {
	out[0], n = '\\', 1
	r, ok := hex4(b[k+1:])
	if !ok {
		if k%2 == 1 {
			k++ // not JSON; keep the pair together all the same
		}
		return k, out, n
	}
	size = k + 5
	if utf16.IsSurrogate(r) {
		rest := b[size:]
		r2 := rune(-1)
		if len(rest) > k && bytes.Equal(rest[:k], b[:k]) && rest[k] == 'u' {
			if low, ok := hex4(rest[k+1:]); ok {
				r2 = low
			}
		}
		if r = utf16.DecodeRune(r, r2); r != utf8.RuneError {
			size += k + 5
		}
	}
	if r == 0x1b {
		if m := colour(b[size:]); m > 0 {
			return size + m, out, 0
		}
	}
	return size, out, utf8.EncodeRune(out[:], r)
}

// colour is the length of the rest of an SGR sequence ("[1;31m"), or 0.
func colour(b []byte) int {
	if len(b) == 0 || b[0] != '[' {
		return 0
	}
	for i := 1; i < len(b) && i < 24; i++ {
		switch c := b[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// splice appends raw to dst with the spans of its flat text replaced by their
// marks. spans are sorted and do not overlap. In JSON the quotes, numbers and
// punctuation outside of literals stay as they are, and a span that reaches
// over several literals is marked once in each. Bytes outside of literals that
// no JSON text can hold there are masked too: a torn line must not leak. Each
// span is told how many marks it left.
func splice(dst, raw []byte, isJSON bool, spans []span) []byte {
	var (
		at     int  // position in the flat text
		inside bool // in a literal
		marked bool // the current span already left its mark in this literal
	)
	for i := 0; i < len(raw); {
		if len(spans) > 0 && at >= spans[0].hi {
			spans, marked = spans[1:], false
			continue
		}
		if len(spans) == 0 {
			return append(dst, raw[i:]...)
		}
		size, n := 1, 1
		if raw[i] == '\\' || raw[i] == 0x1b && !isJSON {
			size, _, n = escape(raw[i:], isJSON)
		}
		s := spans[0]
		hit := at < s.hi && at+n > s.lo && (n > 0 || at > s.lo)
		switch {
		case isJSON && raw[i] == '"':
			inside, marked, hit = !inside, false, false
		case hit && isJSON && !inside:
			hit = !structural(raw, i)
		}
		switch {
		case !hit:
			dst = append(dst, raw[i:i+size]...)
		case !marked:
			dst = append(dst, s.mark...)
			spans[0].marks++
			marked = true
		}
		i, at = i+size, at+n
	}
	return dst
}

// structural reports whether the byte at i, outside of a literal, belongs to
// JSON's own grammar: punctuation, white space, a number, true, false, null.
func structural(raw []byte, i int) bool {
	if isPunct(raw[i]) {
		return true
	}
	lo, hi := i, i+1
	for lo > 0 && i-lo < 512 && !isPunct(raw[lo-1]) {
		lo--
	}
	for hi < len(raw) && hi-i < 512 && !isPunct(raw[hi]) {
		hi++
	}
	switch word := raw[lo:hi]; string(word) {
	case "true", "false", "null":
		return true
	default:
		return len(bytes.Trim(word, "0123456789+-.eE")) == 0
	}
}

func isPunct(c byte) bool {
	switch c {
	case '{', '}', '[', ']', ':', ',', '"', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
