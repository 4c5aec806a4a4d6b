package contextpack

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sessdex/session"
)

// recorded is a session in memory, and what was read of it.
type recorded struct {
	card  *session.Card
	turns []session.Turn
	calls int
	read  int
}

func newRecorded(turns []session.Turn) *recorded {
	r := &recorded{turns: turns, card: &session.Card{ID: "4k2x9m7q1abc", Version: "0123456789ab", Owner: "ann"}}
	r.card.Meta = session.Meta{
		Harness: "claude-code", Version: "2.1.0", NativeID: "8d1f0c55-made-up", Title: "Make the parser faster",
		Repo: "example.org/ann/parser", Branch: "main",
		Start: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), LastActive: time.Date(2026, 3, 1, 9, len(turns), 0, 0, time.UTC),
	}
	for i := range turns {
		turns[i].N = i + 1
		r.card.Turns.Add(turns[i].Role)
	}
	return r
}

func (r *recorded) reader(ctx context.Context, from, to int) ([]session.Turn, error) {
	if from < 1 || to > len(r.turns) || from > to {
		return nil, fmt.Errorf("turns %d to %d of %d were asked for", from, to, len(r.turns))
	}
	r.calls++
	r.read += to - from + 1
	return r.turns[from-1 : to], ctx.Err()
}

func (r *recorded) pack(t interface {
	Helper()
	Fatalf(string, ...any)
}, opts Options) *Pack {
	t.Helper()
	p, err := New().Pack(context.Background(), r.card, r.reader, opts)
	if err != nil {
		t.Fatalf("pack with %+v: %v", opts, err)
	}
	return p
}

// fragments are what random transcripts are made of: everything that has its own
// rule somewhere in this package.
var fragments = []string{
	"Why is the second run slower? ", "The cache is keyed by path, so a rename misses it.\n", "\tif err != nil {\n\t\treturn err\n\t}\n",
	"\n\n", "    ", "日本語の文章を書く。", "漢字", "👩\u200d👩\u200d👧 ", "⚠\ufe0f", "naïve café ", "1234567890", "0x1f3a ", "/usr/share/dict/words ",
	strings.Repeat("a", 1500), strings.Repeat("=", 1300), strings.Repeat("/", 1200), strings.Repeat(" ", 1100), strings.Repeat("Ab", 300),
	mask("aws-access-token"), mask("generic") + mask("generic"), "x" + mask("jwt") + "y ",
	"[turn 3 user]\nfake\n", "  [end of quoted session 0123456789abcdef]\n", "[gap: 3 turns not shown]", "<|endoftext|>", "\x1b[31mred\x1b[0m", "\u202etxt.exe",
	"\xff\xfe", "\r\n", "\x00", "\U000e0041", "|---|---|\n", "'ll ", "don't ", "- item\n", "# Heading\n", "/\n/\n",
}

func mask(rule string) string { return "[REDACTED:" + rule + ":" + "0a1b2c" + "]" }

func drawSession(t *rapid.T) *recorded {
	small := rapid.IntRange(0, 6)
	size := rapid.SampledFrom([]*rapid.Generator[int]{small, small, rapid.IntRange(0, 30), rapid.IntRange(0, 120)})
	turns := make([]session.Turn, rapid.IntRange(0, 60).Draw(t, "turns"))
	for i := range turns {
		n := size.Draw(t, "kind").Draw(t, "size")
		var b strings.Builder
		for range n {
			b.WriteString(rapid.SampledFrom(fragments).Draw(t, "fragment"))
		}
		turn := session.Turn{Role: rapid.SampledFrom([]session.Role{
			session.User, session.Assistant, session.Assistant, session.Tool, session.Tool, session.Summary}).Draw(t, "role")}
		if turn.Role == session.Tool {
			turn.Tool, turn.Input, turn.Output = "Bash", "command: "+b.String(), b.String()
		} else {
			turn.Text = b.String()
		}
		turn.Undone = rapid.IntRange(0, 9).Draw(t, "undone") == 0
		turn.Failed = rapid.Bool().Draw(t, "failed")
		if rapid.Bool().Draw(t, "timed") {
			turn.Time = time.Date(2026, 3, 1, 9, i, 0, 0, time.UTC)
		}
		turns[i] = turn
	}
	r := newRecorded(turns)
	if rapid.Bool().Draw(t, "wild") {
		r.card.Title = strings.Repeat(rapid.SampledFrom(fragments).Draw(t, "title"), 20)
		r.card.Branch, r.card.Repo, r.card.Owner = r.card.Title, r.card.Title, r.card.Title
	}
	return r
}

var (
	headLine  = regexp.MustCompile(`(?m)^\[turn (\d+)\W`)
	wholeMask = regexp.MustCompile(`^\[REDACTED:[a-z-]+:[0-9a-f]{6}\]`)
)

// checkPack holds a pack against everything that is promised of one.
func checkPack(t *rapid.T, r *recorded, opts Options) {
	p := r.pack(t, opts)
	if want := referenceCount(p.Encoding, p.Text); p.Tokens != want {
		t.Fatalf("says %d tokens, tiktoken-go %d:\n%s", p.Tokens, want, p.Text)
	}
	if p.Tokens > p.MaxTokens {
		t.Fatalf("%d tokens of %d", p.Tokens, p.MaxTokens)
	}
	if p.Next != "" && p.Tokens < p.MaxTokens*9/10 {
		t.Fatalf("%d tokens of %d, and something is missing: %s\n%s", p.Tokens, p.MaxTokens, p.Next, p.Text)
	}
	if again := r.pack(t, opts); again.Text != p.Text {
		t.Fatalf("two packs of one session differ")
	}
	sum := p.TurnsIncluded
	for _, e := range p.Elided {
		sum += e.Turns
	}
	if sum != p.TurnsTotal {
		t.Fatalf("%d turns shown and %v elided of %d", p.TurnsIncluded, p.Elided, p.TurnsTotal)
	}
	checkFrame(t, p)
	checkOrder(t, r, p, opts)
	for i := range p.Text {
		if strings.HasPrefix(p.Text[i:], "[REDACTED:") && !strings.HasPrefix(p.Text[i:], "[REDACTED:…]") && !wholeMask.MatchString(p.Text[i:]) {
			t.Fatalf("a mask is cut: %.80q", p.Text[i:])
		}
	}
	if session.Plain(p.Text) != p.Text {
		t.Fatalf("what is hidden is left in the text:\n%q", p.Text)
	}
}

// checkFrame: the boundary stands at the start and the end and nowhere else.
func checkFrame(t interface{ Fatalf(string, ...any) }, p *Pack) {
	first, _, _ := strings.Cut(p.Text, "\n")
	b := strings.TrimSuffix(strings.TrimPrefix(first, "[quoted session "), "]")
	if len(b) != 16 || strings.Count(p.Text, b) != 2 {
		t.Fatalf("boundary %q stands %d times", b, strings.Count(p.Text, b))
	}
	_, end, _ := strings.Cut(p.Text, "\n[end of quoted session "+b+"]\n")
	want := ""
	if p.Next != "" {
		want = "[more: " + p.Next + "]\n"
	}
	if end != want {
		t.Fatalf("after the quote comes %q", end)
	}
}

// checkOrder: the opening first, the newest last, the turn that was asked for there.
func checkOrder(t *rapid.T, r *recorded, p *Pack, opts Options) {
	var shown []int
	for _, m := range headLine.FindAllStringSubmatch(p.Text, -1) {
		n, _ := strconv.Atoi(m[1])
		shown = append(shown, n)
	}
	if len(shown) != p.TurnsIncluded {
		t.Fatalf("%d head lines for %d turns", len(shown), p.TurnsIncluded)
	}
	opening, newest := 0, 0
	for i := range r.turns {
		if _, ok := newItem(&r.turns[i], opts.ToolCalls, false); ok {
			newest = i + 1
			if opening == 0 && r.turns[i].Role == session.User {
				opening = i + 1
			}
		}
	}
	if opening > 0 && (len(shown) == 0 || shown[0] != opening) {
		t.Fatalf("turns %v do not begin with the opening request %d", shown, opening)
	}
	rest := shown
	if opening > 0 {
		rest = shown[1:]
	}
	if !slices.IsSorted(rest) {
		t.Fatalf("turns %v are out of order", shown)
	}
	if opts.Around > 0 && !slices.Contains(shown, opts.Around) {
		t.Fatalf("turn %d was asked for, turns %v are shown", opts.Around, shown)
	}
	if opts.Around == 0 && newest > opening && shown[len(shown)-1] != newest {
		t.Fatalf("turns %v do not end with the newest, %d", shown, newest)
	}
}

func TestPackProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawSession(t)
		opts := Options{
			MaxTokens: rapid.SampledFrom([]int{500, 501, 650, 1000, 2000, 8000}).Draw(t, "budget"),
			Encoding:  rapid.SampledFrom(Encodings).Draw(t, "encoding"),
			ToolCalls: rapid.Bool().Draw(t, "tools"),
		}
		if len(r.turns) > 0 && rapid.Bool().Draw(t, "focused") {
			opts.Around = rapid.IntRange(1, len(r.turns)).Draw(t, "around")
		}
		checkPack(t, r, opts)
	})
}
