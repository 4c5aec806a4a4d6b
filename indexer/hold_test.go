package indexer

import (
	"slices"
	"testing"

	"sessdex/session"
)

func TestHolds(t *testing.T) {
	user := func(ref, text string) session.Turn { return session.Turn{Role: session.User, Ref: ref, Text: text} }
	tool := func(in, out string) session.Turn {
		return session.Turn{Role: session.Tool, Ref: "c", Tool: "Bash", Input: in, Output: out}
	}
	undone := user("1", "one")
	undone.Undone = true
	for _, c := range []struct {
		name      string
		was, now  []session.Turn
		want, not bool // held by now, by was
	}{
		{"nothing", nil, nil, true, true},
		{"the same", []session.Turn{user("1", "one")}, []session.Turn{user("1", "one")}, true, true},
		{"one more", []session.Turn{user("1", "one")}, []session.Turn{user("1", "one"), user("2", "two")}, true, false},
		{"one between", []session.Turn{user("1", "one"), user("3", "three")}, []session.Turn{user("1", "one"), user("2", "two"), user("3", "three")}, true, false},
		{"one gone", []session.Turn{user("1", "one"), user("2", "two")}, []session.Turn{user("1", "one"), user("3", "three")}, false, false},
		{"another order", []session.Turn{user("1", "one"), user("2", "two")}, []session.Turn{user("2", "two"), user("1", "one")}, false, false},
		{"undone since", []session.Turn{user("1", "one")}, []session.Turn{undone, user("2", "two")}, true, false},
		{"answered since", []session.Turn{tool("ls", "")}, []session.Turn{tool("ls", "a b")}, true, false},
		{"edited", []session.Turn{user("1", "one")}, []session.Turn{user("1", "One")}, false, false},
		{"another record", []session.Turn{user("1", "one")}, []session.Turn{user("2", "one")}, false, false},
		{"said twice", []session.Turn{user("", "one"), user("", "one")}, []session.Turn{user("", "one")}, false, true},
	} {
		was, now := slices.Values(c.was), slices.Values(c.now)
		if got := holds(now, was); got != c.want {
			t.Errorf("%s: what is now holds what was: %v", c.name, got)
		}
		if got := holds(was, now); got != c.not {
			t.Errorf("%s: what was holds what is now: %v", c.name, got)
		}
	}
}
