package search

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

func TestTurns(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("u: turn %d %s", i+1, strings.Repeat("text ", i)))
	}
	lines = append(lines, "t: Bash | big | "+strings.Repeat("0123456789 line\n", 20_000))
	d := talk("x", nil, lines...)
	x := newIndex(t, d, talk("y", nil, "u: other"))
	all := slices.Collect(d.Turns)
	for _, c := range [][2]int{{1, 1}, {1, 301}, {150, 160}, {300, 301}, {301, 301}, {-4, 2}, {299, 900}, {302, 400}, {5, 4}} {
		got, err := x.Turns(t.Context(), "x", c[0], c[1])
		if err != nil {
			t.Fatal(err)
		}
		want := []session.Turn{}
		for _, turn := range all {
			if c[0] <= turn.N && turn.N <= c[1] {
				want = append(want, turn)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v: %s", c, d)
		}
	}
	if _, err := x.Turns(t.Context(), "nosuch", 1, 2); err == nil {
		t.Error("turns of no session")
	}
}

// A long turn is copied a few times as it is read, not once for each of its pieces.
func TestLongTurnIsJoinedOnce(t *testing.T) {
	const size = 4 << 20
	x := newIndex(t, talk("x", nil, "t: Bash | big | "+strings.Repeat("0123456789 line\n", size/16)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	turns, err := x.Turns(t.Context(), "x", 1, 1)
	runtime.ReadMemStats(&after)
	if err != nil || len(turns) != 1 || len(turns[0].Output) != size {
		t.Fatalf("%d turns, %v", len(turns), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16*size {
		t.Errorf("reading %d MB took %d MB", size>>20, n>>20)
	}
}

func TestResolve(t *testing.T) {
	x := newIndex(t,
		talk("0abc11111111", func(c *session.Card) { c.NativeID = "019a8b7c-0000-7000-8000-aaaaaaaaaaaa" }, "u: x"),
		talk("0abc22222222", func(c *session.Card) { c.NativeID = "0abc1111-4444" }, "u: x"),
		talk("0def33333333", func(c *session.Card) { c.NativeID = "session-1" }, "u: x"),
		talk("0def44444444", func(c *session.Card) { c.NativeID = "session-10" }, "u: x"),
		talk("shrt", func(c *session.Card) { c.NativeID = "N7" }, "u: x"),
	)
	for _, c := range []struct{ ref, want string }{
		{"0abc11111111", "0abc11111111"},
		{"session-1", "0def33333333"}, // and not the one whose id goes on
		{"session-10", "0def44444444"},
		{"session-", "0def33333333 0def44444444"},
		{"0abc1111", "0abc11111111 0abc22222222"},
		{"0ABC2", "0abc22222222"},
		{"0abc", "0abc11111111 0abc22222222"},
		{"0ab", "0abc11111111 0abc22222222"}, // of an id, any beginning
		{"019", ""},                          // of a native id, four characters at least
		{"019a8b7c", "0abc11111111"},
		{"n7", "shrt"},
		{"", ""},
		{"*", ""},
	} {
		got, err := x.Resolve(t.Context(), c.ref)
		if slices.Sort(got); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v %v, want %s", c.ref, got, err, c.want)
		}
	}
}

func TestView(t *testing.T) {
	x := newIndex(t, talk("x", nil, "u: hello", "a: world"))
	err := x.View(t.Context(), func(v *View) error {
		r, err := v.Search(t.Context(), Query{Text: "world"})
		if err != nil {
			return err
		}
		turns, err := v.Turns(t.Context(), r.Hits[0].ID, 1, 2)
		if len(turns) != 2 {
			t.Errorf("%d turns", len(turns))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, Query{Text: "world"}); err == nil {
		t.Error("a cancelled search answers")
	}
}

// A session that asked us is not found by what it asked for and was answered, but
// its turns are kept whole.
func TestOurOwnAnswersAreNotFound(t *testing.T) {
	x := newIndex(t,
		talk("origin", nil, "u: why does the heliograph stall"),
		talk("asker", nil, "u: take up the earlier work", "t: mcp__sessdex__search_sessions | query: heliograph stall | 1. origin: why does the heliograph stall",
			"t: functions.exec | call it | "+session.PackOpen+"0123456789abcdef] why does the heliograph stall"),
	)
	if got := ids(ask(t, x, Query{Text: "heliograph stall"})); got != "origin" {
		t.Errorf("found %q, want only the session that is about it", got)
	}
	turns, err := x.Turns(t.Context(), "asker", 2, 2)
	if err != nil || len(turns) != 1 || !strings.Contains(turns[0].Output, "heliograph") {
		t.Errorf("the turn is %+v, %v", turns, err)
	}
}
