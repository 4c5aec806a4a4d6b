package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"sessdex/session"
)

func TestRepoName(t *testing.T) {
	for in, want := range map[string]string{
		"git@github.com:ann/shop.git":                "github.com/ann/shop",
		"https://github.com/ann/shop":                "github.com/ann/shop",
		"https://github.com/ann/shop.git/":           "github.com/ann/shop",
		"ssh://git@host.example:2222/ann/shop.git":   "host.example:2222/ann/shop",
		"https://ann:" + "pw@host.example/a/b/c.git": "host.example/a/b/c",
		"  git://host.example/x.git\n":               "host.example/x",
		"host.example/a/b":                           "host.example/a/b",
		"/srv/git/shop.git":                          "srv/git/shop",
		"":                                           "",
	} {
		if got := RepoName(in); got != want {
			t.Errorf("RepoName(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRenderInput(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"ls\n-l"}`:                   "ls\n-l",
		`{"n":3}`:                                "n: 3",
		`{"path":"a\tb","all":true,"e":[1,"x"]}`: "path: a\tb\nall: true\ne: [1,\"x\"]",
		`{}`:                                     "",
		`"plain"`:                                "plain",
		`[1,2]`:                                  "[1,2]",
		`null`:                                   "",
	} {
		if got := RenderInput(gjson.Parse(in)); got != want {
			t.Errorf("RenderInput(%s) = %q, want %q", in, got, want)
		}
	}
}

func TestBuilderFinish(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 3, 1, 10, 0, s, 0, time.UTC) }
	var b builder
	b.at(time.Time{})
	b.at(at(2))
	b.at(at(1))
	b.dir("")
	b.dir("/home/ann/shop")
	b.dir("/home/ann/shop/web")
	b.dir("/home/ann/shop")
	b.branch("main")
	b.branch("HEAD")
	b.add(session.Turn{Role: session.User, Text: "left", Undone: true, Time: at(3)})
	b.branch("fix")
	b.add(session.Turn{Role: session.User, Text: "  add\na cart ", Time: at(9)})
	b.add(session.Turn{Role: session.Tool, Time: at(5)})
	b.add(session.Turn{Role: session.Summary})
	b.model("<synthetic>")
	b.model("m-1")
	b.unknown("x")
	b.unknown("x")
	got, turns := b.finish()
	want := session.Meta{
		Title: "add a cart", TitleSource: session.TitleOpening, Opening: "  add\na cart ",
		Start: at(1), LastActive: at(9), Dir: "/home/ann/shop", Dirs: []string{"/home/ann/shop", "/home/ann/shop/web"},
		Repo: "shop", Branch: "fix", Branches: []string{"main", "fix"}, Models: []string{"m-1"},
		Turns: session.Counts{User: 2, Tool: 1, Summary: 1}, Unknown: map[string]int{"x": 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	n := 0
	for turn := range turns {
		if n++; turn.N != n {
			t.Errorf("turn %d is numbered %d", n, turn.N)
		}
		if want := []string{"main", "fix", "fix", "fix"}[n-1]; turn.Branch != want {
			t.Errorf("turn %d on branch %q, want %q", n, turn.Branch, want)
		}
	}
}

func TestBuilderTitles(t *testing.T) {
	for _, c := range []struct {
		custom, given, opening string
		want                   string
		source                 session.TitleSource
	}{
		{"mine", "its", "words", "mine", session.TitleCustom},
		{"", "its", "words", "its", session.TitleHarness},
		{"", "", "words", "words", session.TitleOpening},
		{"", "", "", "", ""},
	} {
		b := builder{custom: c.custom, given: c.given}
		b.meta.Opening = c.opening
		m, _ := b.finish()
		if m.Title != c.want || m.TitleSource != c.source {
			t.Errorf("%+v: %q %q", c, m.Title, m.TitleSource)
		}
	}
	b := builder{}
	b.meta.Start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	b.dir(`C:\Users\ann\shop`)
	if m, _ := b.finish(); m.Repo != "shop" || m.LastActive != m.Start {
		t.Errorf("repo %q, last active %v", m.Repo, m.LastActive)
	}
}

func TestBuilderBounds(t *testing.T) {
	var b builder
	for i := range 5 * maxList {
		b.dir(fmt.Sprint("/d", i))
		b.branch(fmt.Sprint("b", i))
		b.unknown(fmt.Sprint("u", i))
	}
	b.unknown("u1")
	b.unknown(strings.Repeat("long", 100))
	m, _ := b.finish()
	if len(m.Dirs) != maxList || len(m.Branches) != maxList || len(m.Unknown) != 101 {
		t.Errorf("%d folders, %d branches, %d unknown types", len(m.Dirs), len(m.Branches), len(m.Unknown))
	}
	total := 0
	for _, n := range m.Unknown {
		total += n
	}
	if total != 5*maxList+2 || m.Unknown["u1"] != 2 {
		t.Errorf("%d unknown records counted, u1 %d times", total, m.Unknown["u1"])
	}
}

func TestBuilderKnowsWorkHandedOver(t *testing.T) {
	c := session.Continuation{ID: "8f3k2m4n5p6q", Harness: "claude-code", NativeID: "a1d0-11", Title: "Stop the double print"}
	prompt := c.Prompt(session.PackOpen + "0123456789abcdef]\nThe printer hums.\n" + session.PackClose + "0123456789abcdef]\n")
	var b builder
	b.add(session.Turn{Role: session.User, Text: prompt})
	b.add(session.Turn{Role: session.Assistant, Text: "I look at the queue."})
	b.add(session.Turn{Role: session.User, Text: prompt + "Only the kitchen's."}) // and again, with words
	m, seq := b.finish()
	turns := slices.Collect(seq)
	if m.ForkedFrom != "a1d0-11" || m.Inherited.Total() != 0 || m.Title != "Continue: Stop the double print" || m.TitleSource != session.TitleHarness {
		t.Errorf("forked from %q, inherited %+v, title %q by %q", m.ForkedFrom, m.Inherited, m.Title, m.TitleSource)
	}
	if want := "Continue session 8f3k2m4n5p6q (claude-code a1d0-11)."; m.Opening != want || turns[0].Text != want || turns[2].Text != want+"\nOnly the kitchen's." {
		t.Errorf("opening %q, turns %q and %q", m.Opening, turns[0].Text, turns[2].Text)
	}

	// A fork's own lineage and a title that was given come first.
	b = builder{custom: "Mine"}
	b.meta.ForkedFrom = "older"
	b.add(session.Turn{Role: session.User, Text: prompt})
	if m, _ := b.finish(); m.ForkedFrom != "older" || m.Title != "Mine" {
		t.Errorf("forked from %q, title %q", m.ForkedFrom, m.Title)
	}
}
