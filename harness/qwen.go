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

// QwenCode is Alibaba's Qwen Code, which began as a fork of Gemini CLI and keeps its
// messages ("parts") in Claude Code's envelope. A session is
// ~/.qwen/projects/<slug>/chats/<id>.jsonl, in older versions below ~/.qwen/tmp/<hash>;
// records form a tree, of which a rewind leaves a branch. The rules follow
// packages/core/src/services/chatRecordingService.ts of github.com/QwenLM/qwen-code.
var QwenCode = &Harness{
	Name:   qwenName,
	Roots:  qwenRoots,
	Claims: qwenClaims,
	Detect: qwenDetect,
	New:    func(src Source) Parser { return newQwenParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"qwen", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"qwen", "--prompt-interactive=" + escapeMentions(prompt)}, Dir: dir}
	},
}

const qwenName = "qwen-code"

func qwenRoots(env Env) []string {
	home := filepath.Join(env.Home, ".qwen")
	for _, name := range []string{"QWEN_HOME", "QWEN_RUNTIME_DIR"} { // the second wins
		if set := envList(env, name, ""); len(set) > 0 {
			home = set[0]
		}
	}
	return []string{filepath.Join(home, "projects"), filepath.Join(home, "tmp")}
}

// qwenClaims takes <project>/chats/<id>.jsonl, and the sub-agents in
// <project>/subagents/<session>/<agent>.jsonl.
func qwenClaims(rel string) bool {
	parts := strings.Split(rel, "/")
	if path.Ext(rel) != ".jsonl" || strings.HasPrefix(path.Base(rel), ".") {
		return false
	}
	return len(parts) == 3 && parts[1] == "chats" || len(parts) == 4 && parts[1] == "subagents"
}

func qwenDetect(h Head) bool {
	for _, r := range h.Records {
		if qwenEnvelope(r) && (r.Get("message.parts").IsArray() || qwenSystem[r.Get("subtype").Str] && r.Get("systemPayload").Exists()) {
			return true
		}
	}
	return len(h.Records) == 0 && !h.Whole && qwenEnvelope(h.Doc) && h.Doc.Get("message.parts").Exists()
}

func qwenEnvelope(r gjson.Result) bool {
	return r.Get("sessionId").Type == gjson.String && r.Get("uuid").Exists() && (r.Get("parentUuid").Exists() || r.Get("isSidechain").Exists())
}

// qwenSystem are the subtypes of system records that are known.
var qwenSystem = words(`chat_compression slash_command ui_telemetry at_command attribution_snapshot background_task_completed custom_title
	parent_session session_source session_notes session_execution_engine session_model session_approval_mode omni_recall rewind
	agent_bootstrap agent_launch_prompt agent_retry agent_session_ready file_history_snapshot user_text_elements session_artifact_event
	session_artifact_snapshot session_sources_snapshot branch_checkpoint goal_state goal_turn_end turn_result
	managed_session_header_v1 managed_session_event_v1 managed_session_commit_v1`)

// qwenParser reads one Qwen Code transcript.
type qwenParser struct {
	dialog
	src   Source
	tree  recordTree
	main  bool   // a record outside every sub-agent was seen
	side  bool   // one of a sub-agent was
	agent string // its id
}

func newQwenParser(src Source) *qwenParser {
	p := &qwenParser{src: src}
	p.dialog = newDialog(qwenName, false)
	return p
}

// Line implements [Parser].
func (p *qwenParser) Line(line []byte) { p.objects(line, p.record) }

func (p *qwenParser) record(r gjson.Result) {
	id, at := r.Get("uuid").String(), anyTime(r.Get("timestamp"))
	p.at(at)
	m := &p.meta
	if s := r.Get("sessionId").String(); s != "" && m.NativeID != s {
		m.NativeID = keep(s)
	}
	p.dir(r.Get("cwd").String())
	p.branch(r.Get("gitBranch").String())
	if v := r.Get("version").String(); v != "" && v != m.Version && v != "unknown" {
		m.Version = keep(v)
	}
	if r.Get("isSidechain").Bool() {
		p.side = true
		p.agent = keep(first(r, "agentId", "agentName").String())
		m.Agent = keep(first(r, "agentName", "agentId").String())
	} else {
		p.main = true
	}
	parent := r.Get("parentUuid")
	p.tree.enter(id, parent.String(), parent.Exists() && parent.Type == gjson.Null)
	p.take(r, at, id)
	p.tree.own(len(p.turns))
	if from := r.Get("forkedFrom.sessionId").String(); from != "" {
		m.ForkedFrom, p.inherited = keep(from), len(p.turns)
	}
}

func (p *qwenParser) take(r gjson.Result, at time.Time, id string) {
	kind, subtype := r.Get("type").Str, r.Get("subtype").Str
	switch {
	case kind == "system":
		p.system(r, subtype, at, id)
		return
	case kind == "user" && subtype != "" && subtype != "mid_turn_user_message" && subtype != "realtime_message":
		return // a notification, a scheduled prompt, a goal's control: nobody typed it
	case kind != "user" && kind != "assistant" && kind != "tool_result":
		p.unknown(kind)
		return
	}
	c := readContent(r.Get("message.parts"))
	role := session.User
	if kind == "assistant" {
		role = session.Assistant
		p.model(r.Get("model").String())
	}
	if status := r.Get("toolCallResult.status").Str; status == "error" || status == "cancelled" {
		for i := range c.results {
			c.results[i].failed = true
		}
	}
	for i := range c.results {
		p.failedRun(&c.results[i])
	}
	if kind == "tool_result" {
		c.texts = nil
	}
	if shown := r.Get("systemPayload.displayText").String(); shown != "" && role == session.User {
		c.texts = []string{shown}
	}
	p.message(role, c, at, id, func(string) { p.said(c.texts, at, id) })
}

// failedRun marks the result of a command that says so itself.
func (p *qwenParser) failedRun(r *contentResult) {
	i, known := p.calls[r.id]
	if known && geminiRuns[p.turns[i].Tool] && geminiExit(r.output) {
		r.failed = true
	}
}

// said takes a person's words, of which Gemini's wrappers are taken off.
func (p *qwenParser) said(texts []string, at time.Time, id string) {
	if p.side && !p.main && len(p.turns) > 0 {
		return // the harness goes on with a sub-agent
	}
	if summary := geminiSummary(strings.Join(texts, "")); summary != "" {
		p.say(session.Summary, summary, "", at, id)
		return
	}
	said := geminiTyped(texts)
	before := len(p.turns)
	if geminiIsCommand(said.text) {
		p.aside(said.text, at, id)
	} else {
		p.person(said.text, at, id)
	}
	if len(p.turns) > before {
		p.turns[before].Reads = said.reads
	}
}

func (p *qwenParser) system(r gjson.Result, subtype string, at time.Time, id string) {
	payload := r.Get("systemPayload")
	switch subtype {
	case "custom_title":
		title := keep(payload.Get("customTitle").String())
		if payload.Get("titleSource").Str == "auto" {
			p.given = title
		} else {
			p.custom = title
		}
	case "parent_session":
		p.meta.Parent = keep(payload.Get("parentSessionId").String())
	case "slash_command":
		cmd := payload.Get("rawCommand").String()
		if payload.Get("phase").Str == "invocation" && strings.Contains(cmd, " ") && !payload.Get("sentToModel").Bool() {
			p.aside(cmd, at, id) // a bare /clear or /model says nothing
		}
	case "chat_compression":
		p.compressed(payload.Get("compressedHistory"), at, id)
	default:
		if !qwenSystem[subtype] {
			p.unknown("system/" + subtype)
		}
	}
}

// compressed takes the summary in the history that the model goes on with: its first
// message that the harness did not write.
func (p *qwenParser) compressed(history gjson.Result, at time.Time, id string) {
	for _, m := range history.Array() {
		texts := readContent(m.Get("parts")).texts
		joined := strings.Join(texts, "")
		if summary := geminiSummary(joined); summary != "" {
			p.say(session.Summary, summary, "", at, id)
			return
		}
		if said := geminiTyped(texts); m.Get("role").Str == "user" && said.text != "" {
			p.say(session.Summary, said.text, "", at, id)
			return
		}
	}
}

// Finish implements [Parser].
func (p *qwenParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	m := &p.meta
	for _, i := range p.tree.left() {
		p.turns[i].Undone = true
	}
	if m.Subagent = p.side && !p.main; m.Subagent {
		m.Parent, m.ForkedFrom = m.NativeID, ""
		if p.agent != "" {
			m.NativeID += "-" + p.agent // its own id is only unique in the session
		}
	}
	if m.NativeID == "" {
		base := baseName(p.src.Path)
		m.NativeID = strings.TrimSuffix(base, path.Ext(base))
	}
	p.inherit(p.src)
	return p.finish()
}
