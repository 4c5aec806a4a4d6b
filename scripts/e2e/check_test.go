//go:build unix

package e2e

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// counts are those of an import report, of which some is any.
type counts struct{ files, sessions, new, changed, unchanged, skipped, failed, turns int64 }

const some = -1

// sources are counts by harness.
type sources map[string]counts

func wantSources(t *testing.T, report gjson.Result, want sources) {
	t.Helper()
	got := sources{}
	for _, s := range report.Get("sources").Array() {
		n := func(field string) int64 { return s.Get(field).Int() }
		c := counts{n("files"), n("sessions"), n("new"), n("changed"), n("unchanged"), n("skipped"), n("failed"), n("turns")}
		if c.files == 0 {
			continue
		}
		name := s.Get("harness").String()
		w := want[name]
		for _, n := range [][2]*int64{{&w.files, &c.files}, {&w.sessions, &c.sessions}, {&w.new, &c.new}, {&w.changed, &c.changed}, {&w.unchanged, &c.unchanged}, {&w.turns, &c.turns}} {
			if *n[0] == some {
				*n[1] = some
			}
		}
		got[name] = c
		if unknown := s.Get("unknown_records"); len(unknown.Map()) > 0 {
			t.Errorf("%s: records that sessdex does not know: %s", name, unknown)
		}
		if n("bad_lines") > 0 {
			t.Errorf("%s: %d lines could not be read", name, n("bad_lines"))
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(counts{})); diff != "" {
		t.Errorf("import report (-want +got):\n%s\n%s", diff, report.Get("@ugly"))
	}
}

func wantTurns(t *testing.T, card gjson.Result, user, assistant, tool int64) {
	t.Helper()
	got := card.Get("turns")
	if got.Get("user").Int() != user || got.Get("assistant").Int() != assistant || got.Get("tool").Int() != tool {
		t.Errorf("%s: turns are %s, want %d of the user, %d of the assistant, %d of tools", card.Get("harness"), got, user, assistant, tool)
	}
}

// wantImported finds the session by words of every kind, notes its id, and checks
// its card and its text.
func wantImported(t *testing.T, m *machine, w *work) {
	t.Helper()
	name := path.Base(w.file)
	for what, args := range map[string][]string{
		"request": {w.query}, "answer": {w.answer}, "thinking": {w.thought}, "output": {w.output},
	} {
		first := m.ask(t, append([]string{"search"}, args...)...).Get("hits.0")
		if id := first.Get("id").String(); first.Get("harness").String() != w.by.harness || w.id != "" && w.id != id {
			t.Errorf("searching the words of the %s, the first hit is %s", what, first)
		} else {
			w.id = id
		}
	}
	// Others may come first: OpenCode's session also lists what others changed in the
	// folder while it ran.
	if ids := m.ask(t, "search", "--file", name).Get("hits.#.id").String(); !strings.Contains(ids, w.id) {
		t.Errorf("searching for the file %s finds only %s, not %s", name, ids, w.id)
	}
	if !regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{12}$`).MatchString(w.id) {
		t.Fatalf("%s: the id is %q", w.by.name, w.id)
	}
	card := m.ask(t, "show", w.id).Get("card")
	wantTurns(t, card, 1, 3, 2)
	branch := ""
	if w.by.branch {
		branch = "trunk"
	}
	for field, want := range map[string]string{
		"opening": w.request, "dir": m.repo, "repo": "git.example.com/burrow/marmot", "branch": branch,
	} {
		if got := card.Get(field).String(); got != want {
			t.Errorf("%s: %s is %q, want %q", w.by.name, field, got, want)
		}
	}
	if files := card.Get("files").String(); !strings.Contains(files, name) {
		t.Errorf("%s: the edited files are %s, without %s", w.by.name, files, name)
	}
	if native := m.ask(t, "show", card.Get("native_id").String()).Get("card.id").String(); native != w.id {
		t.Errorf("%s: its native id shows %q, not %s", w.by.name, native, w.id)
	}
	pack := m.run(t, nil, m.sessdex, "context", w.id, "--include-tool-calls")
	wantQuoted(t, w, pack)
}

// wantQuoted checks that a text tells the work and keeps the secret.
func wantQuoted(t *testing.T, w *work, text string) {
	t.Helper()
	for _, words := range []string{w.request, w.answer, "First I look around."} {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in what sessdex gave of the session:\n%s", words, tail(text))
		}
	}
	if strings.Contains(text, secret) {
		t.Errorf("the secret is in what sessdex gave of the session:\n%s", tail(text))
	}
}
