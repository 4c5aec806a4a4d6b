package search

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"sessdex/session"
)

func TestReplaceAndDelete(t *testing.T) {
	x := newIndex(t,
		talk("a", nil, "u: first alpha", "a: then beta", "u: then gamma"),
		talk("ab", nil, "u: a neighbour alpha"),
	)
	putAll(t, x, talk("a", nil, "u: first alpha"))
	if r := ask(t, x, Query{Text: "gamma"}); len(r.Hits) != 0 {
		t.Errorf("an old turn is found: %+v", r.Hits)
	}
	// Twice in one batch, and a deletion between.
	w := x.Writer()
	err := errors.Join(
		w.Put(t.Context(), talk("c", nil, "u: one", "u: delta")),
		w.Put(t.Context(), talk("c", nil, "u: one")),
		w.Delete(t.Context(), "a"),
		w.Delete(t.Context(), "nosuch"),
		w.Put(t.Context(), talk("d", nil, "u: epsilon")),
		w.Delete(t.Context(), "d"),
		w.Put(t.Context(), talk("d", nil, "u: zeta")),
		w.Close(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{"delta": "", "alpha": "ab", "epsilon": "", "zeta": "d", "one": "c"} {
		if r := ask(t, x, Query{Text: q, Exclude: []string{""}}); r.Tier == TierAll && ids(r) != want || r.Tier != TierAll && want != "" {
			t.Errorf("%s: %q, want %q", q, ids(r), want)
		}
	}
	seen, err := x.Seen(t.Context())
	if err != nil || !maps.Equal(seen, map[string]string{"ab": "card-ab", "c": "card-c", "d": "card-d"}) {
		t.Errorf("%v %v", seen, err)
	}
	st, err := x.Status(t.Context())
	if err != nil || st.Sessions != 3 || st.Turns != 3 || st.Bytes == 0 || st.Written.IsZero() || st.Built.IsZero() {
		t.Errorf("%+v %v", st, err)
	}
	if err := w.Put(t.Context(), talk("e", nil, "u: x")); err == nil {
		t.Error("a closed writer takes a session")
	}
}

// A session of many batches is seen when its last turn is there, not before.
func TestLongSession(t *testing.T) {
	x := newIndex(t, talk("other", nil, "u: x"))
	turn := strings.Repeat("many words in a turn ", 1000)
	var lines []string
	for range 450 { // two batches and more
		lines = append(lines, "u: "+turn)
	}
	d := talk("long", nil, append(lines, "u: finale")...)
	inner, batches := d.Turns, 0
	d.Turns = func(yield func(session.Turn) bool) {
		for t2 := range inner {
			if t2.N == 300 {
				batches++
				seen, err := Open(x.root, Linger(0)).Seen(t.Context())
				if err != nil || seen["long"] != "" {
					t.Errorf("half written, seen as %q: %v", seen["long"], err)
				}
			}
			if !yield(t2) {
				return
			}
		}
	}
	putAll(t, x, d)
	if batches != 1 {
		t.Fatal("the session was not read")
	}
	if r := ask(t, x, Query{Text: "finale"}); ids(r) != "long" || r.Hits[0].Turn != 451 {
		t.Errorf("%+v", r.Hits)
	}
	putAll(t, x, talk("long", nil, "u: short now"))
	if r := ask(t, x, Query{Text: "finale"}); r.Total != 0 {
		t.Errorf("%+v", r.Hits)
	}
	if turns, err := x.Turns(t.Context(), "long", 1, 500); err != nil || len(turns) != 1 {
		t.Errorf("%d turns, %v", len(turns), err)
	}
}
