package harness

import (
	"bytes"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// copilotParser reads one session of Copilot CLI. What its sub-agents said stands in
// the session's events; their words and calls stay where they are, like those of the
// agent that called them.
type copilotParser struct {
	dialog
	src   Source
	doc   document // a session of the oldest kind
	inDoc bool
	begun bool
	yaml  bool // in workspace.yaml

	events  map[string]int    // event → how many turns there were when it came
	thought map[string]bool   // reasoning that stood in events of its own
	named   map[string]string // from workspace.yaml
}

func newCopilotParser(src Source) *copilotParser {
	p := &copilotParser{src: src, events: map[string]int{}, thought: map[string]bool{}, named: map[string]string{}}
	p.dialog = newDialog(copilotName, false)
	return p
}

// Line implements [Parser].
func (p *copilotParser) Line(line []byte) {
	line = bytes.TrimRight(bytes.TrimPrefix(line, bom), " \t\r\n")
	switch {
	case len(line) == 0:
		return
	case p.inDoc:
		p.doc.add(line)
		return
	case !p.begun && (len(line) == 1 || gjson.GetBytes(line, "chatMessages").Exists()):
		p.inDoc = true
		p.doc.add(line)
		return
	}
	p.begun = true
	if head, ok := readPartHead(line); ok {
		p.yaml = head.Name == copilotWorkspace
		return
	}
	if p.yaml {
		p.workspace(string(line))
		return
	}
	p.objects(line, p.event)
}

// workspace takes a line of workspace.yaml, "key: value" for what matters here.
func (p *copilotParser) workspace(line string) {
	key, value, ok := strings.Cut(line, ":")
	if ok && !strings.HasPrefix(key, " ") {
		p.named[keep(key)] = keep(strings.Trim(strings.TrimSpace(value), `"'`))
	}
}

// copilotQuiet are events that add nothing to the conversation.
var copilotQuiet = words(`session.info session.error session.warning session.idle session.handoff session.truncation session.usage_info
	session.compaction_start session.mode_changed session.plan_changed session.import_legacy session.tools_updated
	session.workspace_file_changed session.background_tasks_changed session.skills_loaded session.custom_agents_updated
	session.mcp_servers_loaded session.mcp_server_status_changed session.extensions_loaded session.task_complete
	session.remote_steerable_changed assistant.turn_start assistant.turn_end assistant.intent assistant.usage assistant.reasoning_delta
	assistant.message_delta assistant.streaming_delta abort tool.execution_progress tool.execution_partial_result tool.user_requested
	skill.invoked subagent.started subagent.completed subagent.failed subagent.selected subagent.deselected hook.start hook.end
	system.message system.notification pending_messages.modified permission.requested permission.completed
	user_input.requested user_input.completed elicitation.requested elicitation.completed command.queued command.execute command.completed
	exit_plan_mode.requested exit_plan_mode.completed external_tool.requested external_tool.completed`)

func (p *copilotParser) event(r gjson.Result) {
	kind, id, data, at := r.Get("type").Str, r.Get("id").Str, r.Get("data"), anyTime(r.Get("timestamp"))
	p.at(at)
	if id != "" {
		p.events[keep(id)] = len(p.turns)
	}
	switch kind {
	case "session.start":
		p.meta.NativeID = keep(data.Get("sessionId").String())
		p.meta.Version = keep(data.Get("copilotVersion").String())
		p.model(data.Get("selectedModel").String())
		p.context(data.Get("context"))
	case "session.resume":
		p.context(data.Get("context"))
	case "session.context_changed":
		p.context(data)
	case "session.model_change":
		p.model(data.Get("newModel").String())
	case "session.title_changed":
		p.given = keep(data.Get("title").String())
	case "session.shutdown":
		p.model(data.Get("currentModel").String())
	case "session.compaction_complete":
		p.say(session.Summary, data.Get("summaryContent").String(), "", at, id)
	case "session.snapshot_rewind":
		p.rewind(data.Get("upToEventId").String())
	case "user.message":
		p.said(data, at, id)
	case "assistant.reasoning":
		p.thought[strings.TrimSpace(keep(data.Get("content").String()))] = true
		p.say(session.Assistant, "", data.Get("content").String(), at, id)
	case "assistant.message":
		p.answered(data, at, id)
	case "tool.execution_start":
		i := p.call(data.Get("toolCallId").String(), data.Get("toolName").String(), data.Get("arguments"), at, id)
		if p.turns[i].Tool == "" { // its result came first
			p.turns[i].Tool = keep(data.Get("toolName").String())
		}
	case "tool.execution_complete":
		p.model(data.Get("model").String())
		out := outputText(first(data, "result", "error"))
		p.answer(data.Get("toolCallId").String(), "", out, data.Get("success").Type == gjson.False, at, id)
	default:
		if !copilotQuiet[kind] {
			p.unknown(kind)
		}
	}
}

func (p *copilotParser) context(c gjson.Result) {
	p.dir(c.Get("cwd").String())
	p.branch(c.Get("branch").String())
	if p.meta.Commit == "" {
		p.meta.Commit = keep(c.Get("headCommit").String())
	}
	if repo := c.Get("repository").String(); p.meta.Repo == "" && strings.Count(repo, "/") == 1 {
		host := c.Get("repositoryHost").String()
		if host == "" || host == "github" {
			host = "github.com"
		}
		p.meta.Repo = keep(host + "/" + repo)
	}
}

// said takes a message in the person's name, which a skill, a command or the harness's
// autopilot may have sent.
func (p *copilotParser) said(data gjson.Result, at time.Time, id string) {
	if source := data.Get("source").Str; source != "" && source != "user" {
		return
	}
	text := data.Get("content").String()
	if strings.TrimSpace(text) == "" && data.Get("attachments.0").Exists() {
		text = imageOnly
	}
	if data.Get("agentMode").Str == "shell" {
		p.aside("!"+strings.TrimPrefix(text, "!"), at, id)
		return
	}
	p.person(text, at, id)
}

func (p *copilotParser) answered(data gjson.Result, at time.Time, id string) {
	p.model(data.Get("model").String())
	thinking := data.Get("reasoningText").String()
	if p.thought[strings.TrimSpace(thinking)] {
		thinking = ""
	}
	p.say(session.Assistant, data.Get("content").String(), thinking, at, id)
	data.Get("toolRequests").ForEach(func(_, r gjson.Result) bool {
		p.call(r.Get("toolCallId").String(), r.Get("name").String(), r.Get("arguments"), at, id)
		return true
	})
}

// rewind takes back the turns since an event.
func (p *copilotParser) rewind(event string) {
	from, known := p.events[event]
	for i := from; known && i < len(p.turns); i++ {
		p.turns[i].Undone = true
	}
}

// Finish implements [Parser].
func (p *copilotParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.inDoc {
		p.legacy()
	}
	if p.given == "" {
		p.given = p.named["name"]
	}
	if p.given == "" {
		p.given = p.named["summary"]
	}
	if p.meta.NativeID == "" {
		p.meta.NativeID = copilotFileID(p.src.Path)
	}
	p.dir(p.named["cwd"])
	p.inherit(p.src)
	return p.finish()
}

// copilotFileID is the session that a file's name or folder is named by.
func copilotFileID(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	if base := path.Base(file); base != copilotEvents {
		return strings.TrimSuffix(base, path.Ext(base))
	}
	return path.Base(path.Dir(file))
}

// legacy reads a document of the oldest kind, whose messages are those of chat
// completions, without times.
func (p *copilotParser) legacy() {
	doc, whole := p.doc.value()
	if !whole {
		p.meta.BadLines++
	}
	p.meta.NativeID = keep(doc.Get("sessionId").String())
	p.at(anyTime(doc.Get("startTime")))
	p.model(doc.Get("selectedModel").String())
	eachMember(doc.Get("chatMessages"), func(m gjson.Result) {
		p.row(m, time.Time{}, "", func(text string) {
			// The harness puts the time and reminders before and behind the words.
			for _, name := range []string{"current_datetime", "reminder", "custom_instruction"} {
				text = withoutElement(text, name)
			}
			p.person(text, time.Time{}, "")
		})
	})
}
