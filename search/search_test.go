package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

// talk makes a session out of lines "u: text", "a: text", "t: tool | input | output",
// "~" before the letter for an undone turn, "think: text".
func talk(id string, change func(*session.Card), lines ...string) Document {
	c := &session.Card{ID: id, Owner: "ann", Version: "v"}
	c.Harness, c.NativeID = "claude-code", "native-"+id
	c.LastActive = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var turns []session.Turn
	for _, l := range lines {
		t := session.Turn{N: len(turns) + 1}
		l, t.Undone = strings.CutPrefix(l, "~")
		kind, text, _ := strings.Cut(l, ": ")
		switch kind {
		case "u":
			t.Role, t.Text = session.User, text
		case "a":
			t.Role, t.Text = session.Assistant, text
		case "s":
			t.Role, t.Text = session.Summary, text
		case "think":
			t.Role, t.Thinking = session.Assistant, text
		case "t":
			t.Role = session.Tool
			part := strings.SplitN(text+" |  | ", " | ", 4)
			t.Tool, t.Input, t.Output = part[0], part[1], part[2]
		default:
			panic(l)
		}
		if c.Opening == "" && t.Role == session.User {
			c.Opening, c.Title = t.Text, session.OneLine(t.Text, 120)
		}
		c.Turns.Add(t.Role)
		turns = append(turns, t)
	}
	if change != nil {
		change(c)
	}
	return Document{Card: c, CardVersion: "card-" + id, Turns: slices.Values(turns)}
}

// newIndex is an index of documents in a temporary directory.
func newIndex(t testing.TB, docs ...Document) *Index {
	t.Helper()
	x := Open(t.TempDir() + "/index")
	t.Cleanup(x.Close)
	putAll(t, x, docs...)
	return x
}

func putAll(t testing.TB, x *Index, docs ...Document) {
	t.Helper()
	w := x.Writer()
	for _, d := range docs {
		if err := w.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func ask(t testing.TB, x *Index, q Query) *Result {
	t.Helper()
	r, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return r
}

func ids(r *Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func battery() []Document {
	return []Document{
		talk("hyphen", nil, "u: please look at issue bd-q3fy again", "a: done"),
		talk("camel", nil, "u: rename the thing", "t: Edit | updateWingmanOpts := computeFileChanges() | ok"),
		talk("snake", nil, "u: the flag", "t: Bash | export AGENT_GENERATED_FILES=1 | "),
		talk("path", func(c *session.Card) { c.Files = []string{"/home/ann/proj/src/deep/git-cloner.ts"} }, "u: clone faster"),
		talk("error", nil, "u: it fails", "t: Bash | make | panic: y is out of range\nfatal: err.Error() returned nothing"),
		talk("cpp", nil, "u: use std::vector<int> here", "a: and c++ it is"),
		talk("chinese", nil, "u: 确保项目可用,验收全部功能", "a: 用Go写 一个 服务"),
		talk("japanese", nil, "u: 最新の状態に更新", "a: はい"),
		talk("cyrillic", nil, "u: проверь подписку и ёлку", "a: готово"),
		talk("korean", nil, "u: 데이터베이스 연결 오류", "a: 네"),
		talk("accent", nil, "u: the café naïveté report", "a: ok"),
		talk("emoji", nil, "u: ship it 🚀", "a: shipped"),
		talk("think", nil, "u: hello", "think: perhaps a xylophone would do"),
		talk("stop", nil, "u: what is it that we were about to do", "a: nothing"),
		talk("url", nil, "u: see https://example.org/pull/417?tab=files", "a: seen"),
		talk("flag", nil, "u: commit", "t: Bash | git commit --no-verify -m x | "),
		talk("undone", nil, "~u: zebra crossing", "u: other"),
		talk("live", nil, "u: zebra crossing", "u: other"),
	}
}

func TestQueries(t *testing.T) {
	x := newIndex(t, battery()...)
	for _, c := range []struct{ q, best, tier string }{
		{"bd-q3fy", "hyphen", TierAll},
		{"q3fy", "hyphen", TierAll},
		{"updateWingmanOpts", "camel", TierAll},
		{"updatewingmanopts", "camel", TierAll},
		{"wingman", "camel", TierAll},
		{"update_wingman_opts", "camel", TierAll},
		{"file changes", "camel", TierAll},
		{"agent_generated_files", "snake", TierAll},
		{"git-cloner.ts", "path", TierAll},
		{"src/deep/git-cloner.ts", "path", TierAll},
		{"err.Error()", "error", TierAll},
		{"panic: y", "error", TierAll},
		{`"out of range"`, "error", TierAll},
		{"std::vector<int>", "cpp", TierAll},
		{"c++", "cpp", TierAll},
		{"验收", "chinese", TierAll},
		{"项目 功能", "chinese", TierAll},
		{"写", "chinese", TierAll},
		{"用Go写", "chinese", TierAll},
		{"最新の状態", "japanese", TierAll},
		{"ПОДПИСКУ елку", "cyrillic", TierAll},
		{"데이터베이스", "korean", TierAll},
		{"cafe", "accent", TierAll},
		{"naiveté café", "accent", TierAll},
		{"🚀", "emoji", TierAll},
		{"xylophone", "think", TierAll},
		{"what is it", "stop", TierAll},
		{"how do I use the xylophone", "think", TierAll},
		{"https://example.org/pull/417", "url", TierAll},
		{"--no-verify", "flag", TierAll},
		{"zebra", "live", TierAll},
		{"xylophone (((", "think", TierAll},
		{"xylophone quetzalcoatl", "think", TierSome},
		{"xylofone", "think", TierFuzzy},
		{"xylop", "think", TierFuzzy},
		{"native-url", "url", TierAll},
	} {
		r := ask(t, x, Query{Text: c.q})
		if len(r.Hits) == 0 || r.Hits[0].ID != c.best || r.Tier != c.tier {
			t.Errorf("%q: %s (%s), want %s first (%s)", c.q, ids(r), r.Tier, c.best, c.tier)
		}
	}
	for _, q := range []string{
		"(((", "*", `"`, `""`, "a AND", "-", "foo:bar:", "http://x/y?z=1", "nosuchword", strings.Repeat("lorem ipsum dolor ", 600),
		"\x00\xff", strings.Repeat("(", 5000), strings.Repeat("x", 10_000), "/.*/", "x~9", "[a TO b]", `\`,
	} {
		if _, err := x.Search(t.Context(), Query{Text: q}); err != nil {
			t.Errorf("%.40q: %v", q, err)
		}
	}
}

func TestStrictness(t *testing.T) {
	x := newIndex(t,
		talk("both", nil, "u: alpha", "a: gamma", "u: beta"),
		talk("one", nil, "u: alpha alpha alpha"),
		talk("title", func(c *session.Card) { c.PeopleTitle = "Delta plan" }, "u: alpha"),
		talk("row", nil, "u: one two three"),
		talk("mixed", nil, "u: three two one"),
	)
	for _, c := range []struct{ q, want, tier string }{
		{"alpha beta", "both", TierAll},
		{"alpha delta", "title", TierAll},
		{"alpha omega", "one both title", TierSome},
		{`"one two"`, "row", TierAll},
		{`"two one"`, "mixed", TierAll},
		{`"two three one"`, "", TierSome},
		{"alpha -beta -delta", "one", TierAll},
		{`three -"two three"`, "mixed", TierAll},
	} {
		r := ask(t, x, Query{Text: c.q})
		if ids(r) != c.want || c.want != "" && r.Tier != c.tier || r.Total != len(r.Hits) || !r.TotalExact {
			t.Errorf("%s: %q (%s, %d), want %q (%s)", c.q, ids(r), r.Tier, r.Total, c.want, c.tier)
		}
	}
}

func TestFilters(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 1, d, 12, 0, 0, 0, time.UTC) }
	x := newIndex(t,
		talk("a", func(c *session.Card) {
			c.LastActive, c.Repo, c.Branch = day(1), "github.com/acme/Tool", "feat/login"
			c.PeopleTags, c.Files = []string{"Review", "auth"}, []string{`C:\proj\src\a\main.go`}
		}, "u: common words", "t: Bash | common | out"),
		talk("b", func(c *session.Card) {
			c.LastActive, c.Harness, c.Owner, c.Readers = day(2), "codex-cli", "bob@example.org", []string{"cat"}
			c.PeopleTags, c.Reads = []string{"review"}, []string{"src/a/util.go"}
		}, "u: common words"),
		talk("c", func(c *session.Card) {
			c.LastActive, c.Owner, c.Subagent, c.Parent = day(3), "cat", true, "native-a"
			c.Opening = "" // so that it is no orphan that is listed
			c.Branches = []string{"main", "fix"}
		}, "u: common words"),
		talk("d", func(c *session.Card) { c.LastActive = time.Time{} }, "u: common words", "a: answer"),
	)
	for _, c := range []struct {
		q    Query
		want string // sorted
	}{
		{Query{}, "a b d"},
		{Query{Subagents: true}, "a b c d"},
		{Query{Harness: []string{"codex-cli"}}, "b"},
		{Query{Harness: []string{"Codex-CLI", "claude-code"}}, "a b d"},
		{Query{Text: "harness:claude-code", Harness: []string{"codex-cli"}}, ""},
		{Query{Tags: []string{"review"}}, "a b"},
		{Query{Tags: []string{"review", "auth"}}, "a"},
		{Query{Text: "tag:review tag:auth"}, "a"},
		{Query{File: "main.go"}, "a"},
		{Query{File: "src/a"}, "a b"},
		{Query{File: "/src/a/"}, "a b"},
		{Query{File: "./a/util.go"}, "b"},
		{Query{File: `a\main.go`}, "a"},
		{Query{File: "c:/proj"}, "a"},
		{Query{File: "in.go"}, ""},
		{Query{Text: "file:main.go file:util.go"}, ""},
		{Query{Branch: "feat/login"}, "a"},
		{Query{Branch: "login"}, "a"},
		{Query{Branch: "fix", Subagents: true}, "c"},
		{Query{Repo: "tool"}, "a"},
		{Query{Repo: "acme/tool"}, "a"},
		{Query{Author: "bob"}, "b"},
		{Query{Author: "bob@example.org"}, "b"},
		{Query{Viewer: "cat", Subagents: true}, "b c"},
		{Query{Parent: "native-A"}, "c"},
		{Query{Parent: "native-b"}, ""},
		{Query{Viewer: "ann"}, "a d"},
		{Query{Viewer: "nobody"}, ""},
		{Query{Since: day(2)}, "b"},
		{Query{Until: day(2)}, "a"},
		{Query{Text: "since:2026-01-02 until:2026-01-02"}, "b"},
		{Query{Exclude: []string{"a", "NATIVE-B"}}, "d"},
		{Query{Text: "common", Role: []string{"tool"}}, "a"},
		{Query{Text: "common role:user", Exclude: []string{"d"}}, "a b"},
	} {
		for _, words := range []string{"", "common "} {
			if len(c.q.Role) > 0 && words != "" || strings.Contains(c.q.Text, "common") && words != "" {
				continue
			}
			q := c.q
			q.Text = words + q.Text
			q.Facets = true
			r := ask(t, x, q)
			got := strings.Fields(ids(r))
			slices.Sort(got)
			if strings.Join(got, " ") != c.want || r.Total != len(got) {
				t.Errorf("%+v: %v of %d, want %s", q, got, r.Total, c.want)
			}
			n := 0
			for _, f := range r.Facets["harness"] {
				n += f.Count
			}
			if n != len(got) {
				t.Errorf("%+v: facets count %d sessions of %d", q, n, len(got))
			}
		}
	}
	if got := ids(ask(t, x, Query{Subagents: true})); got != "c b a d" {
		t.Errorf("newest first: %s", got)
	}
	r := ask(t, x, Query{Text: "common", Facets: true, Subagents: true})
	want := map[string][]Facet{
		"harness": {{"claude-code", 3}, {"codex-cli", 1}},
		"tag":     {{"Review", 1}, {"auth", 1}, {"review", 1}},
		"repo":    {{"github.com/acme/Tool", 1}},
		"branch":  {{"feat/login", 1}, {"fix", 1}, {"main", 1}},
		"file":    {{`C:\proj\src\a\main.go`, 1}},
		"author":  {{"ann", 2}, {"bob@example.org", 1}, {"cat", 1}},
	}
	if d := cmp.Diff(want, r.Facets); d != "" {
		t.Error(d)
	}
}

func TestPaging(t *testing.T) {
	var docs []Document
	for i := range 57 {
		docs = append(docs, talk(fmt.Sprintf("s%02d", i), func(c *session.Card) {
			c.LastActive = c.LastActive.Add(time.Duration(i) * time.Hour)
		}, "u: needle "+strings.Repeat("hay ", i%7)))
	}
	x := newIndex(t, docs...)
	for _, q := range []Query{{}, {Text: "needle"}, {Text: "needle", Sort: Recent}, {Text: "needle", Limit: 7}} {
		seen := map[string]bool{}
		for pages := 0; ; pages++ {
			r := ask(t, x, q)
			if r.Total != 57 || pages > 20 {
				t.Fatalf("%+v: total %d on page %d", q, r.Total, pages)
			}
			for _, h := range r.Hits {
				if seen[h.ID] {
					t.Errorf("%+v: %s twice", q, h.ID)
				}
				seen[h.ID] = true
			}
			if r.NextOffset == 0 {
				break
			}
			q.Offset = r.NextOffset
		}
		if len(seen) != 57 {
			t.Errorf("%+v: paged through %d", q, len(seen))
		}
	}
	if r := ask(t, x, Query{Sort: Recent, Text: "needle", Limit: 1}); ids(r) != "s56" {
		t.Errorf("newest: %s", ids(r))
	}
	if r := ask(t, x, Query{Limit: 1000, Offset: -5}); len(r.Hits) != 57 {
		t.Errorf("limits are kept: %d", len(r.Hits))
	}
	if r := ask(t, x, Query{Offset: 20_000}); len(r.Hits) != 0 || r.NextOffset != 0 || r.Total != 57 {
		t.Errorf("beyond the last offset: %+v", r)
	}
}

func TestHit(t *testing.T) {
	mask := "[REDACTED:" + "some-rule:abcdef]"
	long := strings.Repeat("füllwort ", 4000) + mask + " the marker word " + mask + strings.Repeat(" nach", 5000)
	x := newIndex(t, talk("x", func(c *session.Card) { c.Files = make([]string, 30) }, "u: opening request", "t: Bash | cat | "+long))
	h := ask(t, x, Query{Text: "marker word"}).Hits[0]
	if h.Turn != 2 || h.Role != "tool" || utf8.RuneCountInString(h.Snippet) > snippetRunes || !utf8.ValidString(h.Snippet) {
		t.Errorf("turn %d, %s, %d runes", h.Turn, h.Role, utf8.RuneCountInString(h.Snippet))
	}
	if strings.Count(h.Snippet, "[REDACTED") != strings.Count(h.Snippet, mask) {
		t.Errorf("half a mask in %q", h.Snippet)
	}
	var marked []string
	for _, m := range h.Marks {
		marked = append(marked, h.Snippet[m[0]:m[1]])
	}
	if got := strings.Join(marked, "|"); got != "marker|word" {
		t.Errorf("marked %q in %q", got, h.Snippet)
	}
	h = ask(t, x, Query{}).Hits[0]
	if h.Snippet != "opening request" || h.Turn != 0 || h.Marks == nil || h.Files == nil || h.Tags == nil {
		t.Errorf("browsing: %+v", h)
	}
}
