package library_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sessdex/blobstore"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/session"
)

// bench is a library on a real in-memory store, and a way to write to it.
type bench struct {
	*library.Library
	store blobstore.Store
	pass  *scrub.Pass
}

func open(t *testing.T) *bench {
	t.Helper()
	s := scrub.New(scrub.WithKey([]byte("test")))
	store := blobstore.NewMemory()
	return &bench{library.New(store, "ws"), store, s.NewPass()}
}

func (b *bench) draft(t *testing.T, text string) *library.Draft {
	t.Helper()
	d := library.NewDraft()
	t.Cleanup(func() { d.Close() })
	for line := range strings.Lines(text) {
		if err := d.Write(b.pass.Line([]byte(line))); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// card is what an import of a file makes.
func card(native, path string, active int) *session.Card {
	return &session.Card{
		ID: session.NewID("ann", "claude-code", native), Owner: "ann", SourcePath: path, Host: "h",
		Meta: session.Meta{Harness: "claude-code", NativeID: native, LastActive: time.Unix(int64(active), 0).UTC()},
	}
}

func (b *bench) save(t *testing.T, text string, c *session.Card) library.Saved {
	t.Helper()
	saved, err := b.Save(context.Background(), b.draft(t, text), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return saved
}

func (b *bench) text(t *testing.T, c *session.Card, version string) string {
	t.Helper()
	r, _, err := b.Transcript(context.Background(), c, version)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (b *bench) keys(t *testing.T) []string {
	t.Helper()
	var keys []string
	for info, err := range b.store.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, info.Key)
	}
	return keys
}

const (
	line1 = `{"text":"one"}` + "\n"
	line2 = `{"text":"two"}` + "\n"
	line3 = `{"text":"three"}` + "\n"
)

func TestSave(t *testing.T) {
	b := open(t)
	first := b.save(t, line1, card("s", "/a", 1))
	if first.Outcome != library.Created || !first.Current {
		t.Fatalf("first save: %+v", first)
	}
	again := b.save(t, line1, card("s", "/a", 1))
	if again.Outcome != library.Unchanged || again.CardVersion != first.CardVersion {
		t.Errorf("saving the same again: %s, card version %s, want unchanged and %s", again.Outcome, again.CardVersion, first.CardVersion)
	}
	moved := b.save(t, line1, card("s", "/elsewhere", 1))
	if moved.Outcome != library.Unchanged {
		t.Errorf("a copy at another path: %s, want unchanged", moved.Outcome)
	}

	grown := b.save(t, line1+line2, card("s", "/a", 2))
	if grown.Outcome != library.Changed || len(grown.Card.Older) != 0 {
		t.Errorf("appended: %s with %d older versions, want changed with none", grown.Outcome, len(grown.Card.Older))
	}
	if got := b.text(t, grown.Card, ""); got != line1+line2 {
		t.Errorf("transcript is %q", got)
	}
	if n := len(b.keys(t)); n != 2 {
		t.Errorf("objects after an append: %v, want the card and one transcript", b.keys(t))
	}
}

func TestRewindKeepsWords(t *testing.T) {
	b := open(t)
	b.save(t, line1+line2, card("s", "/a", 2))
	rewound := b.save(t, line1+line3, card("s", "/a", 3))
	if len(rewound.Card.Older) != 1 {
		t.Fatalf("older versions: %v, want the rewound one", rewound.Card.Older)
	}
	if got := b.text(t, rewound.Card, rewound.Card.Older[0].Version[:4]); got != line1+line2 {
		t.Errorf("the version before the rewind is %q", got)
	}
	shrunk := b.save(t, line1, card("s", "/a", 1))
	if shrunk.Card.Bytes != int64(len(line1)) || len(shrunk.Card.Older) != 2 {
		t.Errorf("a file that shrank: %d bytes, %d older, want its new state and both before", shrunk.Card.Bytes, len(shrunk.Card.Older))
	}
	back := b.save(t, line1+line2, card("s", "/a", 2))
	if len(back.Card.Older) != 1 || back.Card.Older[0].Bytes != int64(len(line1+line3)) {
		t.Errorf("back at the first state: older %v, want only the one between", back.Card.Older)
	}
}

func TestCopies(t *testing.T) {
	b := open(t)
	now := b.save(t, line1+line2, card("s", "/a", 2))
	old := b.save(t, line1, card("s", "/backup", 1))
	if old.Outcome != library.Unchanged || old.Current || old.Card.Version != now.Card.Version {
		t.Errorf("an older copy elsewhere: %s, current %v", old.Outcome, old.Current)
	}
	diverged := b.save(t, line1+line3, card("s", "/other", 1))
	if diverged.Outcome != library.Changed || diverged.Current || diverged.Card.Version != now.Card.Version || len(diverged.Card.Older) != 1 {
		t.Errorf("a copy that went another way: %s, current %v, older %v", diverged.Outcome, diverged.Current, diverged.Card.Older)
	}
	if again := b.save(t, line1+line3, card("s", "/other", 1)); again.Outcome != library.Unchanged {
		t.Errorf("the same again: %s", again.Outcome)
	}
	newer := b.save(t, line1+line2+line3, card("s", "/other", 9))
	if !newer.Current || newer.Card.Bytes != int64(len(line1+line2+line3)) {
		t.Errorf("a later copy elsewhere is not current: %+v", newer.Card)
	}
}

func TestImportKeepsWhatPeopleSaid(t *testing.T) {
	b := open(t)
	ctx := context.Background()
	saved := b.save(t, line1, card("s", "/a", 1))
	_, _, err := b.EditCard(ctx, saved.Card.ID, func(c *session.Card) error {
		c.PeopleTags, c.DroppedTags, c.PeopleTitle = []string{"auth"}, []string{"go"}, "mine"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if again := b.save(t, line1, card("s", "/a", 1)); again.Outcome != library.Unchanged {
		t.Errorf("import after a tag: %s, want unchanged", again.Outcome)
	}
	fresh := card("s", "/a", 2)
	fresh.PeopleTags = []string{"api"}
	fresh.AutoTags = []string{"go", "make"}
	grown := b.save(t, line1+line2, fresh)
	if diff := cmp.Diff([]string{"api", "auth", "make"}, grown.Card.AllTags()); diff != "" || grown.Card.PeopleTitle != "mine" {
		t.Errorf("people's words after an import: title %q, tags %s", grown.Card.PeopleTitle, diff)
	}
}

func TestEditCardLosesNoEdit(t *testing.T) {
	b := open(t)
	saved := b.save(t, line1, card("s", "/a", 1))
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			_, _, err := b.EditCard(context.Background(), saved.Card.ID, func(c *session.Card) error {
				c.PeopleTags = session.Unique(c.PeopleTags, []string{fmt.Sprint("t", i)})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, _, err := b.Card(context.Background(), saved.Card.ID)
	if err != nil || len(got.PeopleTags) != 10 {
		t.Errorf("tags after ten edits at once: %v, %v", got.PeopleTags, err)
	}
}

func TestDamageIsFound(t *testing.T) {
	b := open(t)
	ctx := context.Background()
	saved := b.save(t, line1+line2, card("s", "/a", 1))
	other := b.save(t, line3, card("other", "/b", 1))
	key := func(c *session.Card) string { return "ws/transcripts/" + c.ID + "/" + c.Version + ".zst" }
	r, info, err := b.store.Get(ctx, key(other.Card))
	if err != nil {
		t.Fatal(err)
	}
	wrong, _ := io.ReadAll(r)
	r.Close()
	for name, bytesThere := range map[string][]byte{"another transcript": wrong, "not zstd": []byte("hello"), "nothing": {}} {
		if _, err := b.store.Put(ctx, key(saved.Card), bytes.NewReader(bytesThere), int64(len(bytesThere)), blobstore.Cond{}); err != nil {
			t.Fatal(err)
		}
		r, _, err := b.Transcript(ctx, saved.Card, "")
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		if !errors.Is(err, blobstore.ErrDamaged) {
			t.Errorf("%s in its place: %v, want ErrDamaged", name, err)
		}
	}
	_ = info

	bad := "ws/cards/" + saved.Card.ID + ".json"
	for _, raw := range []string{"{", `{"id":"` + other.Card.ID + `"}`} {
		if _, err := b.store.Put(ctx, bad, strings.NewReader(raw), int64(len(raw)), blobstore.Cond{}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Card(ctx, saved.Card.ID); !errors.Is(err, blobstore.ErrDamaged) {
			t.Errorf("card %q: %v, want ErrDamaged", raw, err)
		}
	}
}

func TestNewerCardIsNotOverwritten(t *testing.T) {
	b := open(t)
	ctx := context.Background()
	c := card("s", "/a", 1)
	raw := fmt.Sprintf(`{"schema":%d,"id":%q,"owner":"ann","sha256":"00","version":"00"}`, session.CardSchema+1, c.ID)
	if _, err := b.store.Put(ctx, "ws/cards/"+c.ID+".json", strings.NewReader(raw), int64(len(raw)), blobstore.IfAbsent()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(ctx, b.draft(t, line1), c, nil); !errors.Is(err, library.ErrNewerCard) {
		t.Errorf("import over a newer card: %v", err)
	}
	if _, _, err := b.EditCard(ctx, c.ID, func(c *session.Card) error { c.Label = "x"; return nil }); !errors.Is(err, library.ErrNewerCard) {
		t.Errorf("edit of a newer card: %v", err)
	}
}

func TestNotThere(t *testing.T) {
	b := open(t)
	ctx := context.Background()
	for _, id := range []string{"", "x", "000000000000", "../../etc/pas", "ABCDEFGHJKMN", strings.Repeat("a", 5000), "a\x00cdefghjkmn"} {
		if _, _, err := b.Card(ctx, id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Card(%.20q): %v, want not exist", id, err)
		}
	}
	saved := b.save(t, line1, card("s", "/a", 1))
	if _, _, err := b.Transcript(ctx, saved.Card, "beef"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), saved.Card.Version) {
		t.Errorf("unknown version: %v, want not exist and the versions there are", err)
	}
}

func TestCardsAndRemove(t *testing.T) {
	b := open(t)
	ctx := context.Background()
	for i := range 5 {
		b.save(t, line1, card(fmt.Sprint(i), "/a", 1))
	}
	stray := "ws/cards/notes.json"
	if _, err := b.store.Put(ctx, stray, strings.NewReader("{}"), 2, blobstore.IfAbsent()); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for ref, err := range b.Cards(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ref.ID)
	}
	if len(ids) != 5 {
		t.Fatalf("cards: %v, want 5 and nothing that is not ours", ids)
	}
	if err := b.Remove(ctx, ids[0]); err != nil {
		t.Fatal(err)
	}
	for _, k := range b.keys(t) {
		if strings.Contains(k, ids[0]) {
			t.Errorf("%s is left of a removed session", k)
		}
	}
	if err := b.Remove(ctx, ids[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removing it again: %v", err)
	}
}

func TestLargeDraftSpillsAndGoes(t *testing.T) {
	b := open(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	d := library.NewDraft()
	// Random letters do not compress: about 11 MB of them outgrow the memory.
	noise := make([]byte, 1<<16)
	state := uint32(1)
	for range 176 {
		for i := range noise {
			state = state*1664525 + 1013904223
			noise[i] = byte('!' + state>>24%90)
			if noise[i] == '"' || noise[i] == '\\' {
				noise[i] = ' '
			}
		}
		if err := d.Write(b.pass.Line(append([]byte(`plain `), noise...))); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := b.Save(context.Background(), d, card("big", "/a", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := int64(len(b.text(t, saved.Card, ""))); got != d.Size() {
		t.Errorf("read back %d bytes of %d", got, d.Size())
	}
	files, _ := fs.Glob(os.DirFS(dir), "*")
	if len(files) != 1 {
		t.Errorf("temporary files while the draft lives: %v, want one", files)
	}
	d.Close()
	if files, _ = fs.Glob(os.DirFS(dir), "*"); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}
