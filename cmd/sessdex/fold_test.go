package main

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFold(t *testing.T) {
	bold := style(true).bold
	for _, c := range []struct {
		name, in string
		cols     int
		want     string
	}{
		{"short", "one two", 20, "one two"},
		{"just fits", "one two", 7, "one two"},
		{"one too wide", "one two", 6, "one\n  two"},
		{"indented", "   one two", 8, "   one\n  two"},
		{"further lines are indented", "one two three", 7, "one two\n  three"},
		{"a long word", "see https://example.com/a/b now", 10, "see\n  https://example.com/a/b\n  now"},
		{"a long word first", "https://example.com/a/b now", 10, "https://example.com/a/b\n  now"},
		{"attributes take no room", bold("one") + " " + bold("two"), 7, bold("one") + " " + bold("two")},
		{"wide characters take two columns", "会话 会话", 8, "会话\n  会话"},
		{"accents take none", "e\u0301e\u0301 ab", 5, "e\u0301e\u0301 ab"},
		{"what belongs together", "a " + unbroken("3 turns"), 5, "a\n  3 turns"},
		{"nothing", "", 5, ""},
	} {
		if got := foldTo(c.in, c.cols, 2); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Folding changes nothing but spaces, and no line is too wide that could be broken.
func TestFoldLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z界é]{1,12}`), 1, 20).Draw(t, "words")
		cols, hang := rapid.IntRange(4, 40).Draw(t, "cols"), rapid.IntRange(0, 3).Draw(t, "hang")
		got := foldTo(strings.Join(words, " "), cols, hang)
		if strings.Join(strings.Fields(got), " ") != strings.Join(words, " ") {
			t.Fatalf("%q", got)
		}
		for l := range strings.SplitSeq(got, "\n") {
			if columns(l) > cols && len(strings.Fields(l)) > 1 {
				t.Fatalf("a line of %d columns in %q", columns(l), got)
			}
		}
	})
}

func TestSpan(t *testing.T) {
	at := func(s string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04:05", s, time.Local)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, c := range []struct {
		from, to time.Time
		want     string
	}{
		{at("2026-10-21 09:00:01"), at("2026-10-21 09:00:59"), "2026-10-21 09:00"},
		{at("2026-10-21 09:00:00"), at("2026-10-21 10:30:00"), "2026-10-21 09:00 – 10:30"},
		{at("2026-10-21 23:00:00"), at("2026-10-22 01:00:00"), "2026-10-21 23:00 – 2026-10-22 01:00"},
		{time.Time{}, at("2026-10-22 01:00:00"), "? – 2026-10-22 01:00"},
		{time.Time{}, time.Time{}, "?"},
	} {
		if got := span(c.from, c.to); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
