package search

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sessdex/session"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func TestRanking(t *testing.T) {
	const name = "testdata/ranking.txtar"
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var docs []Document
	var queries, want string
	for _, f := range ar.Files {
		id, isSession := strings.CutPrefix(f.Name, "sessions/")
		switch {
		case isSession:
			head, rest, _ := strings.Cut(strings.TrimSpace(string(f.Data)), "\n")
			docs = append(docs, talk(id, func(c *session.Card) {
				c.Title = strings.TrimPrefix(head, "title: ")
			}, strings.Split(rest, "\n")...))
		case f.Name == "queries":
			queries = string(f.Data)
		case f.Name == "want":
			want = string(f.Data)
		}
	}
	x := newIndex(t, docs...)
	var got bytes.Buffer
	for q := range strings.Lines(queries) {
		r := ask(t, x, Query{Text: q})
		fmt.Fprintf(&got, "%s: %s:", strings.TrimSpace(q), r.Tier)
		for _, h := range r.Hits {
			fmt.Fprintf(&got, " %s/%d", h.ID, h.Turn)
		}
		fmt.Fprintln(&got)
	}
	if *update {
		ar.Files[len(ar.Files)-1].Data = got.Bytes()
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got.String()); d != "" {
		t.Error(d)
	}
}
