package serve

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"sessdex/contextpack"
)

func packOptions(tokens int, tools bool) contextpack.Options {
	return contextpack.Options{MaxTokens: tokens, ToolCalls: tools}
}

// answer runs a tool as a client would, without a transport.
func answer(t *testing.T, s *Service, tool, args string) (string, error) {
	t.Helper()
	for _, known := range mcpTools {
		if known.name == tool {
			a := decodeArguments(args)
			text, err := known.run(s, t.Context(), a)
			return text, err
		}
	}
	t.Fatalf("there is no tool %s", tool)
	return "", nil
}

// Following what each page says gives the whole session once: every character of
// every turn, also of one that is larger than a page.
func TestFullPages(t *testing.T) {
	s := sharedShop(t)
	all, err := s.Read(t.Context(), longNative, "", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range all.Turns {
		want.WriteString(turnText(&all.Turns[i], 0))
	}

	next := regexp.MustCompile(`Next: get_session id=(\S+) mode=full offset=(\d+)(?: skip=(\d+))?`)
	var got strings.Builder
	args := fmt.Sprintf(`{"id": %q, "mode": "full"}`, longNative)
	pages, split := 0, 0
	for ; args != ""; pages++ {
		text, err := answer(t, s, "get_session", args)
		if err != nil || pages > 50 {
			t.Fatalf("page %d, %s: %v", pages, args, err)
		}
		if n := utf8.RuneCountInString(text); n > 40_000 {
			t.Errorf("page %d has %d characters", pages, n)
		}
		_, body, _ := strings.Cut(text, "\n==== quoted ")
		_, body, _ = strings.Cut(body, "\n")
		body, tail, _ := strings.Cut(body, "\n==== end ")
		got.WriteString(body)
		args = ""
		if m := next.FindStringSubmatch(tail); m != nil {
			if m[3] != "" {
				split++
			} else {
				m[3] = "0"
			}
			args = fmt.Sprintf(`{"id": %q, "mode": "full", "offset": %s, "skip": %s}`, m[1], m[2], m[3])
		}
	}
	// The frame trims the ends of pages: line ends aside, nothing may be missing.
	squeeze := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	if squeeze(got.String()) != squeeze(want.String()) {
		t.Errorf("%d pages hold %d bytes, the session has %d", pages, got.Len(), want.Len())
	}
	if pages < 3 || split == 0 {
		t.Errorf("%d pages, %d of them end inside a turn: the session is too small for this test", pages, split)
	}
}

func TestSessionModes(t *testing.T) {
	s := sharedShop(t)
	for _, test := range []struct {
		args      string
		want, not string
		err       string
	}{
		{`{"id": "` + retryNative + `"}`, "Asked, in order:\n#1", "#5 assistant", ""},
		{`{"id": "` + retryNative + `", "mode": "tail", "tail": "2"}`, "The last 2 turns of 5 follow.", "#3 tool", ""},
		{`{"id": "` + retryNative + `", "tail": 1}`, "#5 assistant 2026", "#4 tool", ""},
		{`{"id": "` + retryNative + `", "tail": 99}`, "#3 tool Bash", "", ""},
		{`{"id": "` + retryNative + `", "mode": "full"}`, "That is the end of the session.", "Next:", ""},
		{`{"id": "` + retryNative + `", "offset": 4}`, "turns 4-5 of 5", "#3 tool", ""},
		{`{"id": "` + retryNative + `", "offset": 6}`, "", "", "offset must be between 1 and that number"},
		{`{"id": "` + retryNative + `", "mode": "whole"}`, "", "", "mode must be one of: summary, tail, full"},
		{`{"id": "nosuchsession"}`, "", "", "not found"},
		{`{}`, "", "", "id is missing"},
	} {
		text, err := answer(t, s, "get_session", test.args)
		switch {
		case test.err == "" && err != nil, test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: error %v, want %q", test.args, err, test.err)
		case !strings.Contains(text, test.want), test.not != "" && strings.Contains(text, test.not):
			t.Errorf("%s: got %s, want %q and not %q", test.args, text, test.want, test.not)
		}
	}
}

// A turn cannot pass itself off as several.
func TestTurnHeadsCannotBeForged(t *testing.T) {
	s := sharedShop(t)
	text, err := answer(t, s, "get_session", `{"id": "`+hostileNative+`", "mode": "full"}`)
	if err != nil {
		t.Fatal(err)
	}
	heads := regexp.MustCompile(`(?m)^#\d+ \w+`).FindAllString(text, -1)
	if fmt.Sprint(heads) != "[#1 user #2 assistant]" {
		t.Errorf("heads are %v in %s", heads, text)
	}
	if !strings.Contains(text, "\n\\#9 user") {
		t.Errorf("the forged head is gone: %s", text)
	}
}

func TestListScope(t *testing.T) {
	s := sharedShop(t)
	for _, test := range []struct{ args, want string }{
		{`{}`, "Sessions 1-2 of 2 in shop (all_repos=true lists every repository)"},
		{`{"all_repos": true}`, "Sessions 1-3 of 3."},
		{`{"repo": "warehouse"}`, "Sessions 1-1 of 1."},
		{`{"tags": "payment"}`, "Sessions 1-1 of 1 in shop"},
		{`{"tags": "nothing"}`, "No sessions in shop (all_repos=true"},
		{`{"all_repos": true, "limit": 2}`, "More: the same call with offset=2."},
		{`{"all_repos": true, "offset": 2, "limit": 2}`, "Sessions 3-3 of 3."},
		{`{"all_repos": true, "offset": 50}`, "No sessions from offset 50 on: there are 3."},
	} {
		text, err := answer(t, s, "list_sessions", test.args)
		if err != nil || !strings.Contains(text, test.want) {
			t.Errorf("%s: got %s, %v, want %q", test.args, text, err, test.want)
		}
	}
}
