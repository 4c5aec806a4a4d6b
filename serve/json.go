package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteJSON writes v as indented JSON that is safe to show: characters that a
// terminal would act on or that nobody sees are written as escapes, which loses
// nothing.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeHidden(b.Bytes()))
	return err
}

// escapeHidden is JSON with hidden characters as \u escapes. They can only stand in
// strings: outside of them JSON is ASCII.
func escapeHidden(raw []byte) []byte {
	var out []byte
	copied := 0
	for i := 0; i < len(raw); {
		if raw[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(raw[i:])
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector) {
			out = append(out, raw[copied:i]...)
			if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
				out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			copied = i + size
		}
		i += size
	}
	if copied == 0 {
		return raw
	}
	return append(out, raw[copied:]...)
}
