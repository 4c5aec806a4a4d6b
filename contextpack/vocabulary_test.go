package contextpack

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"pgregory.net/rapid"
)

// reference is tiktoken-go itself, which every count must equal.
var reference = sync.OnceValue(func() map[string]*tiktoken.Tiktoken {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	all := map[string]*tiktoken.Tiktoken{}
	for _, name := range Encodings {
		enc, err := tiktoken.GetEncoding(name)
		if err != nil {
			panic(err)
		}
		all[name] = enc
	}
	return all
})

func referenceCount(encoding, text string) int {
	return len(reference()[encoding].EncodeOrdinary(text))
}

func checkCount(t interface{ Fatalf(string, ...any) }, text string) {
	for _, name := range Encodings {
		got, err := Count(name, text)
		if err != nil {
			t.Fatalf("count in %s: %v", name, err)
		}
		if want := referenceCount(name, text); got != want {
			t.Fatalf("%s: %q has %d tokens, tiktoken-go says %d", name, text, got, want)
		}
	}
}

// alphabet has a rune or more of every class that the expressions know, and the
// neighbours that they treat apart.
var alphabet = []string{
	"a", "S", "\u01c5", "\u02b0", "字", "\u0301", "\u0903", "7", "٣", "½", " ", "\t", "\n", "\r", "\u00a0", "\u2028",
	"'", "/", "-", "{", "😀", "\U0001d400", "\U00020000", "\U000e0041", "\x00", "\xff", "é", "\ufffd", "s", "\u0085",
}

func TestCountEveryShortSequence(t *testing.T) {
	for _, a := range alphabet {
		for _, b := range alphabet {
			checkCount(t, a+b)
			for _, c := range alphabet {
				checkCount(t, a+b+c)
			}
		}
	}
}

func TestCountEveryRune(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 31
	}
	var b strings.Builder
	for r := rune(0); r <= 0x10ffff; r += rune(step) {
		if r >= 0x3000 && r%41 != 0 && step == 1 { // large blocks of one class
			continue
		}
		b.WriteString("a" + string(r) + "b " + string(r) + "X" + string(r) + "\n")
		if b.Len() > 1<<16 {
			checkCount(t, b.String())
			b.Reset()
		}
	}
	checkCount(t, b.String())
}

func TestCountKnownTexts(t *testing.T) {
	for _, text := range []string{
		"", " ", "\n", "hello world", "I'll they'RE don't o'clock 'S 'll",
		"func (p *Packer) Pack(ctx context.Context) error {\n\treturn nil\n}\n",
		"1234567 12 ١٢٣٤٥", "   indented\n\n\n   \t\nnext", "a/b//c///\n/\n//\n", "trailing   ", "日本語のテキスト。", "👩‍👩‍👧‍👦",
		"<|endoftext|>", strings.Repeat("a", 2000), strings.Repeat("=", 1500), strings.Repeat(" ", 1500) + "x",
		strings.Repeat("Ab", 700), strings.Repeat("字", 600), strings.Repeat("\n ", 600), "ABCdefGHIjkl XMLHttp",
	} {
		checkCount(t, text)
	}
}

func TestCountRandom(t *testing.T) {
	words := append([]string{"the", "Token", "HTTPServer", "foo_bar", "…", "---", "\n\n", "    ", "0x1f", "naïve", "'ll", "한국어"}, alphabet...)
	rapid.Check(t, func(t *rapid.T) {
		checkCount(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), ""))
		checkCount(t, rapid.String().Draw(t, "text"))
	})
}

// A run without a break is one piece: merging it pair by pair from the start
// each time would take minutes here.
func TestCountHostileRuns(t *testing.T) {
	for _, name := range Encodings {
		n, err := Count(name, strings.Repeat("a", 1<<20))
		if err != nil || n != 1<<17 { // "aaaaaaaa" is a token in both
			t.Errorf("%s: %d tokens, %v", name, n, err)
		}
		for _, unit := range []string{" ", "=", "\n", "字", "aB", "́", "😀"} {
			if _, err := Count(name, strings.Repeat(unit, 1<<17)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestCountUnknownEncoding(t *testing.T) {
	_, err := Count("gpt2", "x")
	if !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), "o200k_base, cl100k_base") {
		t.Errorf("error %v does not say what exists", err)
	}
}

func FuzzCount(f *testing.F) {
	for _, a := range alphabet {
		f.Add("x" + a + a + " y")
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 4000 {
			checkCount(t, text)
		}
	})
}

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
		if _, err := load("o200k_base", firstO200k); err != nil {
			b.Fatal(err)
		}
	}
}

// The law that packing is built on, on made-up text, by tiktoken-go's own count.
func TestCountsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(append(alphabet, "word", "\n\n", "//")), 0, 12)
		a := strings.Join(words.Draw(t, "a"), "") + "\n"
		b := rapid.SampledFrom([]string{"[", "#", "a", "字", "7", "'s", "-", "\u0301"}).Draw(t, "first") + strings.Join(words.Draw(t, "b"), "")
		for _, name := range Encodings {
			if got, want := referenceCount(name, a+b), referenceCount(name, a)+referenceCount(name, b); got != want {
				t.Fatalf("%s: %q and %q have %d tokens, %d together", name, a, b, want, got)
			}
		}
	})
}
