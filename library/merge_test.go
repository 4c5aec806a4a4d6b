package library_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sessdex/library"
	"sessdex/session"
)

// A folder that is gone leaves its name; what its repository was called is on the card.
func TestRepoStays(t *testing.T) {
	for _, c := range []struct{ dir, old, fresh, want string }{
		{"/work/shop", "git.example/ann/shop", "shop", "git.example/ann/shop"},
		{"/work/shop/cmd", "shop", "cmd", "shop"},
		{"/work/shop/cmd", "cmd", "shop", "shop"}, // found out since
		{"/work/shop", "git.example/ann/shop", "git.example/bob/shop", "git.example/bob/shop"},
		{`C:\work\shop\cmd`, "shop", "cmd", "shop"},
		{"/work/shop", "", "shop", "shop"},
	} {
		b := open(t)
		first, second := card("s", "/a", 1), card("s", "/a", 2)
		first.Dir, first.Repo, second.Dir, second.Repo = c.dir, c.old, c.dir, c.fresh
		b.save(t, line1, first)
		if got := b.save(t, line1+line2, second).Card.Repo; got != c.want {
			t.Errorf("%s: %q, then %q: %q, want %q", c.dir, c.old, c.fresh, got, c.want)
		}
	}
	b := open(t)
	first, second := card("s", "/a", 1), card("s", "/a", 2)
	first.Dir, first.Repo, second.Dir, second.Repo = "/work/shop", "git.example/ann/shop", "/work/api", "api"
	b.save(t, line1, first)
	if got := b.save(t, line1+line2, second).Card.Repo; got != "api" {
		t.Errorf("in another folder: %q, want its own", got)
	}
}

// A copy that lies where nothing tells of its folder takes nothing from the card.
func TestFolderStays(t *testing.T) {
	b := open(t)
	first := card("s", "/a", 1)
	first.Dir, first.Dirs, first.Repo = "/work/shop", []string{"/work/shop"}, "shop"
	b.save(t, line1, first)
	for _, copied := range []string{line1, line1 + line2} {
		got := b.save(t, copied, card("s", "/copy", 2)).Card
		if got.Dir != "/work/shop" || len(got.Dirs) != 1 || got.Repo != "shop" {
			t.Errorf("the folder is %q, in %v of %q", got.Dir, got.Dirs, got.Repo)
		}
	}
}

// What others found out of a session's lineage stays where its transcript tells nothing.
func TestLineageStays(t *testing.T) {
	turns := func(c *session.Card, n int) *session.Card {
		c.Turns.User, c.Opening, c.Title, c.TitleSource = n, "first", "first", session.TitleOpening
		return c
	}
	b := open(t)
	b.save(t, line1, turns(card("s", "/a", 1), 3))
	found := func(c *session.Card) error {
		c.ForkedFrom, c.Inherited, c.Copied, c.Opening, c.Title = "origin", session.Counts{User: 2}, true, "third", "third"
		return nil
	}
	if _, _, err := b.EditCard(context.Background(), card("s", "", 1).ID, found); err != nil {
		t.Fatal(err)
	}
	if again := b.save(t, line1, turns(card("s", "/a", 1), 3)); again.Outcome != library.Unchanged {
		t.Errorf("the same again: %s, want unchanged", again.Outcome)
	}
	grown := b.save(t, line1+line2, turns(card("s", "/a", 2), 4)).Card
	if grown.ForkedFrom != "origin" || grown.Inherited.Total() != 2 || !grown.Copied || grown.Title != "third" || grown.Opening != "third" {
		t.Errorf("after more turns: from %q, %d, copied %v, title %q", grown.ForkedFrom, grown.Inherited.Total(), grown.Copied, grown.Title)
	}
	told := turns(card("s", "/a", 3), 5)
	told.ForkedFrom, told.Inherited = "another", session.Counts{User: 1}
	if c := b.save(t, line1+line2+line3, told).Card; c.ForkedFrom != "another" || c.Inherited.Total() != 1 || c.Copied {
		t.Errorf("what the transcript tells: from %q, %d, copied %v", c.ForkedFrom, c.Inherited.Total(), c.Copied)
	}
	// A transcript that shrank below what was inherited has another beginning.
	b.save(t, line1+line2+line3, turns(card("short", "/b", 1), 3))
	if _, _, err := b.EditCard(context.Background(), card("short", "", 1).ID, found); err != nil {
		t.Fatal(err)
	}
	if c := b.save(t, line3, turns(card("short", "/b", 1), 1)).Card; c.ForkedFrom != "" || c.Copied || c.Title != "first" {
		t.Errorf("after it shrank: from %q, copied %v, title %q", c.ForkedFrom, c.Copied, c.Title)
	}
}

// Compare is asked only where the bytes do not tell, and what is held is not kept.
func TestSaveAsksWhatIsHeld(t *testing.T) {
	b := open(t)
	asked := 0
	save := func(text, path string, active int, draftHolds, storedHolds bool) library.Saved {
		t.Helper()
		saved, err := b.Save(t.Context(), b.draft(t, text), card("s", path, active), func(_ context.Context, stored *session.Card) (bool, bool) {
			asked++
			return draftHolds, storedHolds
		})
		if err != nil {
			t.Fatal(err)
		}
		return saved
	}
	save(line1, "/a", 1, false, false)
	save(line1+line2, "/a", 2, false, false)
	save(line1, "/b", 1, false, false) // the stored one begins with it
	if asked != 0 {
		t.Errorf("asked %d times where the bytes tell", asked)
	}
	for i := range 5 {
		saved := save(line2+fmt.Sprintf(`{"n":%d}`+"\n", i), "/a", 3+i, true, false)
		if saved.Outcome != library.Changed || !saved.Current || len(saved.Card.Older) != 0 {
			t.Fatalf("a document written anew: %s with %d older", saved.Outcome, len(saved.Card.Older))
		}
	}
	if keys := strings.Join(b.keys(t), " "); strings.Count(keys, ".zst") != 1 {
		t.Errorf("objects: %s, want one transcript", keys)
	}
	if other := save(line3, "/b", 1, false, true); other.Outcome != library.Unchanged || other.Current {
		t.Errorf("an older copy that is held: %s", other.Outcome)
	}
	if lost := save(line3+line3, "/a", 9, false, true); len(lost.Card.Older) != 1 {
		t.Errorf("words that are lost: %d older, want 1", len(lost.Card.Older))
	}
	if asked != 7 {
		t.Errorf("asked %d times, want 7", asked)
	}
}

// Of two copies that are as late and as long as each other the same one is current,
// whichever came first.
func TestCopiesTie(t *testing.T) {
	var current []string
	for _, order := range [][2]string{{line1, line2}, {line2, line1}} {
		b := open(t)
		b.save(t, order[0], card("s", "/"+order[0][9:12], 1))
		b.save(t, order[1], card("s", "/"+order[1][9:12], 1))
		c, _, err := b.Card(t.Context(), card("s", "", 1).ID)
		if err != nil {
			t.Fatal(err)
		}
		current = append(current, c.Version)
	}
	if len(line1) != len(line2) || current[0] != current[1] {
		t.Errorf("current versions %v", current)
	}
}
