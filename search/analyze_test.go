package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// words renders the tokens of a text: words apart by spaces, the tokens of one by "+".
func words(text string) string {
	var b strings.Builder
	var a analyzer
	last := -1
	a.analyze(text, func(t token) {
		switch {
		case b.Len() == 0:
		case t.word == last:
			b.WriteByte('+')
		default:
			b.WriteByte(' ')
		}
		last = t.word
		b.Write(t.term)
	})
	return b.String()
}

func TestAnalyze(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"The quick fox", "the quick fox"},
		{"fooBar", "foobar+foo+bar"},
		{"foo_bar foo-bar FOO_BAR", "foobar+foo+bar foobar+foo+bar foobar+foo+bar"},
		{"parseHTTPServer", "parsehttpserver+pars+http+server"},
		{"sha256 base64 x86 q3fy", "sha256 base64 x86 q3fy"},
		{"bd-q3fy", "bdq3fy+bd+q3fy"},
		{"--no-verify -p", "noverifi+no+verifi p"},
		{"err.Error()", "err.error+err+error"},
		{"main.go.", "main.go+main+go"},
		{"git_cloner.ts", "gitcloner.ts+git+cloner+ts+gitcloner"},
		{"src/a/big-file.go", "src a bigfile.go+big+file+go+bigfile"},
		{`C:\a\b.go`, "c a b.go+go"},
		{"std::vector<int>", "std vector int"},
		{"http://x/y?z=1", "http x y z 1"},
		{"c++ C# a+b f#", "c++ c# a b f#"},
		{"don't users' user's", "dont user user"},
		{"2.1.62 2026-01-31 0.12s", "2.1.62 20260131 0.12s+12s"},
		{"wait... for it", "wait for it"},
		{"Café naïve Straße ÆON", "cafe naiv strass aeon"},
		{"cafe\u0301", "cafe"},
		{"Ｆｕｌｌ ｗｉｄｔｈ", "full width"},
		{"ёлка ЁЛКА Привет", "елка елка привет"},
		{"用Go写", "用 go 写"},
		{"用户", "用+用户 户"},
		{"技術スタック", "技+技術 術+術ス ス+スタ タ+タッ ッ+ック ク"},
		{"한국어", "한+한국 국+국어 어"},
		{"fix 🚀 it", "fix 🚀 it"},
		{"\x1b[36mblue\x1b[0m", "blue"},
		{"     7→package x\n    12\treturn\n8 tab", "packag x return 8 tab"},
		{"a\xff\xfeb \x00", "a b"},
		{"running stopped caches caching cache", "run stop cach cach cach"},
		{"settings setting classes class status", "set set class class status"},
		{"created creating create updates updated", "creat creat creat updat updat"},
	} {
		if got := words(c.in); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestAnalyzeLongWords(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 8)
	if got := words(hash); got != hash[:noiseKeep] {
		t.Errorf("noise keeps %q", got)
	}
	long := strings.Repeat("x", 100_000)
	if got := words(long); got != long[:maxToken] {
		t.Errorf("a long word gives %d bytes", len(got))
	}
	wide := strings.Repeat("я", 300)
	if got := words(wide); len(got) > maxToken || !utf8.ValidString(got) {
		t.Errorf("a long word gives %d bytes, valid: %v", len(got), utf8.ValidString(got))
	}
	many := strings.Repeat("ab_", 40) + "c"
	if got := words(many); strings.Contains(got, "+") {
		t.Errorf("a word of 41 parts gives %s", got)
	}
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{"fooBar_baz-1.2", "用Go写", "c++", "\x1b[", "aBC.dE..f", "ﬁn İI ß", strings.Repeat("aB1", 200), "’", "a’b'c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a analyzer
		start, word := 0, 0
		a.analyze(text, func(k token) {
			if len(k.term) == 0 || len(k.term) > maxToken {
				t.Fatalf("token of %d bytes", len(k.term))
			}
			if !utf8.Valid(k.term) {
				t.Fatalf("token %q is no UTF-8", k.term)
			}
			if k.start > k.end || k.end > len(text) || k.word < word-1 || k.start < start && !k.pair {
				t.Fatalf("token %q of word %d at %d to %d after word %d at %d", k.term, k.word, k.start, k.end, word, start)
			}
			start, word = k.start, k.word
		})
		if len(text) < 1000 { // what is indexed is found
			for _, q := range terms(text) {
				if !strings.Contains(" "+strings.NewReplacer("+", " ").Replace(words(text))+" ", " "+strings.ReplaceAll(q.whole, "+", " ")+" ") {
					t.Fatalf("query token %q is not indexed: %s", q.whole, words(text))
				}
			}
		}
	})
}

func BenchmarkAnalyze(b *testing.B) {
	text := strings.Repeat("func (x *Index) readTable(ctx context.Context) error { return nil } // keep what was written\n", 1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var a analyzer
		a.analyze(text, func(token) {})
	}
}
