package session

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestNewID(t *testing.T) {
	id := NewID("ann", "claude-code", "x")
	if len(id) != IDLen || !ValidIDPrefix(id) {
		t.Errorf("NewID = %q", id)
	}
	// The parts are kept apart: moving a letter from one to the next is another session.
	for _, other := range []string{NewID("an", "nclaude-code", "x"), NewID("ann", "claude-cod", "ex"), NewID("bob", "claude-code", "x")} {
		if other == id {
			t.Errorf("two sessions have the id %s", id)
		}
	}
	for _, bad := range []string{"", "ABC", "ilou", "../x", "a/b", strings.Repeat("a", 13), "a b", "é"} {
		if ValidIDPrefix(bad) {
			t.Errorf("ValidIDPrefix(%q)", bad)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"  a\n\tb  ", 10, "a b"},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"abcde f", 5, "abcd…"},
		{"ab cd", 4, "ab…"},
		{"日本語のテキスト", 4, "日本語…"},
		{"a\x00\x1bb", 5, "ab"},
		{"", 5, ""},
		{"abc", 0, "…"},
	} {
		if got := OneLine(c.in, c.n); got != c.want {
			t.Errorf("OneLine(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(1, 50).Draw(t, "n")
		got := OneLine(s, n)
		if utf8.RuneCountInString(got) > n || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t\r") {
			t.Fatalf("OneLine(%q, %d) = %q", s, n, got)
		}
	})
}

func TestUnique(t *testing.T) {
	if got := Unique([]string{"b", "a", "b", ""}, nil, []string{"c", "a"}); !slices.Equal(got, []string{"b", "a", "c"}) {
		t.Errorf("Unique = %v", got)
	}
	if got := Unique(); got == nil {
		t.Error("Unique of nothing is nil, which JSON shows as null")
	}
}

func TestEcho(t *testing.T) {
	mark := "0123456789abcdef"
	for _, c := range []struct {
		turn Turn
		want bool
	}{
		{Turn{Role: Tool, Tool: "mcp__sessdex__search_sessions"}, true},
		{Turn{Role: Tool, Tool: "sessdex.fetch_session_context"}, true},
		{Turn{Role: Tool, Tool: "mcp__other__search_sessions"}, false},
		{Turn{Role: Tool, Tool: "functions.exec", Output: "x\n" + QuoteOpen + mark + "\n…"}, true},
		{Turn{Role: Tool, Tool: "Bash", Output: PackOpen + mark + "]\n…"}, true},
		{Turn{Role: Tool, Tool: "Bash", Output: PackOpen + "N]"}, false},
		{Turn{Role: Tool, Tool: "Bash", Output: PackOpen + "N] then " + PackOpen + mark}, true},
		{Turn{Role: User, Text: QuoteOpen + mark}, false},
		{Turn{Role: Tool, Tool: "Bash", Input: "sessdex search x", Output: "no"}, false},
	} {
		if got := c.turn.Echo(); got != c.want {
			t.Errorf("Echo of %+v = %v", c.turn, got)
		}
	}
}
