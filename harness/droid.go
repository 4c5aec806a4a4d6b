package harness

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// Droid is Factory's coding agent. A session is one file,
// ~/.factory/sessions/<slug>/<id>.jsonl: a "session_start" record, then messages with
// Anthropic's content blocks, the state of its to-do list, and summaries. Sub-agents
// have files of their own that name who called them. No schema is published; what is
// known comes from sessions and from programs that read them.
var Droid = &Harness{
	Name: droidName,
	Roots: func(env Env) []string {
		return []string{filepath.Join(env.Home, ".factory", "sessions")}
	},
	Claims: func(rel string) bool { // the newest lie in a folder for each working folder
		return strings.Count(rel, "/") <= 1 && path.Ext(rel) == ".jsonl" && !strings.HasPrefix(path.Base(rel), ".")
	},
	Detect: droidDetect,
	New:    func(src Source) Parser { return newDroidParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"droid", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"droid", noOption(prompt)}, Dir: dir}
	},
}

const droidName = "droid"

// droidDetect knows the first record together with a message: other programs begin
// their logs with a "session_start", too.
func droidDetect(h Head) bool {
	started := false
	for _, r := range h.Records {
		switch r.Get("type").Str {
		case "session_start":
			started = started || droidID(r) != "" && (r.Get("cwd").Exists() || r.Get("title").Exists() || r.Get("session").IsObject())
		case "message":
			if role := droidMessage(r).Get("role").Str; started && (role == "user" || role == "assistant") {
				return true
			}
		case "todo_state", "compaction_state":
			if started {
				return true
			}
		}
	}
	return started && len(h.Records) == 1 && !h.Whole // a message longer than the head
}

func droidID(start gjson.Result) string {
	return first(start, "id", "sessionId", "session.id").String()
}

// droidMessage is a record's message, which some versions write without an envelope.
func droidMessage(r gjson.Result) gjson.Result {
	if m := r.Get("message"); m.IsObject() {
		return m
	}
	return r
}

type droidParser struct {
	dialog
	src   Source
	title string // see named
}

func newDroidParser(src Source) *droidParser {
	p := &droidParser{src: src}
	p.dialog = newDialog(droidName, false)
	return p
}

// Line implements [Parser].
func (p *droidParser) Line(line []byte) { p.objects(line, p.record) }

func (p *droidParser) record(r gjson.Result) {
	at := anyTime(r.Get("timestamp"))
	p.at(at)
	switch kind := r.Get("type").Str; kind {
	case "session_start":
		p.start(r)
	case "message":
		p.droidMessage(r, at)
	case "compaction_state":
		summary := first(r, "summaryText", "summary.body", "summary")
		if summary.Type == gjson.String {
			p.say(session.Summary, summary.Str, "", at, r.Get("id").String())
		}
	case "todo_state", "agent_turn_outcome", "session_end":
	default:
		p.unknown(kind)
	}
}

func (p *droidParser) start(r gjson.Result) {
	m := &p.meta
	m.NativeID = keep(droidID(r))
	p.dir(r.Get("cwd").String())
	p.given, p.title = keep(r.Get("sessionTitle").String()), keep(r.Get("title").String())
	if from := r.Get("callingSessionId").String(); from != "" {
		m.Parent, m.Subagent = keep(from), true
	}
}

func (p *droidParser) droidMessage(r gjson.Result, at time.Time) {
	m, id := droidMessage(r), r.Get("id").String()
	if m.Get("visibility").Str == "llm_only" || r.Get("visibility").Str == "llm_only" {
		return // context that the harness adds
	}
	p.model(first(m, "model", "modelId").String())
	c := readContent(m.Get("content"))
	switch m.Get("role").Str {
	case "assistant":
		p.message(session.Assistant, c, at, id, nil)
	case "user":
		p.message(session.User, withoutWrappers(c), at, id, func(text string) { p.person(text, at, id) })
	}
}

// withoutWrappers leaves out the texts in a person's name that are the harness's own
// as a whole: each stands in a block beside the person's.
func withoutWrappers(c content) content {
	var kept []string
	for _, text := range c.texts {
		if claudeSpoken(text).kind != claudeInjected {
			kept = append(kept, text)
		}
	}
	c.texts = kept
	return c
}

// named takes the title that most sessions have for one where it says more than the
// beginning of the first prompt, which it is at first.
func (p *droidParser) named() {
	title := strings.TrimRight(session.OneLine(p.title, 60), ".…")
	for _, t := range p.turns {
		if t.Role == session.User && strings.HasPrefix(session.OneLine(t.Text, 200), title) {
			return
		}
	}
	if title != "New Session" && !strings.HasPrefix(title, "#") { // a sub-agent's
		p.given = p.title
	}
}

// Finish implements [Parser].
func (p *droidParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.meta.NativeID == "" {
		p.meta.NativeID = strings.TrimSuffix(baseName(p.src.Path), ".jsonl")
	}
	if p.given == "" {
		p.named()
	}
	p.inherit(p.src)
	return p.finish()
}
