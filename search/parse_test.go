package search

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseQuery(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Parsed
	}{
		{"", Parsed{}},
		{"  \t\n ", Parsed{}},
		{"two words", Parsed{Words: []string{"two", "words"}}},
		{`say "two  words" now`, Parsed{Words: []string{"say", "now"}, Phrases: []string{"two words"}}},
		{`"unclosed text`, Parsed{Words: []string{"unclosed", "text"}}},
		{`a"b" c"`, Parsed{Words: []string{"a", "c"}, Phrases: []string{"b"}}},
		{`""`, Parsed{}},
		{"fix -draft", Parsed{Words: []string{"fix"}, Not: []string{"draft"}}},
		{`fix -"first draft"`, Parsed{Words: []string{"fix"}, Not: []string{"first draft"}}},
		{"-draft fix it", Parsed{Words: []string{"fix", "it"}, Not: []string{"draft"}}},
		{"go test -run TestIndex -count=1 ./search -race", Parsed{Words: []string{"go", "test", "-run", "TestIndex", "-count=1", "./search"}, Not: []string{"race"}}},
		{"git --no-verify -m x -", Parsed{Words: []string{"git", "--no-verify", "-m", "x", "-"}}},
		{"harness:claude-code tag:a TAG:b bug", Parsed{Words: []string{"bug"}, Harness: []string{"claude-code"}, Tags: []string{"a", "b"}}},
		{`file:src/a.go branch:x/y repo:o/n author:ann role:user`, Parsed{Files: []string{"src/a.go"}, Branch: []string{"x/y"}, Repo: []string{"o/n"}, Author: []string{"ann"}, Role: []string{"user"}}},
		{`file:"my file.go"`, Parsed{Files: []string{"my file.go"}}},
		{"agent:codex-cli", Parsed{Harness: []string{"codex-cli"}}},
		{"since:2026-01-31 until:7d", Parsed{Since: "2026-01-31", Until: "7d"}},
		{`since:"last week"`, Parsed{Since: "last week"}},
		{"since:never until:", Parsed{Words: []string{"since:never", "until:"}}},
		{"file: x", Parsed{Words: []string{"file:", "x"}}},
		{"foo:bar http://x/y?z=1 std::vector<int> a AND (b", Parsed{Words: []string{"foo:bar", "http://x/y?z=1", "std::vector<int>", "a", "AND", "(b"}}},
		{"file://host/x", Parsed{Words: []string{"file://host/x"}}},
		{"((( * 🚀 panic: y", Parsed{Words: []string{"(((", "*", "🚀", "panic:", "y"}}},
		{"a\xffb", Parsed{Words: []string{"a", "b"}}},
	} {
		got := ParseQuery(c.in)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.in, d)
		}
		if d := cmp.Diff(got, ParseQuery(got.String())); d != "" {
			t.Errorf("%q becomes %q: %s", c.in, got.String(), d)
		}
	}
}

func TestQueryRoundTrip(t *testing.T) {
	piece := rapid.SampledFrom([]string{`"`, " ", "-", "file:", "tag:", "since:", "7d", "a", "b c", "(", ":", "//", "\\", "用", "abc", "\n", "agent:", "last week", "*"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		p := ParseQuery(text)
		if d := cmp.Diff(p, ParseQuery(p.String())); d != "" {
			t.Fatalf("%q becomes %q: %s", text, p.String(), d)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	f.Add(`fix "a b" -c file:x since:7d`)
	f.Add(`harness:"a b" -"x y" "`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > maxQuery/2 {
			return
		}
		p := ParseQuery(text)
		if d := cmp.Diff(p, ParseQuery(p.String())); d != "" {
			t.Fatalf("%q becomes %q: %s", text, p.String(), d)
		}
		pl := newPlan(p)
		if err := pl.prune(func(string) (uint64, error) { return 1, nil }); err != nil || len(pl.slots) > maxSlots || len(pl.terms) > maxTerms {
			t.Fatalf("%d slots, %d terms, %v", len(pl.slots), len(pl.terms), err)
		}
	})
}

func TestParseDate(t *testing.T) {
	zone := time.FixedZone("x", 2*3600)
	now := time.Date(2026, 3, 4, 15, 30, 0, 0, zone) // a Wednesday
	for _, c := range []struct{ in, from, to string }{
		{"2026-01-31", "2026-01-31T00:00:00+02:00", "2026-02-01T00:00:00+02:00"},
		{"2026-01", "2026-01-01T00:00:00+02:00", "2026-02-01T00:00:00+02:00"},
		{"2025", "2025-01-01T00:00:00+02:00", "2026-01-01T00:00:00+02:00"},
		{"2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"},
		{"today", "2026-03-04T00:00:00+02:00", "2026-03-05T00:00:00+02:00"},
		{"Yesterday", "2026-03-03T00:00:00+02:00", "2026-03-04T00:00:00+02:00"},
		{"last week", "2026-02-23T00:00:00+02:00", "2026-03-02T00:00:00+02:00"},
		{"this_week", "2026-03-02T00:00:00+02:00", "2026-03-09T00:00:00+02:00"},
		{"last month", "2026-02-01T00:00:00+02:00", "2026-03-01T00:00:00+02:00"},
		{"last year", "2025-01-01T00:00:00+02:00", "2026-01-01T00:00:00+02:00"},
		{"7d", "2026-02-25T15:30:00+02:00", "2026-02-25T15:30:00+02:00"},
		{"last 2 weeks", "2026-02-18T15:30:00+02:00", "2026-02-18T15:30:00+02:00"},
		{"3m", "2025-12-04T15:30:00+02:00", "2025-12-04T15:30:00+02:00"},
		{"12 hours ago", "2026-03-04T03:30:00+02:00", "2026-03-04T03:30:00+02:00"},
	} {
		from, to, ok := ParseDate(c.in, now)
		if got := from.Format(time.RFC3339); !ok || got != c.from {
			t.Errorf("%s begins %s, want %s (%v)", c.in, got, c.from, ok)
		}
		if got := to.Format(time.RFC3339); got != c.to {
			t.Errorf("%s ends %s, want %s", c.in, got, c.to)
		}
	}
	for _, bad := range []string{"", "never", "d", "99999999d", "2026-13", "7 parsecs", "-1d"} {
		if _, _, ok := ParseDate(bad, now); ok {
			t.Errorf("%q is a date", bad)
		}
	}
}
