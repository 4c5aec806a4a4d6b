package indexer_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/search"
	"sessdex/session"
)

// said is one record of a Claude Code transcript: who, at which minute of the day, what.
func said(who string, minute int, text string) string {
	return fmt.Sprintf("%s %d %s", who, minute, text)
}

// copiedFile is a transcript of what was said, every record under this session's id as
// Claude Code copies them. A record is known by its words.
func copiedFile(id string, records ...string) string {
	var b strings.Builder
	parent := "null"
	for _, r := range records {
		part := strings.SplitN(r, " ", 3)
		var minute int
		fmt.Sscan(part[1], &minute)
		uuid := fmt.Sprintf("%x-0000-4000-8000-000000000000", part[2])
		who, content := "user", fmt.Sprintf("%q", part[2])
		if part[0] == "a" {
			who, content = "assistant", fmt.Sprintf(`[{"type":"text","text":%q}]`, part[2])
		}
		summary := ""
		if part[0] == "s" {
			summary = `"isCompactSummary":true,`
		}
		fmt.Fprintf(&b, `{"type":"%s","uuid":"%s","parentUuid":%s,"isSidechain":false,"sessionId":"%s",%s"cwd":"/work/shop","version":"2.1.100","timestamp":"2026-03-01T%02d:%02d:00.000Z","message":{"role":"%s","id":"m%s","content":%s}}`+"\n",
			who, uuid, parent, id, summary, minute/60, minute%60, who, uuid, content)
		parent = `"` + uuid + `"`
	}
	return b.String()
}

func (m *machine) card(t *testing.T, native string) *session.Card {
	t.Helper()
	c, _, err := m.Library.Card(context.Background(), session.NewID("ann", "claude-code", native))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lineage says of each session where it comes from and how it opens.
func (m *machine) lineage(t *testing.T, natives ...string) string {
	t.Helper()
	var b strings.Builder
	for _, n := range natives {
		c := m.card(t, n)
		fmt.Fprintf(&b, "%s < %q %d of %d, %q\n", n, c.ForkedFrom, c.Inherited.Total(), c.Turns.Total(), c.Title)
	}
	return b.String()
}

// A person asked for apples, handed the session to the background, which went on, and
// forked that; another fork was made where it was compacted. No file says so.
var orchard = map[string][]string{
	"11111111-first": {said("u", 1, "count the apples"), said("a", 2, "five apples")},
	"00000000-second": {said("u", 1, "count the apples"), said("a", 2, "five apples"),
		said("u", 10, "count the pears"), said("a", 11, "six pears"), said("s", 12, "This session is being continued: fruit"), said("u", 20, "count the plums")},
	"22222222-third": {said("u", 1, "count the apples"), said("a", 2, "five apples"),
		said("u", 10, "count the pears"), said("u", 30, "eat the pears")},
	"33333333-fourth": {said("s", 12, "This session is being continued: fruit"), said("u", 40, "count the figs")},
	"44444444-other":  {said("u", 5, "water the lawn")},
}

const orchardLineage = `11111111-first < "" 0 of 2, "count the apples"
00000000-second < "11111111-first" 2 of 6, "count the pears"
22222222-third < "00000000-second" 3 of 4, "eat the pears"
33333333-fourth < "00000000-second" 1 of 2, "count the figs"
44444444-other < "" 0 of 1, "water the lawn"
`

var orchardNames = []string{"11111111-first", "00000000-second", "22222222-third", "33333333-fourth", "44444444-other"}

func orchardPath(name string) string { return ".claude/projects/-work-shop/" + name + ".jsonl" }

const orchardTurns = 2 + 4 + 1 + 1 + 1 // of their own

func TestCopiesAreFoundInAnyOrder(t *testing.T) {
	for range 4 {
		m := newMachine(t)
		order := slices.Clone(orchardNames)
		rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if rand.IntN(2) == 0 { // all at once
			for _, name := range order {
				m.write(t, orchardPath(name), copiedFile(name, orchard[name]...))
			}
			if rep := m.imp(t, indexer.ImportOptions{}); sum(rep).Turns != orchardTurns {
				t.Errorf("the report counts %d turns, want %d", sum(rep).Turns, orchardTurns)
			}
		} else { // each as it grows
			for _, name := range order {
				for n := range orchard[name] {
					path := m.write(t, orchardPath(name), copiedFile(name, orchard[name][:n+1]...))
					m.imp(t, indexer.ImportOptions{Paths: []string{path}})
				}
			}
		}
		if diff := cmp.Diff(orchardLineage, m.lineage(t, orchardNames...)); diff != "" {
			t.Fatalf("order %v: %s", order, diff)
		}
		rep := m.imp(t, indexer.ImportOptions{})
		if s := sum(rep); rep.Parsed != 0 || s.Turns != orchardTurns {
			t.Errorf("imported again: %d parsed, %d turns, want 0 and %d", rep.Parsed, s.Turns, orchardTurns)
		}
		for words, want := range map[string]string{
			"apples": "11111111-first", "six pears": "00000000-second", "eat": "22222222-third", "figs": "33333333-fourth", "fruit": "00000000-second",
		} {
			if got := m.find(t, words); len(got) != 1 || got[0] != want {
				t.Errorf("%q is found in %v, want %s", words, got, want)
			}
		}
	}
}

func TestCopiesSurvive(t *testing.T) {
	m := newMachine(t)
	for _, name := range orchardNames {
		m.write(t, orchardPath(name), copiedFile(name, orchard[name]...))
	}
	m.imp(t, indexer.ImportOptions{})
	versions := func() map[string]string {
		seen, err := m.Index.Seen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	before := versions()
	answers := func() (out string) {
		for _, q := range []string{"", "apples", "count pears", "fruit"} {
			res, err := m.Index.Search(t.Context(), search.Query{Text: q})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range res.Hits {
				out += fmt.Sprintf("%s: %s %d %q\n", q, h.NativeID, h.Turns, h.Snippet)
			}
		}
		return out
	}
	found := answers()

	// Read again from the files: nothing is written.
	if err := os.RemoveAll(m.StateDir); err != nil {
		t.Fatal(err)
	}
	m.imp(t, indexer.ImportOptions{})
	if diff := cmp.Diff(before, versions()); diff != "" {
		t.Errorf("importing again wrote cards: %s", diff)
	}
	// The index from the bucket alone.
	if err := os.RemoveAll(filepath.Join(m.data, "index")); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Reindex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(found, answers()); diff != "" {
		t.Errorf("after a reindex: %s", diff)
	}
	// The original goes: what was said there is the copy's.
	if err := m.Remove(t.Context(), session.NewID("ann", "claude-code", "11111111-first")); err != nil {
		t.Fatal(err)
	}
	if got := m.find(t, "apples"); len(got) != 1 || got[0] != "00000000-second" {
		t.Errorf("without the original, its words are found in %v", got)
	}
}

// A copy in which nobody said anything yet opens with what it inherited, and with its
// own first request from then on.
func TestCopyOpens(t *testing.T) {
	m := newMachine(t)
	same := orchard["11111111-first"]
	for _, name := range []string{"11111111-first", "99999999-copy"} {
		m.write(t, orchardPath(name), copiedFile(name, same...))
	}
	m.imp(t, indexer.ImportOptions{})
	want := "11111111-first < \"\" 0 of 2, \"count the apples\"\n99999999-copy < \"11111111-first\" 2 of 2, \"count the apples\"\n"
	if diff := cmp.Diff(want, m.lineage(t, "11111111-first", "99999999-copy")); diff != "" {
		t.Error(diff)
	}
	m.write(t, orchardPath("99999999-copy"), copiedFile("99999999-copy", append(slices.Clone(same), said("u", 50, "peel them"))...))
	m.imp(t, indexer.ImportOptions{})
	want = strings.Replace(want, "2 of 2, \"count the apples\"", "2 of 3, \"peel them\"", 1)
	if diff := cmp.Diff(want, m.lineage(t, "11111111-first", "99999999-copy")); diff != "" {
		t.Error(diff)
	}
}

// Over real transcripts: no turn of a person counts in two sessions.
func TestCorpusCountsEachWordOnce(t *testing.T) {
	corpus := os.Getenv("SESSDEX_CORPUS")
	if corpus == "" {
		t.Skip("set SESSDEX_CORPUS to a folder of real transcripts")
	}
	m := newMachine(t)
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{corpus}, Harnesses: []string{harness.ClaudeCode.Name, harness.CodexCLI.Name}})
	counted := map[string]string{}
	sessions, turns, people, inherited, double := 0, 0, 0, 0, 0
	for ref, err := range m.Library.Cards(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		card, _, err := m.Library.Card(t.Context(), ref.ID)
		if err != nil {
			t.Fatal(err)
		}
		list, err := m.Indexer.Turns(t.Context(), card, "")
		if err != nil {
			t.Fatal(err)
		}
		sessions++
		turns += card.Turns.Total()
		inherited += card.Inherited.Total()
		for turn := range list {
			if turn.N <= card.Inherited.Total() || turn.Role != session.User || turn.Ref == "" {
				continue
			}
			people++
			key := card.Harness + " " + turn.Ref
			if in, twice := counted[key]; twice && in != card.ID {
				double++
				t.Errorf("turn %s of a person counts in %s and in %s", turn.Ref, in, card.ID)
			}
			counted[key] = card.ID
		}
	}
	if sum(rep).Turns != turns-inherited {
		t.Errorf("the report counts %d turns, the cards %d", sum(rep).Turns, turns-inherited)
	}
	t.Logf("%d sessions, %d turns, %d of them inherited; %d of people with an id, %d counted twice", sessions, turns, inherited, people, double)
}

// geminiDocument is a session of Gemini CLI that is one JSON document, written anew as
// a whole each time.
func geminiDocument(words ...string) string {
	var messages []string
	for i, w := range words {
		messages = append(messages, fmt.Sprintf(`{"id":"m%d","timestamp":"2026-03-01T09:%02d:00.000Z","type":"user","content":%q}`, i, i, w))
	}
	return fmt.Sprintf(`{"sessionId":"77777777-aaaa-4bbb-8ccc-000000000001","projectHash":"%s","startTime":"2026-03-01T09:00:00.000Z","lastUpdated":"2026-03-01T09:%02d:00.000Z","messages":[%s]}`,
		strings.Repeat("a", 64), len(words), strings.Join(messages, ","))
}

// A version is kept only for the words that would be lost without it.
func TestWholeDocumentsKeepNoVersionsInVain(t *testing.T) {
	m := newMachine(t)
	id := session.NewID("ann", "gemini-cli", "77777777-aaaa-4bbb-8ccc-000000000001")
	var words []string
	imp := func() *session.Card {
		path := m.write(t, ".gemini/tmp/boat/chats/session-2026-03-01T09-00-77777777.json", geminiDocument(words...))
		m.imp(t, indexer.ImportOptions{Paths: []string{path}})
		c, _, err := m.Library.Card(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for i := range 50 {
		words = append(words, fmt.Sprint("plank ", i))
		if c := imp(); c.Turns.User != i+1 || len(c.Older) != 0 {
			t.Fatalf("update %d: %d turns, %d older versions, want no version", i, c.Turns.User, len(c.Older))
		}
	}
	words = append(words[:40], "mast")
	c := imp()
	if c.Turns.User != 41 || len(c.Older) != 1 {
		t.Fatalf("rewound: %d turns, %d older versions, want 1", c.Turns.User, len(c.Older))
	}
	before, err := m.Indexer.Turns(t.Context(), c, c.Older[0].Version)
	if err != nil {
		t.Fatal(err)
	}
	if turns := slices.Collect(before); len(turns) != 50 || turns[49].Text != "plank 49" {
		t.Errorf("the version from before the rewind has %d turns", len(turns))
	}
	words = append(words, "sail")
	if c := imp(); len(c.Older) != 1 {
		t.Errorf("and on: %d older versions, want 1", len(c.Older))
	}
}
