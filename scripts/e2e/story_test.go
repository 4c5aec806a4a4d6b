//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The whole story: agents work, sessdex takes their sessions in, other agents
// find them over MCP and take them up, and the sessions go on where they were.
func TestStory(t *testing.T) {
	m, all := newMachine(t), works()
	grok := grokWork()
	writeGrokSession(t, m, grok)
	installGrok(t, m)

	done := t.Run("agents work", func(t *testing.T) {
		for _, w := range all {
			t.Run(w.by.name, func(t *testing.T) {
				t.Parallel()
				m.talk(t, w.by, talkOptions{prompt: w.request, script: w.script(m), free: true})
				if got := m.run(t, nil, "cat", w.file); got != w.content {
					t.Errorf("%s holds %q, want %q", w.file, got, w.content)
				}
			})
		}
	})
	if !done {
		t.FailNow() // nothing to import
	}
	t.Run("sessdex imports their sessions", func(t *testing.T) {
		report := m.ask(t, "import", "--home", m.home)
		wantSources(t, report, sources{
			"claude-code": {files: 1, sessions: 1, new: 1, turns: 6},
			"codex-cli":   {files: 2, sessions: 2, new: 2, turns: 12},
			"gemini-cli":  {files: 1, sessions: 1, new: 1, turns: 6},
			"opencode":    {files: 1, sessions: 1, new: 1, turns: 6},
			"grok-build":  {files: 1, sessions: 1, new: 1, turns: 6},
		})
		if len(report.Get("secrets").Map()) == 0 {
			t.Error("the report counts no secret, though every session holds one")
		}
		t.Run("as they were", func(t *testing.T) {
			for _, w := range append(all, grok) {
				t.Run(w.by.name, func(t *testing.T) {
					t.Parallel()
					wantImported(t, m, w)
				})
			}
		})
		again := m.ask(t, "import", "--home", m.home)
		wantSources(t, again, sources{
			"claude-code": {files: 1, sessions: 1, unchanged: 1, turns: 6},
			"codex-cli":   {files: 2, sessions: 2, unchanged: 2, turns: 12},
			"gemini-cli":  {files: 1, sessions: 1, unchanged: 1, turns: 6},
			"opencode":    {files: 1, sessions: 1, unchanged: 1, turns: 6},
			"grok-build":  {files: 1, sessions: 1, unchanged: 1, turns: 6},
		})
	})
	for _, w := range append(all, grok) {
		if w.id == "" {
			t.FailNow() // nothing to find
		}
	}
	t.Run("agents connect to sessdex", func(t *testing.T) { connect(t, m) })
	t.Run("other agents take the work up", func(t *testing.T) {
		for i, a := range agents {
			w := all[(i+1)%len(all)] // another agent's
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				takeUp(t, m, a, w)
			})
		}
	})
	t.Run("hooks import what they did", func(t *testing.T) {
		for i, a := range agents {
			wantHooked(t, m, a, all[(i+1)%len(all)].question)
		}
	})
	t.Run("sessions come back and go on", func(t *testing.T) {
		for _, w := range all {
			t.Run(w.by.name, func(t *testing.T) {
				t.Parallel()
				bringBack(t, m, w)
			})
		}
	})
	t.Run("work is handed over", func(t *testing.T) {
		for _, w := range append(all, grok) {
			for _, to := range heirs(w) {
				t.Run(w.by.name+" to "+to.name, func(t *testing.T) {
					t.Parallel()
					if w == grok && hasTerminals() {
						handOverAtTerminal(t, m, w, to)
					} else {
						handOver(t, m, w, to)
					}
				})
			}
			t.Run(w.by.name+" to grok", func(t *testing.T) {
				t.Parallel()
				goOnInGrok(t, m, w)
			})
		}
	})
	t.Run("sessdex imports what is new", func(t *testing.T) {
		report := m.ask(t, "import", "--home", m.home)
		wantSources(t, report, sources{
			"claude-code": {files: 6, sessions: 6, new: some, changed: some, unchanged: some, turns: some},
			"codex-cli":   {files: 8, sessions: 8, new: some, changed: some, unchanged: some, turns: some},
			// Of a session that went on in a later minute, Gemini CLI leaves a second file in
			// which nothing is said, and deletes it at its next start, and the first with it.
			"gemini-cli": {files: some, sessions: some, new: some, changed: some, unchanged: some, turns: some},
			"opencode":   {files: 6, sessions: 6, new: some, changed: some, unchanged: some, turns: some},
			"grok-build": {files: 1, sessions: 1, new: some, changed: some, unchanged: some, turns: some},
		})
		for _, w := range all {
			card := m.ask(t, "show", w.id).Get("card")
			wantTurns(t, card, 2, 4, 2)
			if got := card.Get("opening").String(); got != w.request {
				t.Errorf("%s: the opening became %q", w.by.name, got)
			}
			wantContinued(t, m, w)
			// The session of the agent that looked for the work quotes all of it, and the
			// very query. It must not stand in front of the work.
			if first := m.ask(t, "search", w.query).Get("hits.0"); first.Get("id").String() != w.id {
				t.Errorf("searching %q, the first hit is now %s, %q", w.query, first.Get("harness"), first.Get("title"))
			}
		}
	})
	t.Run("agents part from sessdex", func(t *testing.T) { disconnect(t, m) })
}

var firstHit = regexp.MustCompile(`(?m)^1\. ([0-9a-hjkmnp-tv-z]{12}) `)

// takeUp lets an agent find and read another one's work over MCP, and checks
// what its model was shown.
func takeUp(t *testing.T, m *machine, a *agent, w *work) {
	const server = "sessdex"
	script := Script{
		func(r *Request) (Reply, error) {
			if strings.Contains(string(r.Body), w.answer) {
				return Reply{}, errors.New("the model knows the answer before it looked")
			}
			call, err := a.mcp(r, server, "search_sessions", map[string]any{"query": w.query, "limit": 3})
			return Reply{Text: "I look it up.", Calls: []Call{call}}, err
		},
		func(r *Request) (Reply, error) {
			found, err := r.LastResult()
			if err != nil {
				return Reply{}, err
			}
			hit := firstHit.FindStringSubmatch(found)
			if hit == nil || hit[1] != w.id {
				return Reply{}, fmt.Errorf("the first hit is not %s:\n%s", w.id, found)
			}
			call, err := a.mcp(r, server, "fetch_session_context", map[string]any{"id": hit[1], "max_tokens": 2000, "include_tool_calls": true})
			return Reply{Text: "I read it.", Calls: []Call{call}}, err
		},
		Say("It is as the session says."),
	}
	if a.load != nil {
		script = append(Script{a.load(server, "search_sessions", "fetch_session_context")}, script...)
	}
	said := m.talk(t, a, talkOptions{prompt: w.question, script: script})
	if t.Failed() {
		return
	}
	given, err := said[len(said)-1].LastResult()
	if err != nil {
		t.Fatal(err)
	}
	wantQuoted(t, w, given)
}
