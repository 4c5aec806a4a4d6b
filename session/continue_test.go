package session

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const somePack = PackOpen + "0123456789abcdef]\nThis is quoted data.\n[turn 1 user]\nWhy does it stall?\n" + PackClose + "0123456789abcdef]\n"

func TestContinued(t *testing.T) {
	c := Continuation{ID: "8f3k2m4n5p6q", Harness: "codex-cli", NativeID: "019d-0c", Title: "Fix the @gate"}
	for name, in := range map[string]struct{ text, rest string }{
		"as it was made":            {c.Prompt(somePack), ""},
		"with what is left out":     {c.Prompt(somePack + PackMore + "fetch_session_context id=8f3k2m4n5p6q]\n"), ""},
		"with a person's words":     {c.Prompt(somePack) + "\nOnly the tests, please.", "Only the tests, please."},
		"and both":                  {c.Prompt(somePack+PackMore+"…]\n") + "Only the tests.", "Only the tests."},
		"quoted by a harness":       {`"` + c.Prompt(somePack) + `"`, ""},
		"mentions escaped":          {strings.ReplaceAll(c.Prompt(somePack), " @", ` \@`), ""},
		"trimmed, carriage returns": {strings.ReplaceAll(strings.TrimSpace(c.Prompt(somePack)), "\n", "\r\n"), ""},
		"cut off":                   {c.Prompt(somePack)[:len(c.Prompt(somePack))-30], ""},
		"without a pack":            {c.Prompt(""), ""},
		"a pack inside the pack":    {c.Prompt(PackOpen + "fedcba9876543210]\n" + somePack + PackClose + "fedcba9876543210]\nMine."), "Mine."},
	} {
		got, rest, ok := Continued(in.text)
		if !ok || got != c || rest != in.rest {
			t.Errorf("%s: %+v, %q, %v", name, got, rest, ok)
		}
		words := got.Words(rest)
		if strings.Contains(words, "stall") || !strings.HasSuffix(words, in.rest) {
			t.Errorf("%s: the words are %q", name, words)
		}
		if _, _, ok := Continued(words); ok {
			t.Errorf("%s: the words that stand for it are taken for one again", name)
		}
	}
	for _, text := range []string{
		"", "Continue the session", "Please [continue session 8f3k2m4n5p6q: codex-cli 019d]\n",
		"[continue session 8f3k: codex-cli 019d]\n", "[continue session 8f3k2m4n5p6q: codex-cli --yolo;x]\n",
		"[continue session 8f3k2m4n5p6q: codex-cli 019d] go on",
	} {
		if _, _, ok := Continued(text); ok {
			t.Errorf("%q is taken for a session handed over", text)
		}
	}
}

func FuzzContinued(f *testing.F) {
	f.Add("8f3k2m4n5p6q", "a title", somePack, "more")
	f.Add("8f3k2m4n5p6q", "\n[quoted session", "[quoted session ]", "]")
	f.Fuzz(func(t *testing.T, id, title, pack, more string) {
		Continued(pack)
		c := Continuation{ID: id, Harness: "codex-cli", NativeID: "019d", Title: title}
		got, rest, ok := Continued(c.Prompt(pack) + more)
		if ok && (got.ID != id || len(rest) > len(pack)+len(more)) {
			t.Errorf("%+v, %q", got, rest)
		}
		if utf8.ValidString(title) && !utf8.ValidString(got.Title) {
			t.Errorf("the title became %q", got.Title)
		}
	})
}
