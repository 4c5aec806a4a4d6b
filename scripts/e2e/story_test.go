//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// A piece of work is what one agent does in one session, so that another can
// look for it. No two share their telling words.
type work struct {
	by       *agent
	request  string // the person's words
	thought  string // the model's thinking
	command  string
	output   string // a word that only the command's output has
	file     string
	content  string
	answer   string // the model's last words
	question string // how another person asks for it, in other words
	query    string // what a model then searches for

	id string // sessdex's id of the session, once imported
}

// secret is a token as an agent's tools may print one. It is put together here,
// so that no scanner takes this file for a leak.
var secret = "gh" + "p_" + "a8Kd03mXq7Zt5RwLc2Vn9YbGf4HsJe6PuT1o"

func works() []*work {
	return []*work{
		{
			by:       claude,
			request:  "Please keep the marmot service from hammering its upstream with a quokkafroth limiter",
			thought:  "A leaky pail is simpler than a windowed ledger",
			command:  "printf 'upstream%s token %s\\n' _bramblewick " + secret,
			output:   "upstream_bramblewick",
			file:     "limits/quokkafroth.md",
			content:  "# Quokkafroth\n\nThe pail leaks.\n",
			answer:   "Done: a burst of seventeen, refilled every nine seconds, with jitter.",
			question: "How did we calm down the calls to the upstream? Please look it up.",
			query:    "quokkafroth limiter upstream",
		},
		{
			by:       codex,
			request:  "Add a zibblewharf retry queue to the marmot service so that no letter is lost",
			thought:  "Persisting beats counting here",
			command:  "printf 'letters%s token %s\\n' _tanglefoot " + secret,
			output:   "letters_tanglefoot",
			file:     "queue/zibblewharf.md",
			content:  "# Zibblewharf\n\nLetters wait in a ring.\n",
			answer:   "Done: letters wait in a ring of forty and are sent again after a frost delay.",
			question: "What do we do with letters that fail? Please look it up.",
			query:    "zibblewharf retry queue letters",
		},
		{
			by:       codexClassic,
			request:  "Make the mumblethorn export of the marmot service write one row for each burrow",
			thought:  "Grouping must come before sorting",
			command:  "printf 'burrows%s token %s\\n' _oxlipgate " + secret,
			output:   "burrows_oxlipgate",
			file:     "export/mumblethorn.md",
			content:  "# Mumblethorn\n\nOne row each.\n",
			answer:   "Done: rows are grouped by burrow and sorted by the day of first snow.",
			question: "In which order does the export write its rows? Please look it up.",
			query:    "mumblethorn export rows burrow",
		},
	}
}

// script is the work as the model does it: a look, a file, an answer, with words
// to each, so that the session has one turn of the person's, three of the model's
// and two of tools.
func (w *work) script(m *machine) Script {
	return Script{
		func(*Request) (Reply, error) {
			return Reply{Thinking: w.thought, Text: "First I look around.", Calls: []Call{w.by.shell(w.command)}}, nil
		},
		func(r *Request) (Reply, error) {
			if out, err := r.LastResult(); err != nil || !strings.Contains(out, w.output) {
				return Reply{}, errors.Join(err, fmt.Errorf("the command printed %q", out))
			}
			return Reply{Text: "Now I write it down.", Calls: []Call{w.by.write(m, w.file, w.content)}}, nil
		},
		Say(w.answer),
	}
}

// The whole story: agents work, sessdex takes their sessions in, other agents
// find them over MCP and take them up, and the sessions go on where they were.
func TestStory(t *testing.T) {
	m, all := newMachine(t), works()

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
		})
		if len(report.Get("secrets").Map()) == 0 {
			t.Error("the report counts no secret, though every session holds one")
		}
		for _, w := range all {
			wantImported(t, m, w)
		}
		again := m.ask(t, "import", "--home", m.home)
		wantSources(t, again, sources{
			"claude-code": {files: 1, sessions: 1, unchanged: 1, turns: 6},
			"codex-cli":   {files: 2, sessions: 2, unchanged: 2, turns: 12},
		})
	})
	for _, w := range all {
		if w.id == "" {
			t.FailNow() // nothing to find
		}
	}
	t.Run("agents connect to sessdex", func(t *testing.T) {
		m.run(t, nil, "claude", "mcp", "add", "sessdex", "--", m.sessdex, "mcp")
		if list := m.run(t, nil, "claude", "mcp", "list"); !regexp.MustCompile(`(?m)^sessdex: .*Connected$`).MatchString(list) {
			t.Errorf("claude mcp list does not show sessdex connected:\n%s", list)
		}
		m.run(t, nil, "codex", "mcp", "add", "sessdex", "--", m.sessdex, "mcp")
		server := gjson.Get(m.run(t, nil, "codex", "mcp", "list", "--json"), `#(name=="sessdex")`)
		if !server.Get("enabled").Bool() || server.Get("transport.command").String() != m.sessdex {
			t.Errorf("codex mcp list shows %s", server)
		}
	})
	t.Run("other agents take the work up", func(t *testing.T) {
		for i, a := range agents {
			w := all[(i+1)%len(all)] // another agent's
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				takeUp(t, m, a, w)
			})
		}
	})
	t.Run("sessions go on", func(t *testing.T) {
		for _, w := range all {
			t.Run(w.by.name, func(t *testing.T) {
				t.Parallel()
				goOn(t, m, w)
			})
		}
	})
	t.Run("sessdex imports what is new", func(t *testing.T) {
		report := m.ask(t, "import", "--home", m.home)
		wantSources(t, report, sources{
			"claude-code": {files: 2, sessions: 2, new: 1, changed: 1, turns: -1},
			"codex-cli":   {files: 4, sessions: 4, new: 2, changed: 2, turns: -1},
		})
		for _, w := range all {
			card := m.ask(t, "show", w.id).Get("card")
			wantTurns(t, card, 2, 4, 2)
			if got := card.Get("opening").String(); got != w.request {
				t.Errorf("%s: the opening became %q", w.by.name, got)
			}
			// The session of the agent that looked for the work quotes all of it, and the
			// very query. It must not stand in front of the work.
			if first := m.ask(t, "search", w.query).Get("hits.0"); first.Get("id").String() != w.id {
				t.Errorf("searching %q, the first hit is now %s, %q", w.query, first.Get("harness"), first.Get("title"))
			}
		}
	})
}

type counts struct{ files, sessions, new, changed, unchanged, skipped, failed, turns int64 }

// sources are the counts of an import report by harness; -1 turns are not compared.
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
		if want[name].turns < 0 {
			c.turns = -1
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
		"request": {w.query}, "answer": {w.answer}, "thinking": {w.thought}, "output": {w.output}, "file": {"--file", name},
	} {
		hits := m.ask(t, append([]string{"search"}, args...)...).Get("hits")
		first := hits.Get("0")
		if first.Get("harness").String() != w.by.harness || !strings.Contains(first.Get("title").String(), w.request) {
			t.Errorf("searching the words of the %s, the first hit is %s", what, first)
			continue
		}
		w.id = first.Get("id").String()
	}
	if !regexp.MustCompile(`^[0-9a-hjkmnp-tv-z]{12}$`).MatchString(w.id) {
		t.Fatalf("%s: the id is %q", w.by.name, w.id)
	}
	card := m.ask(t, "show", w.id).Get("card")
	wantTurns(t, card, 1, 3, 2)
	for field, want := range map[string]string{
		"opening": w.request, "dir": m.repo, "repo": "git.example.com/burrow/marmot", "branch": "trunk",
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

// goOn continues a session with the command that sessdex names for it.
func goOn(t *testing.T, m *machine, w *work) {
	resume := m.ask(t, "resume", w.id)
	if dir := resume.Get("dir").String(); dir != m.repo {
		t.Errorf("it goes on in %q, not in %s", dir, m.repo)
	}
	var argv []string
	for _, arg := range resume.Get("argv").Array() {
		argv = append(argv, arg.String())
	}
	if len(argv) < 2 {
		t.Fatalf("sessdex names no command: %s", resume)
	}
	said := m.talk(t, w.by, talkOptions{prompt: "Thank you. Anything left?", script: Script{Say("Nothing is left.")}, resume: argv})
	if body := string(said[0].Body); !strings.Contains(body, w.request) || !strings.Contains(body, w.answer) {
		t.Error("the model was not shown the session that it goes on with")
	}
}
