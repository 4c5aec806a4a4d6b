package indexer_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sessdex/blobstore"
	"sessdex/indexer"
	"sessdex/session"
)

// counting is a store that counts what is written, by the folder of its key.
type counting struct {
	blobstore.Store
	mu   sync.Mutex
	puts map[string]int
}

func (c *counting) Put(ctx context.Context, key string, r io.Reader, size int64, cond blobstore.Cond) (blobstore.Info, error) {
	info, err := c.Store.Put(ctx, key, r, size, cond)
	if err == nil {
		c.mu.Lock()
		c.puts[strings.Split(key, "/")[1]]++
		c.mu.Unlock()
	}
	return info, err
}

// written is what was written since it was last asked.
func (c *counting) written() (cards, transcripts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cards, transcripts = c.puts["cards"], c.puts["transcripts"]
	c.puts = map[string]int{}
	return cards, transcripts
}

func countingMachine(t *testing.T) (*machine, *counting) {
	store := &counting{Store: blobstore.NewMemory(), puts: map[string]int{}}
	return onStore(t, store), store
}

// edit changes a file in place and gives it back the time it had.
func edit(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, change(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

func add(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(text)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// One line more in one of a thousand sessions costs one session's work, and none
// costs none.
func TestOneAppendCostsOneSession(t *testing.T) {
	m, store := countingMachine(t)
	path := func(i int) string {
		return fmt.Sprintf(".claude/projects/-work-p%d/aaaaaaaa-0000-4000-8000-%012d.jsonl", i%10, i)
	}
	id := func(i int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i) }
	for i := range 1000 {
		m.write(t, path(i), claude(id(i), "hello"))
	}
	rep := m.imp(t, indexer.ImportOptions{})
	if cards, transcripts := store.written(); rep.Parsed != 1000 || cards != 1000 || transcripts != 1000 {
		t.Fatalf("first: %d parsed, %d cards and %d transcripts written", rep.Parsed, cards, transcripts)
	}
	more := claude(id(700), "hello", "obelisk")
	add(t, filepath.Join(m.home, path(700)), more[len(claude(id(700), "hello")):])
	rep = m.imp(t, indexer.ImportOptions{})
	cards, transcripts := store.written()
	if s := sum(rep); rep.Parsed != 1 || s.Changed != 1 || s.Unchanged != 999 || cards != 1 || transcripts != 1 {
		t.Errorf("after one append: %d parsed, %d cards and %d transcripts written, %+v", rep.Parsed, cards, transcripts, s)
	}
	if got := m.find(t, "obelisk"); !slices.Equal(got, []string{id(700)}) {
		t.Errorf("the new turn finds %v", got)
	}
	rep = m.imp(t, indexer.ImportOptions{})
	if cards, transcripts := store.written(); rep.Parsed+rep.Synced+cards+transcripts != 0 {
		t.Errorf("after nothing: %d parsed, %d synced, %d cards and %d transcripts written", rep.Parsed, rep.Synced, cards, transcripts)
	}
}

// Whatever happens to a file costs the work of its session, and search shows what
// the file holds then.
func TestEachChangeCostsItsSession(t *testing.T) {
	all := claude(claudeID, "zeppelin", "obelisk", "gondola")
	two := claude(claudeID, "zeppelin", "obelisk")
	third := all[len(two):]
	for _, c := range []struct {
		name, after string
		keepTime    bool
		finds       []string
		outcome     string
		older       int
	}{
		{"append", all + claude(claudeID, "", "", "", "lantern")[len(claude(claudeID, "", "", "")):], false, []string{"zeppelin", "obelisk", "gondola", "lantern"}, "changed", 0},
		{"rewind", two, false, []string{"zeppelin", "obelisk"}, "changed", 1},
		{"rewind and go on", two + strings.ReplaceAll(third, "gondola", "lantern"), false, []string{"zeppelin", "obelisk", "lantern"}, "changed", 1},
		{"same size, same time", strings.ReplaceAll(all, "gondola", "airship"), true, []string{"zeppelin", "obelisk", "airship"}, "changed", 1},
		{"torn", two + third[:len(third)/2], false, []string{"zeppelin", "obelisk"}, "changed", 1},
		{"emptied", "", false, []string{"zeppelin", "obelisk", "gondola"}, "skipped", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, store := countingMachine(t)
			path := m.write(t, claudeFile, all)
			m.write(t, codexFile, codex(codexID, "paint the tower"))
			m.imp(t, indexer.ImportOptions{})
			store.written()
			if c.keepTime {
				if len(c.after) != len(all) {
					t.Fatal("the change is of another size")
				}
				edit(t, path, func([]byte) []byte { return []byte(c.after) })
			} else if err := os.WriteFile(path, []byte(c.after), 0o644); err != nil {
				t.Fatal(err)
			}
			rep := m.imp(t, indexer.ImportOptions{})
			s := sum(rep)
			if got := map[string]int{"changed": s.Changed, "skipped": s.Skipped}; rep.Parsed != 1 || got[c.outcome] != 1 || s.Unchanged != 2-1 {
				t.Errorf("parsed %d, %+v", rep.Parsed, s)
			}
			if cards, transcripts := store.written(); cards != s.Changed || transcripts != s.Changed {
				t.Errorf("%d cards and %d transcripts written", cards, transcripts)
			}
			for _, word := range []string{"zeppelin", "obelisk", "gondola", "airship", "lantern"} {
				if got := m.find(t, word); (len(got) == 1) != slices.Contains(c.finds, word) {
					t.Errorf("%s finds %v", word, got)
				}
			}
			card, _, err := m.Library.Card(t.Context(), session.NewID("ann", "claude-code", claudeID))
			if err != nil || len(card.Older) != c.older {
				t.Errorf("%d older versions are kept, want %d: %v", len(card.Older), c.older, err)
			}
			if rep := m.imp(t, indexer.ImportOptions{}); rep.Parsed != 0 {
				t.Errorf("the import after it read %d", rep.Parsed)
			}
		})
	}
}

// A record that is still being written is left out, with whatever half of a secret
// it shows, and comes in when it is whole.
func TestTornRecordComesInWhenWhole(t *testing.T) {
	m := newMachine(t)
	secret := "gh" + "p_" + strings.Repeat("aB3dE6gH9", 4)
	all := claude(claudeID, "zeppelin", "obelisk "+secret)
	cut := strings.Index(all, secret) + 12 // too little of it to be recognized
	path := m.write(t, claudeFile, all[:cut])
	rep := m.imp(t, indexer.ImportOptions{})
	if s := sum(rep); s.New != 1 || s.Turns != 1 || rep.Sources[0].BadLines != 1 {
		t.Errorf("torn: %+v, %d bad lines", s, rep.Sources[0].BadLines)
	}
	if raw := stored(t, m); strings.Contains(raw, secret[:12]) {
		t.Errorf("half a secret is stored: %s", raw)
	}
	add(t, path, all[cut:])
	if s := sum(m.imp(t, indexer.ImportOptions{})); s.Changed != 1 || s.Turns != 2 {
		t.Errorf("whole: %+v", s)
	}
	if got := m.find(t, "obelisk"); len(got) != 1 {
		t.Errorf("the record that was torn finds %v", got)
	}
	if raw := stored(t, m); strings.Contains(raw, secret) || !strings.Contains(raw, "obelisk [REDACTED:") {
		t.Errorf("stored: %s", raw)
	}
	card, _, err := m.Library.Card(t.Context(), session.NewID("ann", "claude-code", claudeID))
	if err != nil || len(card.Older) != 0 {
		t.Errorf("a torn state is kept: %+v, %v", card.Older, err)
	}
}

// Only the end of a transcript that is a record a line can be torn: a document over
// several lines ends like that.
func TestTornIsOnlyALine(t *testing.T) {
	m := newMachine(t)
	whole := strings.TrimSuffix(claude("s1", "zeppelin", "obelisk"), "\n")
	m.write(t, "given/no-newline.jsonl", whole)
	doc := `{"session":{"id":"s2","timestamp":"2025-04-20T10:00:00.000Z","instructions":""},
"items":[
{"type":"message","role":"user","content":[{"type":"input_text","text":"gondola"}]},
{"type":"message","role":"user","content":[{"type":"input_text","text":"lantern"}]}]}`
	m.write(t, "given/document.json", doc)
	rep := m.imp(t, indexer.ImportOptions{Paths: []string{filepath.Join(m.home, "given")}})
	if s := sum(rep); s.New != 2 || s.Turns != 4 {
		t.Errorf("%+v, skips %v", s, rep.Skips)
	}
	for _, word := range []string{"obelisk", "lantern"} {
		if len(m.find(t, word)) != 1 {
			t.Errorf("%s is not found", word)
		}
	}
}

// stored is the transcript that the library has of the session.
func stored(t *testing.T, m *machine) string {
	t.Helper()
	card, _, err := m.Library.Card(t.Context(), session.NewID("ann", "claude-code", claudeID))
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := m.Library.Transcript(t.Context(), card, "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What an agent writes while imports run is in the library after the next one.
func TestLiveWriterLosesNothing(t *testing.T) {
	m := newMachine(t)
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprintf("word%dx", i)
	}
	all := claude(claudeID, words...)
	path := m.write(t, claudeFile, "")
	done := make(chan error)
	go func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		for len(all) > 0 && err == nil {
			n := min(len(all), 97) // tears most records
			_, err = f.WriteString(all[:n])
			all = all[n:]
			time.Sleep(100 * time.Microsecond)
		}
		f.Close()
		done <- err
	}()
	for writing := true; writing; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			writing = false
		default:
		}
		m.imp(t, indexer.ImportOptions{})
	}
	for _, w := range words {
		if got := m.find(t, w); len(got) != 1 {
			t.Errorf("%s finds %v", w, got)
		}
	}
	card, _, err := m.Library.Card(t.Context(), session.NewID("ann", "claude-code", claudeID))
	if err != nil || len(card.Older) != 0 || card.Turns.User != len(words) {
		t.Errorf("%d turns, older versions %v, %v", card.Turns.User, card.Older, err)
	}
}

// A copy of a session in another project is the same session.
func TestCopyImportsNothingTwice(t *testing.T) {
	m, store := countingMachine(t)
	text := claude(claudeID, "make the zeppelin fly")
	m.write(t, claudeFile, text)
	m.imp(t, indexer.ImportOptions{})
	store.written()
	m.write(t, strings.Replace(claudeFile, "-work-shop", "-work-other", 1), text)
	rep := m.imp(t, indexer.ImportOptions{})
	if s := sum(rep); s.New+s.Changed != 0 || s.Files != 2 || s.Unchanged != 2 {
		t.Errorf("%+v", s)
	}
	if cards, transcripts := store.written(); cards+transcripts != 0 {
		t.Errorf("%d cards and %d transcripts written", cards, transcripts)
	}
	if got := m.find(t, "zeppelin"); !slices.Equal(got, []string{claudeID}) {
		t.Errorf("zeppelin finds %v", got)
	}
	if rep := m.imp(t, indexer.ImportOptions{}); rep.Parsed != 0 {
		t.Errorf("the import after it read %d", rep.Parsed)
	}
}
