package harness

import (
	"iter"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// Pi is Mario Zechner's coding agent. A session is one file,
// ~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl: a header and entries that form a
// tree (version 1 has no ids), of which the path to the last one is the conversation.
// Forks copy that path into a file of their own. oh-my-pi and OpenClaw write the same.
// The rules follow packages/coding-agent/src/core/session-manager.ts of
// github.com/badlogic/pi-mono.
var Pi = &Harness{
	Name:   piName,
	Roots:  piRoots,
	Claims: piClaims,
	Detect: piDetect,
	New:    func(src Source) Parser { return newPiParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"pi", "--session", m.NativeID}, Dir: m.Dir}
	},
	Start: func(dir, prompt string) Command {
		if strings.HasPrefix(prompt, "@") { // it would be read as a file
			prompt = " " + prompt
		}
		return Command{Argv: []string{"pi", noOption(prompt)}, Dir: dir}
	},
}

const piName = "pi"

func piRoots(env Env) []string {
	agent := envDir(env, "PI_CODING_AGENT_DIR", ".pi", "agent")
	return []string{filepath.Join(agent, "sessions")}
}

func piClaims(rel string) bool {
	return strings.Count(rel, "/") <= 1 && path.Ext(rel) == ".jsonl" && !strings.HasPrefix(path.Base(rel), ".")
}

// piDetect knows the header, or where that is lost an entry by its message.
func piDetect(h Head) bool {
	for _, r := range h.Records {
		switch r.Get("type").Str {
		case "session":
			if r.Get("id").Type == gjson.String && r.Get("cwd").Type == gjson.String && r.Get("timestamp").Type == gjson.String {
				return true
			}
		case "message":
			if r.Get("parentId").Exists() && r.Get("message.timestamp").Type == gjson.Number && piRoles[r.Get("message.role").Str] {
				return true
			}
		}
	}
	return false
}

var piRoles = words("user assistant toolResult bashExecution custom hookMessage branchSummary compactionSummary")

// piParser reads one session of Pi.
type piParser struct {
	dialog
	src    Source
	tree   recordTree
	forked time.Time // when the session was made from another one's entries
}

func newPiParser(src Source) *piParser {
	p := &piParser{src: src}
	p.dialog = newDialog(piName, false)
	return p
}

// Line implements [Parser].
func (p *piParser) Line(line []byte) { p.objects(line, p.entry) }

// piQuiet are entries that hold nothing of the conversation: settings, bookmarks, and
// what extensions keep or tell the model.
var piQuiet = words("thinking_level_change label custom custom_message mode_change ttsr_injection session_init title_change service_tier_change")

func (p *piParser) entry(r gjson.Result) {
	kind, id, at := r.Get("type").Str, r.Get("id").String(), anyTime(r.Get("timestamp"))
	if kind == "session" {
		p.header(r, at)
		return
	}
	p.at(at)
	parent := r.Get("parentId")
	p.tree.enter(id, parent.String(), parent.Exists() && parent.Type == gjson.Null)
	switch kind {
	case "message":
		p.piMessage(r.Get("message"), at, id)
	case "compaction", "branch_summary":
		p.say(session.Summary, r.Get("summary").String(), "", at, id)
	case "model_change":
		p.model(first(r, "modelId", "model").String())
	case "session_info":
		p.custom = keep(r.Get("name").String())
	default:
		if !piQuiet[kind] {
			p.unknown(kind)
		}
	}
	p.tree.own(len(p.turns))
	if at.Before(p.forked) && !at.IsZero() {
		p.inherited = len(p.turns)
	}
}

func (p *piParser) header(r gjson.Result, at time.Time) {
	p.at(at)
	p.meta.NativeID = keep(r.Get("id").String())
	p.dir(r.Get("cwd").String())
	if title := r.Get("title").String(); title != "" {
		p.given = keep(title)
	}
	if from := first(r, "parentSession", "branchedFrom").String(); from != "" {
		p.meta.ForkedFrom, p.forked = keep(piFileID(from)), at
	}
}

// piFileID is the id in the name of a session's file, "<time>_<id>.jsonl", or what
// stands for a name where a session is named by its id.
func piFileID(file string) string {
	base := strings.TrimSuffix(baseName(file), ".jsonl")
	if _, id, ok := strings.Cut(base, "_"); ok {
		return id
	}
	return base
}

func (p *piParser) piMessage(m gjson.Result, at time.Time, id string) {
	if t := anyTime(m.Get("timestamp")); !t.IsZero() {
		at = t
	}
	switch role := m.Get("role").Str; role {
	case "user":
		p.message(session.User, readContent(m.Get("content")), at, id, func(text string) { p.said(text, at, id) })
	case "assistant":
		p.model(m.Get("model").String())
		p.message(session.Assistant, readContent(m.Get("content")), at, id, nil)
	case "toolResult":
		p.answer(m.Get("toolCallId").String(), m.Get("toolName").String(), outputText(m.Get("content")), m.Get("isError").Bool(), at, id)
	case "bashExecution":
		p.shell(m, at, id)
	case "branchSummary", "compactionSummary":
		p.say(session.Summary, m.Get("summary").String(), "", at, id)
	case "custom", "hookMessage": // an extension said it
	default:
		p.unknown("message/" + role)
	}
}

// said takes a person's words. A skill's command is written out as the skill.
func (p *piParser) said(text string, at time.Time, id string) {
	if rest, ok := strings.CutPrefix(strings.TrimSpace(text), `<skill name="`); ok {
		name, rest, _ := strings.Cut(rest, `"`)
		_, args, _ := strings.Cut(rest, "</skill>")
		p.aside(strings.TrimSpace("/skill:"+name+" "+strings.TrimSpace(args)), at, id)
		return
	}
	p.person(text, at, id)
}

// shell takes a command that the person ran themself, "!cmd", and what it printed.
func (p *piParser) shell(m gjson.Result, at time.Time, id string) {
	cmd := m.Get("command").String()
	p.aside("!"+cmd, at, id)
	out := m.Get("output").String()
	code := m.Get("exitCode").Int()
	if code != 0 && out == "" {
		out = "exit code " + strconv.FormatInt(code, 10)
	}
	p.settle(p.call("", "bash", inputOf("command", cmd), at, id), out, code != 0 || m.Get("cancelled").Bool())
}

// Finish implements [Parser].
func (p *piParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	for _, i := range p.tree.left() {
		p.turns[i].Undone = true
	}
	if p.meta.NativeID == "" {
		p.meta.NativeID = piFileID(p.src.Path)
	}
	p.inherit(p.src)
	return p.finish()
}
