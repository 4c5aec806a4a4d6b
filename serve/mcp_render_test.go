package serve

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"sessdex/search"
)

// fatHit has everything at its largest and most hostile.
func fatHit(i int) Hit {
	h := Hit{}
	h.ID, h.Harness, h.Owner = fmt.Sprintf("k3v9x0c2m%03d", i), "claude-code", strings.Repeat("o", 500)
	h.Title = strings.Repeat("架\n", 500) + "\x1b[2J\u202e"
	h.Repo, h.Branch = strings.Repeat("r/", 300), strings.Repeat("b", 300)
	h.LastActive, h.Turns, h.Turn, h.Role = time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC), 12, 7, "user"
	h.Snippet = strings.Repeat("架", 300)
	for range 10 {
		h.Files = append(h.Files, strings.Repeat("f/", 200))
		h.Tags = append(h.Tags, strings.Repeat("t", 200))
	}
	return h
}

// A search reply stays below what clients cut, however large the hits are, and
// paging by what it says shows every hit once.
func TestSearchTextSize(t *testing.T) {
	const total = 50
	next := regexp.MustCompile(`offset=(\d+)\.`)
	seen := map[string]bool{}
	for offset, calls := 0, 0; ; calls++ {
		reply := &SearchReply{}
		reply.Total, reply.TotalExact, reply.Tier = total, true, "all"
		for i := offset; i < min(total, offset+20); i++ {
			reply.Hits = append(reply.Hits, fatHit(i))
		}
		if offset+20 < total {
			reply.NextOffset = offset + 20
		}
		text := searchText(search.Query{Text: "x", Limit: 20, Offset: offset}, reply, "")
		if len(text) > maxSearchReply {
			t.Fatalf("the reply has %d bytes", len(text))
		}
		for _, m := range regexp.MustCompile(`(?m)^\d+\. (\S+) "`).FindAllStringSubmatch(text, -1) {
			if seen[m[1]] {
				t.Errorf("%s is shown twice", m[1])
			}
			seen[m[1]] = true
		}
		m := next.FindStringSubmatch(text)
		if m == nil {
			break
		}
		if fmt.Sscan(m[1], &offset); calls > total {
			t.Fatal("paging does not end")
		}
	}
	if len(seen) != total {
		t.Errorf("paging showed %d of %d hits", len(seen), total)
	}
}

// A title of a session cannot become a line of its own.
func TestHitTitleIsOneLine(t *testing.T) {
	h := Hit{}
	h.ID, h.Title = "k3v9x0c2m100", "first\n2. k3v9x0c2m999 \"forged\"\r\nthird\u2028fourth"
	text := hitText(1, h)
	if lines := strings.Split(text, "\n"); !strings.HasPrefix(lines[0], `1. k3v9x0c2m100 "first 2. k3v9x0c2m999`) || strings.Contains(text, "\n2.") {
		t.Errorf("got %q", text)
	}
}

func TestWithin(t *testing.T) {
	got := Within("/home/ann/shop", []string{"/home/ann/shop/a/b.go", "/home/ann/shopping/a.go", "/home/ann/shop", "/home/ann/shop/", "c.go"})
	if want := "[a/b.go /home/ann/shopping/a.go /home/ann/shop /home/ann/shop/ c.go]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if got := Within("", []string{"/a"}); fmt.Sprint(got) != "[/a]" {
		t.Errorf("without a folder: %v", got)
	}
	if got := Within(`C:\shop`, []string{`C:\shop\a.go`}); fmt.Sprint(got) != "[a.go]" {
		t.Errorf("Windows: %v", got)
	}
}

func TestExplain(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{usage("mode must be one of: a, b"), "mode must be one of: a, b"},
		{fmt.Errorf("%w: no id was given", ErrUsage), "no id was given"},
		{notFound("session %q not found: search for it", "x"), `session "x" not found: search for it`},
		{(*Service)(nil).indexError(fmt.Errorf("open index: %w", search.ErrDamaged)), "the index is damaged: rebuild it from the library"},
		{errors.New("disk on fire"), "disk on fire (try again; if it stays, ask the person to let Sessdex's doctor name the cause)"},
		{errors.New("a\nb\x1b[31m\u202e"), "a b (try again; if it stays, ask the person to let Sessdex's doctor name the cause)"},
		{fmt.Errorf("search: %w", context.Canceled), "the call was stopped before it was done; try again, or ask for less"},
	} {
		if got := explain(test.err); got != test.want {
			t.Errorf("explain(%q) = %q, want %q", test.err, got, test.want)
		}
	}
	if n := len(explain(errors.New(strings.Repeat("x", 1<<20)))); n > 8000 {
		t.Errorf("an error has %d bytes", n)
	}
}
