package contextpack

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sessdex/session"
)

// encoded is how many stretches have been encoded.
func (r *ruler) encoded() int {
	n := 0
	for _, tokens := range r.tokens {
		if tokens != nil {
			n++
		}
	}
	return n
}

// encoded is how many bytes of turns were encoded for a pack, about.
func (f *filler) encoded() int {
	n, seen := 0, map[*item]bool{nil: true}
	for _, items := range [][]*item{{f.focus}, f.src.lead, f.before.items, f.after.items} {
		for _, it := range items {
			if !seen[it] {
				seen[it] = true
				n += min(len(it.ruler.text), it.ruler.encoded()*stretch)
			}
		}
	}
	return n
}

// Whatever a ruler says, in whatever order it is asked, is what counting says.
func TestRulerLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := breakRuns(session.Plain(strings.Repeat(drawText(t, "text", 40), rapid.IntRange(1, 60).Draw(t, "times"))))
		enc := rapid.SampledFrom(Encodings).Draw(t, "encoding")
		tok, _ := tokenizerOf(enc)
		total := referenceCount(enc, text)
		r := newRuler(tok, text)
		for range 3 {
			if limit := rapid.IntRange(0, total+5).Draw(t, "limit"); r.fits(limit) != (total <= limit) {
				t.Fatalf("%d tokens fit %d: %v", total, limit, r.fits(limit))
			}
			limit := rapid.IntRange(0, total+5).Draw(t, "limit")
			upto, from := r.upto(limit), r.from(limit)
			if limit >= total && (upto != len(text) || from != 0) {
				t.Fatalf("up to %d, from %d, of %d bytes, all of which fit", upto, from, len(text))
			}
			for at, count := range map[int]func(int) int{lastBreak(text, 0, runeStart(text, upto)): r.before, nextBreak(text, from): r.after} {
				if got, want := r.before(at), referenceCount(enc, text[:at]); got != want || got+r.after(at) != total {
					t.Fatalf("%d tokens before %d and %d after it, counted %d of %d", got, at, r.after(at), want, total)
				}
				if count(at) > limit {
					t.Fatalf("%d tokens are in what should hold %d", count(at), limit)
				}
			}
		}
		if r.count() != total {
			t.Fatalf("%d tokens, counted %d", r.count(), total)
		}
	})
}

// What is encoded of a text depends on the budget, not on the text, and what is
// known is not encoded again.
func TestRulerEncodesLittle(t *testing.T) {
	tok, err := tokenizerOf("")
	if err != nil {
		t.Fatal(err)
	}
	r := newRuler(tok, strings.Repeat("The parser reads one line at a time and keeps what it needs.\n", 100_000))
	if r.fits(8000) {
		t.Fatal("six megabytes fit 8,000 tokens")
	}
	n := r.encoded()
	r.upto(4000)
	r.from(3900)
	if n > 20 || r.encoded() > n {
		t.Errorf("%d stretches of %d encoded to find out, %d to cut", n, len(r.tokens), r.encoded())
	}
}

// No stretch is longer than what breakRuns leaves allows, whatever the text is.
func TestRunsAreBroken(t *testing.T) {
	for _, unit := range append([]string{"a", "=", " ", "/", "字", "aé", "\u0301", "😀", "1", "- ", "'a", "\n", "/\n"}, alphabet...) {
		text := breakRuns(session.Plain(strings.Repeat(unit, 20_000)))
		for at := 0; at < len(text); {
			end := nextBreak(text, at+1)
			if end-at > maxRun+len(runBreak) {
				t.Fatalf("%q: %d bytes without a break", unit, end-at)
			}
			at = end
		}
	}
	for _, text := range []string{"short", strings.Repeat("word ", 1000), strings.Repeat("日本語のテキスト。", 500), strings.Repeat("Zm9vYmFyYmF6cXV4MTIz+/", 500)} {
		if breakRuns(text) != text {
			t.Errorf("%.20q… was broken", text)
		}
	}
}

// A pack encodes hardly more of the turns than it shows, also of huge ones.
func TestPackEncodesLittle(t *testing.T) {
	huge := strings.Repeat("The parser reads one line at a time and keeps what it needs.\n", 20_000)
	for _, turns := range [][]session.Turn{
		{{Role: session.User, Text: huge}},
		{{Role: session.User, Text: huge}, {Role: session.Assistant, Text: huge}, {Role: session.User, Text: "Go on."}, {Role: session.Assistant, Text: huge}},
		long(2000).turns,
	} {
		for _, opts := range []Options{{MaxTokens: 2000}, {MaxTokens: 20_000}, {MaxTokens: 8000, Around: (len(turns) + 1) / 2}} {
			r := newRecorded(turns)
			if err := check(&opts, r.card); err != nil {
				t.Fatal(err)
			}
			f, err := newFiller(context.Background(), r.card, r.reader, opts)
			if err != nil {
				t.Fatal(err)
			}
			p, err := f.pack()
			if err != nil {
				t.Fatal(err)
			}
			if n := f.encoded(); n > len(p.Text)*3/2+4*stretch {
				t.Errorf("%d turns, %+v: %d bytes encoded for a pack of %d", len(turns), opts, n, len(p.Text))
			}
		}
	}
}
