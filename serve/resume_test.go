package serve

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sessdex/contextpack"
	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/search"
	"sessdex/session"
)

func TestHandOver(t *testing.T) {
	s := newShop(t)
	for _, native := range []string{retryNative, hostileNative, longNative} {
		card, err := s.card(t.Context(), native)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range indexer.Starters() {
			for _, limit := range []int{MinHandover, 2_500, 0} {
				r, err := s.Resume(t.Context(), ResumeRequest{ID: native, In: to, MaxTokens: limit})
				if err != nil {
					t.Errorf("%s to %s: %v", native, to, err)
					continue
				}
				prompt := slices.MaxFunc(r.Argv, func(a, b string) int { return len(a) - len(b) })
				n, err := contextpack.Count(contextpack.Encodings[0], prompt)
				if most := cmp.Or(limit, DefaultHandover); err != nil || n != r.Tokens || n > most {
					t.Errorf("%s to %s: %d tokens, says %d, at most %d: %v", native, to, n, r.Tokens, most, err)
				}
				_, prompt, _ = strings.Cut("="+prompt, "=[") // an option may stand before it
				c, rest, ok := session.Continued("[" + prompt)
				if want := (session.Continuation{ID: card.ID, Harness: "claude-code", NativeID: native, Title: c.Title}); !ok || c != want || c.Title == "" || rest != "" {
					t.Errorf("%s to %s: it reads %+v, %q, %v", native, to, c, rest, ok)
				}
				if !strings.Contains(prompt, session.PackOpen) || r.Harness != to || len(r.Restored) != 0 {
					t.Errorf("%s to %s: %+v", native, to, r)
				}
			}
		}
	}
	for _, bad := range []ResumeRequest{{In: "emacs"}, {In: "codex-cli", MaxTokens: MinHandover - 1}, {In: "codex-cli", MaxTokens: contextpack.MaxTokens + 1}} {
		bad.ID = retryNative
		if _, err := s.Resume(t.Context(), bad); !errors.Is(err, ErrUsage) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// A prompt is never longer than a command can be.
func TestHandOverFitsIntoACommand(t *testing.T) {
	s := newService(t)
	c := newChat("11111111-bbbb-4bbb-8bbb-000000000001", t.TempDir())
	for range 120 {
		c.says(strings.Repeat("international characterization notwithstanding ", 40)).answers("Noted.")
	}
	publish(t, s, c)
	r, err := s.Resume(t.Context(), ResumeRequest{ID: c.native, In: "codex-cli", MaxTokens: contextpack.MaxTokens})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Argv[1]); !r.Shortened || n > 120_000 || n < 90_000 {
		t.Errorf("a prompt of %d bytes, shortened: %v", n, r.Shortened)
	}
}

// Work that was taken over is found where it was done.
func TestOriginalIsFoundBeforeWhatContinuesIt(t *testing.T) {
	s := newShop(t)
	r, err := s.Resume(t.Context(), ResumeRequest{ID: retryNative, In: "claude-code"})
	if err != nil {
		t.Fatal(err)
	}
	next := newChat("11111111-cccc-4ccc-8ccc-000000000001", "/home/ann/shop").says(r.Argv[1]).answers("I go on with the loop.")
	id := publish(t, s, next)
	card, err := s.card(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if card.ForkedFrom != retryNative || card.Title != "Continue: Bound the payment retry" || strings.Contains(card.Opening, "five attempts") {
		t.Errorf("forked from %q, %q, opened with %q", card.ForkedFrom, card.Title, card.Opening)
	}
	for _, words := range []string{"payment retry", "Bound the payment retry", "give up after five attempts", "I look at the client first", "TestRetry covers it"} {
		reply, err := s.Search(t.Context(), search.Query{Text: words})
		if err != nil || len(reply.Hits) == 0 || reply.Hits[0].NativeID != retryNative {
			t.Errorf("%s: first is %+v, %v", words, reply.Hits[:min(1, len(reply.Hits))], err)
		}
	}
}

func TestResumeSaysWhereTheWorkIs(t *testing.T) {
	s := newService(t)
	s.Indexer.Env = harness.Env{Home: t.TempDir()}
	base := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/sub", "other/.git", "second"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct{ dir, also, instead string }{
		{"repo/.worktrees/fix/deep", "", "repo"},
		{"gone", "second", "second"},
		{"nowhere", "", ""},
		{"repo/sub", "", ""},
	} {
		native := "11111111-dddd-4ddd-8ddd-00000000000" + string(rune('0'+i))
		chat := newChat(native, filepath.Join(base, c.dir)).says("Where is it?")
		if c.also != "" {
			chat.dir = filepath.Join(base, c.also)
			chat.answers("Elsewhere.")
		}
		publish(t, s, chat)
		r, err := s.Resume(t.Context(), ResumeRequest{ID: native})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.instead != "" {
			want = filepath.Join(base, c.instead)
		}
		gone := c.dir != "repo/sub"
		if (r.Gone != "") != gone || r.Instead != want || (r.Dir == "") != gone || gone != (r.GoneError() != nil) {
			t.Errorf("%s: %+v", c.dir, r)
		}
		if gone && (strings.HasPrefix(r.Line, "cd ") || !errors.Is(r.GoneError(), ErrNotFound) || !strings.Contains(r.GoneError().Error(), want)) {
			t.Errorf("%s: %q, %v", c.dir, r.Line, r.GoneError())
		}
	}
	if _, err := s.Resume(t.Context(), ResumeRequest{ID: "11111111-dddd-4ddd-8ddd-000000000000", Dir: filepath.Join(base, "no")}); !errors.Is(err, ErrUsage) {
		t.Errorf("in a folder that is not there: %v", err)
	}
}

// What a shell cannot be given, the program runs itself.
func TestResumeLineOfAHostileFolder(t *testing.T) {
	s := newService(t)
	id := publish(t, s, newChat("11111111-eeee-4eee-8eee-000000000001", `C:\%CMDCMDLINE:~-1%&calc`).says("Hello?"))
	s.Shell = Cmd
	sum, err := s.Summary(t.Context(), id, "")
	if want := "sessdex resume " + id + " --exec"; err != nil || sum.Resume != want {
		t.Errorf("%q, %v, want %q", sum.Resume, err, want)
	}
}
