package session

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"pgregory.net/rapid"
)

func TestStrip(t *testing.T) {
	for _, c := range []struct {
		in, want string
		removed  int
	}{
		{"", "", 0},
		{"plain\ttext\n", "plain\ttext\n", 0},
		{"naïve 日本語 ⚠\ufe0f é", "naïve 日本語 ⚠\ufe0f é", 0},
		// Line ends.
		{"a\r\nb\rc", "a\nb\nc", 0},
		{"a\u2028b\u2029c", "a\nb\nc", 0},
		// Not UTF-8.
		{"a\xff\xfeb", "a\ufffd\ufffdb", 0},
		{"\ufffd", "\ufffd", 0},
		{"\xe6\x97", "\ufffd\ufffd", 0},
		// Terminal sequences go whole.
		{"\x1b[31mred\x1b[0m", "red", 2},
		{"\x1b[38:5:196;1mred", "red", 1},
		{"\x1b[2K\x1b[1Gdone", "done", 2},
		{"\x1b]0;a title\x07text", "text", 1},
		{"\x1b]8;;x:y\x1b\\link\x1b]8;;\x1b\\", "link", 2},
		{"\u009b31mred\u009d0;title\u009ctext", "redtext", 2},
		{"\x1bP1$r\x1b\\a\x1b_x\x1b\\b\x1b^x\x07c\x1bXx\u009cd", "abcd", 4},
		{"\x1b(Bplain\x1b7\x1b8\x1b=\x1b>", "plain", 5},
		// What is no sequence loses the control character only.
		{"\x1b", "", 1},
		{"\x1bhello", "hello", 1},
		{"\x1b[", "[", 1},
		{"\x1b[1\nm", "[1\nm", 1},
		{"\x1b[" + strings.Repeat("1", 100) + "m", "[" + strings.Repeat("1", 100) + "m", 1},
		{"\x1b]0;no end\nnext line\x07", "]0;no end\nnext line", 2},
		{"\x1b]a\x1b[31mb", "]ab", 2},
		{"\x1b(日", "(日", 1},
		{"\u009b", "", 1},
		// Controls, hidden and reordering characters.
		{"a\x00b\x07c\x7fd\u0085e", "abcde", 4},
		{"\u202etxt.exe\u202c \u2066x\u2069 \u200e\u061c", "txt.exe x ", 6},
		{"a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u180eh\u034f", "abcdefgh", 8},
		{"x\U000e0041\U000e007f\U000e0100y", "xy", 3},
		{"x\ufe00\ufe0dy\ufff9\u3164\u115f\u17b4\U0001d173\U0001bca0", "xy", 8},
		// Variation selectors: one after something to select a form of.
		{"⚠\ufe0f\ufe0f\ufe0e", "⚠\ufe0f", 2},
		{"⚠\ufe0f\u200b\ufe0f", "⚠\ufe0f", 2},
		{"\ufe0f \ufe0f\n\ufe0e\xff\ufe0f", " \n\ufffd", 4},
	} {
		got, removed := Strip(c.in)
		if got != c.want || removed != c.removed {
			t.Errorf("Strip(%q) = %q, %d, want %q, %d", c.in, got, removed, c.want, c.removed)
		}
		if Plain(c.in) != got {
			t.Errorf("Plain(%q) = %q, Strip gives %q", c.in, Plain(c.in), got)
		}
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	for _, s := range []string{"plain\ttext\n", "naïve 日本語 ⚠\ufe0f"} {
		if got := Plain(s); unsafe.StringData(got) != unsafe.StringData(s) {
			t.Errorf("%q was copied", s)
		}
	}
}

func checkStrip(t interface{ Fatalf(string, ...any) }, s string) {
	got, removed := Strip(s)
	if !utf8.ValidString(got) || removed < 0 || removed > len(s) {
		t.Fatalf("Strip(%q) = %q, %d", s, got, removed)
	}
	for _, r := range got {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(invisible, r) {
			t.Fatalf("Strip(%q) = %q holds %U", s, got, r)
		}
	}
	if again, n := Strip(got); again != got || n != 0 {
		t.Fatalf("Strip(%q) = %q, and of that %q, %d", s, got, again, n)
	}
}

func TestStripLaws(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"word", " ", "\n", "\r", "\t", "\x1b", "[", "]", "31m", "\x07", "\\", "\u009b", "\u009d", "\u009c", "\u200b", "\u202e", "⚠", "\ufe0f", "\ufe0e", "\xff", "\xe6\x97", "日", "\U000e0041",
	})
	rapid.Check(t, func(t *rapid.T) {
		checkStrip(t, strings.Join(rapid.SliceOfN(parts, 0, 20).Draw(t, "parts"), ""))
		checkStrip(t, rapid.String().Draw(t, "text"))
	})
}

func FuzzStrip(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07\u202e\ufe0f\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) { checkStrip(t, s) })
}
