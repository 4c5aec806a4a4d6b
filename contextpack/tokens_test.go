package contextpack

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// referenceCount is tiktoken-go's count of the whole text at once.
func referenceCount(encoding, text string) int {
	tok, err := tokenizerOf(encoding)
	if err != nil {
		panic(err)
	}
	return len(tok.EncodeOrdinary(text))
}

func checkCount(t interface{ Fatalf(string, ...any) }, text string) {
	for _, name := range Encodings {
		got, err := Count(name, text)
		if err != nil {
			t.Fatalf("count in %s: %v", name, err)
		}
		if want := referenceCount(name, text); got != want {
			t.Fatalf("%s: %d tokens, tiktoken-go counts %d in %q", name, got, want, text)
		}
	}
}

// alphabet has a rune or more of every class that the expressions know, and the
// neighbours that they treat apart.
var alphabet = []string{
	"a", "S", "\u01c5", "\u02b0", "字", "\u0301", "\u0903", "7", "٣", "½", " ", "\t", "\n", "\r", "\u00a0", "\u2028",
	"'", "/", "-", "{", "😀", "\U0001d400", "\U00020000", "\U000e0041", "\x00", "\xff", "é", "\ufffd", "s", "\u0085", "\u017f", "]",
}

// checkBreak divides a and b where the law says that their tokens add up.
func checkBreak(t interface{ Fatalf(string, ...any) }, a, b string) {
	last, _ := utf8.DecodeLastRuneInString(a)
	next, _ := utf8.DecodeRuneInString(b)
	if a == "" || b == "" || !canBreak(last, next) {
		return
	}
	for _, name := range Encodings {
		if whole, left, right := referenceCount(name, a+b), referenceCount(name, a), referenceCount(name, b); whole != left+right {
			t.Fatalf("%s: %q and %q have %d and %d tokens, together %d", name, a, b, left, right, whole)
		}
	}
}

// The law that packing is built on, for every pair of classes in every short context.
func TestBreaksEverywhere(t *testing.T) {
	for _, a := range alphabet {
		for _, b := range alphabet {
			for _, x := range []string{"", "a", " ", "'", "-", "\n", "7", "A", "'l"} {
				for _, y := range []string{"", "l", "ll", " ", "\n", "/", "7", "-"} {
					checkBreak(t, x+a, b+y)
				}
			}
		}
	}
}

// letters of words, for random text that is not only noise.
var words = append([]string{"the", "Token", "HTTPServer", "foo_bar", "…", "---", "\n\n", "    ", "0x1f", "naïve", "'ll", "한국어", "//"}, alphabet...)

func drawText(t *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, most).Draw(t, label), "")
}

func TestBreaksRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text", 40)
		for i := range text {
			if i > 0 {
				checkBreak(t, text[:i], text[i:])
			}
		}
	})
}

func TestCountKnownTexts(t *testing.T) {
	code := "func (p *Packer) Pack(ctx context.Context) error {\n\treturn nil\n}\n"
	for _, text := range []string{
		"", " ", "\n", "hello world", "I'll they'RE don't o'clock 'S 'll", code, strings.Repeat(code, 200),
		"1234567 12 ١٢٣٤٥", "   indented\n\n\n   \t\nnext", "a/b//c///\n/\n//\n", "trailing   ", "👩‍👩‍👧‍👦", "<|endoftext|>",
		strings.Repeat("日本語のテキスト。", 400), strings.Repeat("\xff\x80\x80\x80\x80", 900), strings.Repeat("0123456789", 700),
		strings.Repeat("a", 3000), strings.Repeat("=", 3000), strings.Repeat(" ", 3000) + "x", strings.Repeat("Ab", 1500),
		strings.Repeat("字", 1500), strings.Repeat("\n ", 1500), strings.Repeat("ABCdefGHIjkl XMLHttp", 300), strings.Repeat("é", 2047) + "a b",
	} {
		checkCount(t, text)
	}
}

func TestCountRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "words", 60)
		checkCount(t, text)
		checkCount(t, strings.Repeat(text, 1+4*stretch/(len(text)+1)))
		checkCount(t, rapid.String().Draw(t, "text"))
	})
}

func TestCountUnknownEncoding(t *testing.T) {
	if _, err := Count("gpt2", "x"); !errors.Is(err, ErrOptions) {
		t.Errorf("error %v is not about the options", err)
	}
}

// Both encodings may be loaded at the same time, by several callers.
func TestCountConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if n, err := Count(Encodings[i%2], "hello world"); n != 2 || err != nil {
				t.Errorf("%d tokens, %v", n, err)
			}
		})
	}
	wg.Wait()
}

func FuzzCount(f *testing.F) {
	for _, a := range alphabet {
		f.Add("x" + a + a + " y")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		checkCount(t, text)
		if text != "" {
			checkCount(t, strings.Repeat(text, 1+2*stretch/len(text)))
		}
	})
}

// BenchmarkCount: 3.0 MB/s on one of two shared cores of a virtual server.
func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("func (p *Packer) Pack(ctx context.Context, card *session.Card) error {\n\treturn p.fill(ctx, 12345)\n}\n", 300)
	b.SetBytes(int64(len(text)))
	if _, err := Count("", text); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Count("", text)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := load("o200k_base"); err != nil {
			b.Fatal(err)
		}
	}
}
