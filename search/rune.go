package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Character kinds that matter to the scanner.
const (
	kindBreak  = iota
	kindLower  // letters without case, too
	kindUpper  //
	kindDigit  //
	kindMark   // combining accents: dropped
	kindJoint  // joins word characters when single
	kindDense  // scripts without spaces between words
	kindSymbol // emoji
)

var asciiKind = func() (k [utf8.RuneSelf]uint8) {
	for c := range k {
		switch {
		case 'a' <= c && c <= 'z':
			k[c] = kindLower
		case 'A' <= c && c <= 'Z':
			k[c] = kindUpper
		case '0' <= c && c <= '9':
			k[c] = kindDigit
		case c == '_' || c == '-' || c == '.' || c == '\'':
			k[c] = kindJoint
		}
	}
	return k
}()

// dense are the scripts whose words are not separated.
var dense = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

func kindOf(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return asciiKind[r]
	case r == utf8.RuneError:
		return kindBreak
	case r == '’':
		return kindJoint
	case 0x300 <= r && r <= 0x36f:
		return kindMark
	case r >= 0xe00 && r != 'ー' && unicode.In(r, dense...) || r == 'ー' || 0xff66 <= r && r <= 0xff9f:
		return kindDense
	case unicode.IsUpper(r):
		return kindUpper
	case unicode.IsLetter(r), unicode.IsMark(r) && !isVariation(r):
		return kindLower
	case unicode.IsDigit(r):
		return kindDigit
	case 0x1f300 <= r && r <= 0x1faff || 0x2600 <= r && r <= 0x27bf:
		return kindSymbol
	}
	return kindBreak
}

func isVariation(r rune) bool { return 0xfe00 <= r && r <= 0xfe0f }

func cutRune(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// appendFolded appends the lower-case, accent-free form of r.
func appendFolded(b []byte, r rune) []byte {
	r = fold(r)
	switch {
	case r < utf8.RuneSelf:
		return append(b, byte(r))
	case r == 'ß':
		return append(b, "ss"...)
	case r == 'æ':
		return append(b, "ae"...)
	case r == 'œ':
		return append(b, "oe"...)
	case 0xfb00 <= r && r <= 0xfb06: // ligatures
		return append(b, norm.NFKC.String(string(r))...)
	}
	return utf8.AppendRune(b, r)
}

// fold maps a rune to the one that stands for it in the index.
func fold(r rune) rune {
	switch {
	case 0xff01 <= r && r <= 0xff5e: // full-width ASCII
		r -= 0xfee0
	case 0xff66 <= r && r <= 0xff9d: // half-width katakana
		if k := norm.NFKC.String(string(r)); k != "" {
			r, _ = utf8.DecodeRuneInString(k)
		}
		return r
	}
	r = unicode.ToLower(r)
	switch {
	case r < 0xc0:
		return r
	case r == 'ё':
		return 'е'
	case r <= 0x24f, 0x370 <= r && r <= 0x3ff, 0x1e00 <= r && r <= 0x1fff: // Latin and Greek
		if d := norm.NFD.PropertiesString(string(r)).Decomposition(); len(d) > 0 {
			base, _ := utf8.DecodeRune(d)
			return base
		}
		switch r {
		case 'ø':
			return 'o'
		case 'ł':
			return 'l'
		case 'đ':
			return 'd'
		case 'ı':
			return 'i'
		}
	}
	return r
}
