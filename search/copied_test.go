package search

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

// fork is a session of ann's under the id that its native id gives it, whose first n
// turns were copied from the session "of".
func fork(native, of string, n int, lines ...string) Document {
	d := talk(session.NewID("ann", "claude-code", native), nil, lines...)
	d.Card.NativeID, d.Card.ForkedFrom = native, of
	for t := range d.Turns {
		if t.N <= n {
			d.Card.Inherited.Add(t.Role)
		}
		if t.N == n+1 && t.Role == session.User {
			d.Card.Opening, d.Card.Title = t.Text, t.Text
		}
	}
	return d
}

// natives lists the native ids of the hits in order.
func natives(r *Result) string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.NativeID)
	}
	return strings.Join(out, " ")
}

func sortedNatives(r *Result) string {
	out := strings.Fields(natives(r))
	slices.Sort(out)
	return strings.Join(out, " ")
}

// What was copied is found where it was said first, for as long as that is there.
func TestInheritedTurnsAreFoundOnce(t *testing.T) {
	old := fork("old", "", 0, "u: plant the quince", "a: where the hedge was", "t: Bash | dig hole | spade bent")
	young := fork("young", "old", 3, "u: plant the quince", "a: where the hedge was", "t: Bash | dig hole | spade bent", "u: water the medlar", "a: twice a week")
	x := newIndex(t, old, young)
	check := func(want ...string) {
		t.Helper()
		for i, q := range []string{"quince", "hedge", "spade", `"dig hole"`, "medlar", "twice", "quince medlar", "quince -spade", "role:user quince", "file:nothing quince"} {
			r := ask(t, x, Query{Text: q, Facets: true})
			if got := sortedNatives(r); got != want[i] {
				t.Errorf("%s: found %q, want %q", q, got, want[i])
			}
			n := 0
			for _, f := range r.Facets["harness"] {
				n += f.Count
			}
			if r.Total != len(r.Hits) || n != r.Total {
				t.Errorf("%s: total %d, %d in facets, %d hits", q, r.Total, n, len(r.Hits))
			}
			for _, h := range r.Hits {
				if h.NativeID == "young" && h.Turn != 0 && h.Turn <= 3 && want[0] == "old" {
					t.Errorf("%s: the snippet of the fork is from turn %d, which it inherited: %s", q, h.Turn, h.Snippet)
				}
			}
		}
	}
	check("old", "old", "old", "old", "young", "young", "old young", "", "old", "")
	h := ask(t, x, Query{Text: "medlar"}).Hits[0]
	if h.Turns != 2 || h.Inherited != 3 || h.Turn != 4 {
		t.Errorf("the fork shows %d turns of its own and %d before, best turn %d", h.Turns, h.Inherited, h.Turn)
	}
	if turns, err := x.Turns(t.Context(), young.Card.ID, 1, 9); err != nil || len(turns) != 5 {
		t.Errorf("the fork gives %d turns (%v), want all 5", len(turns), err)
	}

	w := x.Writer()
	if err := errors.Join(w.Delete(t.Context(), old.Card.ID), w.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	check("young", "young", "young", "young", "young", "young", "young", "", "young", "")
	putAll(t, x, old)
	check("old", "old", "old", "old", "young", "young", "old young", "", "old", "")
}

func TestInheritedTurnsOfLineages(t *testing.T) {
	lines := []string{"u: alpha", "a: beta", "u: gamma", "a: delta"}
	with := func(n int, more ...string) []string { return append(slices.Clone(lines[:n]), more...) }
	readers := func(d Document, who ...string) Document { d.Card.Readers = who; return d }
	sub := func(d Document, parent string) Document { d.Card.Subagent, d.Card.Parent = true, parent; return d }
	for _, c := range []struct {
		name string
		docs []Document
		q    Query
		want string
	}{
		{"several copies of a missing origin: the longest stands in", []Document{
			fork("b", "gone", 2, with(2, "u: own b")...), fork("c", "gone", 4, with(4, "u: own c")...), fork("d", "gone", 2, with(2, "u: own d")...),
		}, Query{Text: "alpha"}, "c"},
		{"and they keep what is theirs", []Document{
			fork("b", "gone", 2, with(2, "u: own b")...), fork("c", "gone", 4, with(4, "u: own c")...),
		}, Query{Text: "own"}, "b c"},
		{"a copy of a copy", []Document{
			fork("a", "", 0, lines...), fork("b", "a", 4, with(4, "u: own b")...), fork("c", "b", 5, with(4, "u: own b", "u: own c")...),
		}, Query{Text: "own"}, "b c"},
		{"the middle one is gone", []Document{
			fork("a", "", 0, lines...), fork("c", "b", 5, with(4, "u: own b", "u: own c")...),
		}, Query{Text: "own"}, "c"},
		{"a circle loses nothing", []Document{
			fork("a", "b", 2, lines...), fork("b", "a", 2, lines...),
		}, Query{Text: "alpha"}, "a"}, // whose id is the smaller
		{"nor does a session that names itself", []Document{fork("a", "a", 2, lines...)}, Query{Text: "alpha"}, "a"},
		{"who may not see the origin finds the copy", []Document{
			fork("a", "", 0, lines...), readers(fork("b", "a", 4, with(4, "u: own b")...), "bob"),
		}, Query{Text: "alpha", Viewer: "bob"}, "b"},
		{"who may see both finds the origin", []Document{
			readers(fork("a", "", 0, lines...), "bob"), readers(fork("b", "a", 4, with(4, "u: own b")...), "bob"),
		}, Query{Text: "alpha", Viewer: "bob"}, "a"},
		{"a hidden origin is none", []Document{
			sub(fork("a", "", 0, lines...), "x"), fork("x", "", 0, "u: other"), fork("b", "a", 4, with(4, "u: own b")...),
		}, Query{Text: "alpha"}, "b"},
		{"a sub-agent's copy of its parent", []Document{
			fork("a", "", 0, lines...), sub(fork("b", "a", 4, with(4, "u: task")...), "a"),
		}, Query{Text: "alpha", Subagents: true}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 { // in any order
				rand.Shuffle(len(c.docs), func(i, j int) { c.docs[i], c.docs[j] = c.docs[j], c.docs[i] })
				if got := sortedNatives(ask(t, newIndex(t, c.docs...), c.q)); got != c.want {
					t.Errorf("found %q, want %q", got, c.want)
				}
			}
		})
	}
}

// An index that grew and one that was built at once answer alike.
func TestInheritedTurnsAfterRebuild(t *testing.T) {
	docs := []Document{
		fork("a", "", 0, "u: alpha", "a: beta"),
		fork("b", "a", 2, "u: alpha", "a: beta", "u: gamma"),
		fork("c", "b", 3, "u: alpha", "a: beta", "u: gamma", "a: alpha again"),
	}
	grown := newIndex(t, docs[2], fork("a", "c", 1, "u: alpha"), fork("b", "", 0, "u: alpha"), docs[0], docs[1])
	built := newIndex(t)
	if err := built.Rebuild(t.Context(), func(w *Writer) error {
		return errors.Join(w.Put(t.Context(), docs[0]), w.Put(t.Context(), docs[1]), w.Put(t.Context(), docs[2]))
	}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"alpha", "beta", "gamma", "again", "alpha gamma", ""} {
		var got [2]string
		for i, x := range []*Index{grown, built} {
			for _, h := range ask(t, x, Query{Text: q}).Hits {
				got[i] += fmt.Sprintf("%s %d %d %s\n", h.NativeID, h.Turn, h.Turns, h.Snippet)
			}
		}
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("%q: %s", q, diff)
		}
	}
}

// Sub-agents whose parent is not here are listed, unless nobody asked them anything.
func TestOrphans(t *testing.T) {
	sub := func(native, parent, opening string) Document {
		d := fork(native, "", 0, "u: errand of "+native)
		d.Card.Subagent, d.Card.Parent, d.Card.Opening = true, parent, opening
		return d
	}
	x := newIndex(t, fork("main", "", 0, "u: errand"), sub("child", "main", "go"), sub("orphan", "gone", "go"),
		sub("guardian", "gone", ""), sub("internal", "", "go"), sub("own", "own", "go"))
	if got := sortedNatives(ask(t, x, Query{})); got != "main orphan own" {
		t.Errorf("listed: %s", got)
	}
	if got := sortedNatives(ask(t, x, Query{Text: "errand", Subagents: true})); got != "child guardian internal main orphan own" {
		t.Errorf("with sub-agents: %s", got)
	}
}

func TestKin(t *testing.T) {
	ref := func(s string) string { return strings.Repeat("0", minRootRef) + s }
	with := func(native string, refs ...string) Document {
		d := talk(native, nil)
		var turns []session.Turn
		for i, r := range refs {
			role := session.User
			r, summary := strings.CutPrefix(r, "s:")
			if summary {
				role = session.Summary
			}
			if r != "" {
				r = ref(r)
			}
			turns = append(turns, session.Turn{N: i + 1, Role: role, Ref: r, Text: "word"})
		}
		d.Turns = slices.Values(turns)
		return d
	}
	short := talk("short", nil)
	short.Turns = slices.Values([]session.Turn{{N: 1, Role: session.User, Ref: "u1"}})
	short2 := talk("short2", nil)
	short2.Turns = short.Turns
	foreign := with("foreign", "1")
	foreign.Card.Owner = "bob"
	x := newIndex(t, with("a", "1", "2", "s:3"), with("b", "1", "2"), with("c", "s:3", "4"), with("d", "2"),
		with("e", "", "1"), short, short2, foreign)
	for _, c := range []struct {
		ids  []string
		want string
	}{
		{[]string{"b"}, "[[a b c]]"},
		{[]string{"c", "a", "b"}, "[[a b c]]"},
		{[]string{"d", "e", "short", "foreign", "nowhere"}, "[]"},
	} {
		got, err := x.Kin(t.Context(), c.ids)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("kin of %v: %v (%v), want %s", c.ids, got, err, c.want)
		}
	}
	turns, err := x.Outline(t.Context(), "a")
	if err != nil || len(turns) != 3 || turns[2].Ref != ref("3") || turns[2].Role != session.Summary || turns[0].Text != "" {
		t.Errorf("outline: %+v (%v)", turns, err)
	}
}
