//go:build unix

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// bringBack lets an agent forget a session and sessdex restore it, goes on with it by
// the command that sessdex names, and checks that the model is shown what was there.
func bringBack(t *testing.T, m *machine, w *work) {
	native := m.ask(t, "show", w.id).Get("card.native_id").String()
	if kept := m.ask(t, "resume", w.id, "--dry-run").Get("restored").Array(); len(kept) > 0 {
		t.Errorf("a session that is there would be restored to %s", kept)
	}
	w.by.forget(t, m, native)
	if now := m.ask(t, "resume", w.id, "--dry-run"); len(now.Get("restored").Array())+len(now.Get("ran").Array()) == 0 {
		t.Fatalf("the session is gone, and nothing would be restored: %s", now)
	}
	resume := m.ask(t, "resume", w.id)
	for _, file := range resume.Get("restored").Array() {
		if info, err := os.Stat(file.String()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("restored file: %v, %v; want one that only its owner reads", info, err)
		}
	}
	if dir := resume.Get("dir").String(); dir != m.repo {
		t.Errorf("it goes on in %q, not in %s", dir, m.repo)
	}
	said := m.talk(t, w.by, talkOptions{argv: commandOf(t, resume), prompt: "Thank you. Anything left?", script: Script{Say("Nothing is left.")}})
	wantShown(t, said[0], w.request, "First I look around.", w.output, "Now I write it down.", w.answer)
	wantNoSecret(t, said[0]) // which the agent's own file had
}

// heirs are the agents that a work is handed over to, besides Grok: every other one,
// each program once.
func heirs(w *work) (to []*agent) {
	for _, a := range agents {
		if a.harness != w.by.harness && w.by != codexClassic && a != codexClassic {
			to = append(to, a)
		}
	}
	return to
}

// handOver lets another agent begin a session on the same work, and checks that
// its model is shown what the first one has done.
func handOver(t *testing.T, m *machine, w *work, to *agent) {
	resume := m.ask(t, "resume", w.id, "--in", to.harness)
	if got := resume.Get("harness").String(); got != to.harness {
		t.Errorf("it goes on in %q", got)
	}
	script := Script{Say("I go on with it.")}
	said := m.talk(t, to, talkOptions{argv: commandOf(t, resume), script: script})
	wantShown(t, said[0], w.id, w.request, "First I look around.", w.answer)
	wantNoSecret(t, said[0])
}

// wantContinued checks that sessdex knows which sessions go on with a work.
func wantContinued(t *testing.T, m *machine, w *work) {
	t.Helper()
	native := m.ask(t, "show", w.id).Get("card.native_id").String()
	var got, want []string
	for _, a := range heirs(w) {
		want = append(want, a.harness)
	}
	for _, hit := range m.ask(t, "search", "continue session "+w.id, "--limit", "20").Get("hits").Array() {
		if m.ask(t, "show", hit.Get("id").String()).Get("card.forked_from").String() == native {
			got = append(got, hit.Get("harness").String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: sessions of %q go on with it, want %q", w.by.name, got, want)
	}
}

// commandOf is the command of an answer of "resume".
func commandOf(t *testing.T, resume gjson.Result) []string {
	t.Helper()
	var argv []string
	for _, arg := range resume.Get("argv").Array() {
		argv = append(argv, arg.String())
	}
	if len(argv) < 2 {
		t.Fatalf("sessdex names no command: %s", resume)
	}
	return argv
}

// wantShown checks what a model was shown.
func wantShown(t *testing.T, r *Request, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(string(r.Body), w) {
			t.Errorf("the model was not shown %q", w)
		}
	}
}

// wantNoSecret checks that a model was not shown the secret, which every session
// holds as its agent kept it.
func wantNoSecret(t *testing.T, r *Request) {
	t.Helper()
	if strings.Contains(string(r.Body), secret) {
		t.Error("the model was shown the secret")
	}
}
