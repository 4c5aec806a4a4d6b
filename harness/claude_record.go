package harness

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// claudeRecord is the envelope of one record and what the parser wants of it. Its
// strings point into the line: keep what outlives it.
type claudeRecord struct {
	kind, subtype            string
	uuid, parent, logical    string
	session, request         string
	branched, asked          string // sessions that said it first: see copied
	agent, attributed        string
	promptSource, feedback   string
	time                     time.Time
	sidechain, meta, compact bool
	transcriptOnly           bool
	origin                   gjson.Result
	message                  gjson.Result
	attachment               gjson.Result
	content                  gjson.Result // of system records and the prompt queue
	result                   gjson.Result // toolUseResult

	raw gjson.Result
}

// read walks over the record once. Members that nobody asks for (images, original
// files, request bodies) are passed over without being decoded.
func (r *claudeRecord) read(v gjson.Result, p *claudeParser) {
	r.raw = v
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type":
			r.kind = v.Str
		case "subtype":
			r.subtype = v.Str
		case "uuid":
			r.uuid = v.Str
		case "parentUuid":
			r.parent = v.Str
		case "logicalParentUuid":
			r.logical = v.Str
		case "sessionId":
			r.session = v.Str
		case "requestId":
			r.request = v.Str
		case "agentId":
			r.agent = v.Str
		case "attributionAgent":
			r.attributed = v.Str
		case "promptSource":
			r.promptSource = v.Str
		case "userFeedback":
			r.feedback = v.Str
		case "timestamp":
			r.time = isoTime(v.Str)
		case "isSidechain":
			r.sidechain = v.Type == gjson.True
		case "isMeta":
			r.meta = v.Type == gjson.True
		case "isCompactSummary":
			r.compact = v.Type == gjson.True
		case "isVisibleInTranscriptOnly":
			r.transcriptOnly = v.Type == gjson.True
		case "origin":
			r.origin = v
		case "message":
			r.message = v
		case "attachment":
			r.attachment = v
		case "content":
			r.content = v
		case "toolUseResult":
			r.result = v
		case "forkedFrom": // written by /branch
			r.branched = v.Get("sessionId").Str
		case "requestSessionId": // of a model's message in a fork, since 2.1.3xx: the session that asked for it
			r.asked = v.Str
		case "cwd":
			if v.Str != p.lastDir && v.Str != "" {
				p.lastDir = keep(v.Str)
				p.dir(p.lastDir)
			}
		case "gitBranch":
			if v.Str != p.meta.Branch && v.Str != "" {
				p.branch(v.Str)
			}
		case "version":
			if v.Str != p.meta.Version && v.Str != "" { // appended to: the last is the newest
				p.meta.Version = keep(v.Str)
			}
		case "loglines": // the export of Claude Code for the web
			v.ForEach(func(_, line gjson.Result) bool { p.record(line); return true })
		}
		return true
	})
}

// record takes one record.
func (p *claudeParser) record(v gjson.Result) {
	var r claudeRecord
	r.read(v, p)
	switch r.kind {
	case "user", "assistant", "system", "progress", "attachment":
	case "":
		if !v.Get("loglines").Exists() {
			p.unknown("untyped")
		}
		return
	default:
		p.metaRecord(&r)
		return
	}
	if !p.node(&r) {
		return // written twice
	}
	p.at(r.time)
	p.copied(&r)
	if r.agent != "" && p.agentID == "" {
		p.agentID = keep(r.agent)
	}
	switch r.kind {
	case "user":
		p.user(&r)
	case "assistant":
		p.assistant(&r)
	case "system":
		p.system(&r)
	case "attachment":
		p.attached(&r)
	}
}

// metaRecord takes a record about the session as a whole.
func (p *claudeParser) metaRecord(r *claudeRecord) {
	text := func(key string) string {
		if v := r.raw.Get(key); v.Type == gjson.String {
			return keep(strings.TrimSpace(v.Str))
		}
		return ""
	}
	switch r.kind {
	case "custom-title":
		p.custom = text("customTitle") // an empty one takes the title back
	case "ai-title":
		if t := text("aiTitle"); t != "" {
			p.given = t
		}
	case "summary":
		p.summaries = append(p.summaries, claudeSummary{claudeHash(r.raw.Get("leafUuid").Str), text("summary")})
	case "tag":
		if t := text("tag"); t != "" {
			p.meta.Tags = appendNew(p.meta.Tags, t)
		} else {
			p.meta.Tags = nil // taken off again
		}
	case "pr-link":
		if link := text("prUrl"); link != "" {
			p.claudePR(link, text("prRepository"))
		}
	case "queue-operation":
		p.queue(r)
	case "fork-context-ref":
		p.forkParent = text("parentSessionId")
	case "api-request":
		if kind, ok := strings.CutPrefix(text("querySource"), "agent:"); ok && p.agentKind == "" {
			p.agentKind = kind[strings.LastIndexByte(kind, ':')+1:]
		}
	default:
		if claudeMetaTypes[r.kind] == "" && !claudeQuiet[r.kind] {
			p.unknown(r.kind)
		}
	}
	if len(p.sessions) == 0 && r.session != "" && p.meta.NativeID == "" {
		p.meta.NativeID = keep(r.session) // until a message says better
	}
}

// claudeQuiet are record types known to hold nothing of the conversation, besides
// those of claudeMetaTypes.
var claudeQuiet = words(`frame-link bridge-session worktree-state content-replacement agent-color agent-setting`)

// claudeSystem are the subtypes of system records that are known.
var claudeSystem = words(`compact_boundary microcompact_boundary stop_hook_summary turn_duration api_error
	local_command away_summary bridge_status informational`)

// system takes a record of the harness's own. Only slash commands among them are
// a person's.
func (p *claudeParser) system(r *claudeRecord) {
	switch {
	case r.subtype == "local_command" && r.content.Type == gjson.String && !r.sidechain:
		p.said(r, claudeSpoken(r.content.Str))
	case r.subtype != "" && !claudeSystem[r.subtype]:
		p.unknown("system/" + r.subtype)
	}
}

// claudeAttachments are the kinds of context that Claude Code injects, as known.
var claudeAttachments = words(`total_tokens_reminder hook_success hook_additional_context hook_system_message
	hook_cancelled hook_blocking_error hook_non_blocking_error hook_error_during_execution hook_stopped_continuation
	task_reminder todo_reminder skill_listing deferred_tools_delta deferred_tools_record mcp_instructions_delta agent_listing_delta
	edited_text_file file nested_memory compact_file_reference plan_file_reference plan_mode plan_mode_exit
	plan_mode_reentry auto_mode auto_mode_exit date_change command_permissions companion_intro read_truncation_notice
	environment model session_context date remote_session_change prompt_snapshot directory invoked_skills
	dynamic_skill task_status diagnostics mcp_resource agent_mention async_hook_response critical_system_reminder
	output_style ultrathink_effort already_read_file opened_file_in_ide selected_lines_in_ide`)

// attached takes an attachment: context for the model, except for what a person
// typed while the model was busy.
func (p *claudeParser) attached(r *claudeRecord) {
	kind := r.attachment.Get("type").String()
	if kind != "queued_command" {
		if !claudeAttachments[kind] {
			p.unknown("attachment/" + kind)
		}
		return
	}
	if r.sidechain || r.meta || r.attachment.Get("isMeta").Bool() {
		return
	}
	if !claudeHuman(r.attachment.Get("origin"), "") || !claudeHuman(r.origin, r.promptSource) {
		return
	}
	said := claudeQueued(claudeText(r.attachment.Get("prompt")))
	before := len(p.turns)
	p.said(r, said)
	if len(p.turns) > before {
		p.wait(int32(len(p.turns) - 1))
	}
}

// queue takes an operation on the prompt queue: what a person typed while the model
// was busy. The text usually comes again as a record, and then this turn goes away.
// Before 2.1.90 a text handed to the model in the middle of its work was written
// nowhere else.
func (p *claudeParser) queue(r *claudeRecord) {
	switch r.raw.Get("operation").Str {
	case "enqueue":
		if r.content.Type != gjson.String {
			return
		}
		said := claudeQueued(r.content.Str)
		if said.kind == claudeWords || said.kind == claudeCommand {
			i := int32(p.add(session.Turn{Role: session.User, Time: r.time, Text: keep(said.text)}))
			p.owner = append(p.owner, -1) // the queue is no part of the tree
			p.wait(i)
		}
	case "popAll": // back into the input line, to be edited
		p.arrived(r.content.String(), r.time)
	}
}

// maxWaiting is how many queued prompts are compared with those that come.
const maxWaiting = 64

func (p *claudeParser) wait(i int32) {
	if len(p.waiting) == maxWaiting {
		p.waiting = slices.Delete(p.waiting, 0, 1)
	}
	p.waiting = append(p.waiting, i)
}

// arrived drops the queued turns that a user record with this text repeats; several
// are joined into one record by newlines. Later words that match none end the wait;
// earlier ones are the history that a fork begins with.
func (p *claudeParser) arrived(text string, at time.Time) {
	if len(p.waiting) == 0 {
		return
	}
	lines := "\n" + text + "\n"
	before := len(p.waiting)
	p.waiting = slices.DeleteFunc(p.waiting, func(i int32) bool {
		if !strings.Contains(lines, "\n"+p.turns[i].Text+"\n") {
			return false
		}
		p.dropped[i] = true
		return true
	})
	if len(p.waiting) == before {
		p.waiting = slices.DeleteFunc(p.waiting, func(i int32) bool { return at.After(p.turns[i].Time) })
	}
}
