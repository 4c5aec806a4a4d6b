package harness

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// codexSilent are events that say nothing about turns, or nothing that the items do
// not say better.
var codexSilent = map[string]bool{
	"token_count": true, "task_complete": true, "turn_complete": true, "context_compacted": true,
	"thread_settings_applied": true, "thread_goal_updated": true, "exited_review_mode": true,
	"guardian_assessment": true, "sub_agent_activity": true, "error": true, "warning": true, "stream_error": true,
	"view_image_tool_call": true, "image_generation_end": true, "background_event": true, "plan_update": true,
	"turn_diff": true, "session_configured": true, "deprecation_notice": true, "model_reroute": true,
	"dynamic_tool_call_request": true, "dynamic_tool_call_response": true, "undo_completed": true, "undo_started": true,
	"agent_reasoning_section_break": true, "exec_approval_request": true, "apply_patch_approval_request": true,
	"item_started": true, "hook_started": true, "hook_completed": true, "request_user_input": true, "thread_rollback_failed": true,
}

// event takes one event.
func (p *codexParser) event(rec codexRecord) {
	r, t := rec.payload, rec.time
	switch kind := r.Get("type").Str; kind {
	case "user_message":
		if k := r.Get("kind").Str; k == "environment_context" || k == "user_instructions" {
			return
		}
		text := r.Get("message").String()
		if codexIsInjected(text) {
			return
		}
		p.typed(codexEvent, "", text, len(r.Get("images").Array())+len(r.Get("local_images").Array()), true, t)
	case "agent_message":
		p.says(codexEvent, "", r.Get("message").String(), t)
	case "agent_reasoning", "agent_reasoning_raw_content":
		p.reasoning(codexEvent, r.Get("text"))
	case "task_started", "turn_started":
		p.fork.turn(r.Get("turn_id").Str, true, p.b.turns)
	case "turn_aborted":
		p.abort()
	case "thread_rolled_back":
		p.leftover(t)
		p.undo = append(p.undo, codexUndo{len(p.b.turns), int(r.Get("num_turns").Int())})
	case "thread_name_updated":
		// A person renamed the session, or a client made a name up: nothing tells.
		p.b.given = keep(r.Get("thread_name").String())
	case "entered_review_mode":
		p.review(r, rec)
	case "patch_apply_end":
		p.changed(r.Get("call_id").Str, r, r.Get("success").Bool(), rec)
	case "exec_command_end":
		p.executed(r.Get("call_id").Str, r, rec)
	case "mcp_tool_call_end":
		p.mcpEnd(r, rec)
	case "web_search_end":
		p.webSearch(codexEvent, r.Get("action"), r.Get("query").Str, "completed", t)
	case "item_completed":
		if id := r.Get("thread_id").Str; id != "" && id != p.own && p.own != "" && !p.kin[id] {
			return // shown here, but said in a session of its own
		}
		p.finished(r.Get("item"), rec)
	default:
		if !codexSilent[kind] && !strings.HasPrefix(kind, "collab_") && !strings.HasPrefix(kind, "realtime_") && !strings.HasPrefix(kind, "mcp_startup_") {
			p.b.unknown("event_msg/" + kind)
		}
	}
}

// review takes "/review": its own session holds the conversation, this one that the
// person asked for it.
func (p *codexParser) review(r gjson.Result, rec codexRecord) {
	hint := cmp.Or(r.Get("user_facing_hint").String(), r.Get("target.instructions").String())
	p.add(session.Turn{Role: session.User, Time: rec.time, Text: strings.TrimSpace("/review " + keep(hint))},
		codexMark{sure: true, aside: true})
}

// finished takes an item of a paginated rollout. Most of them stand there as a
// response item too, under the same id.
func (p *codexParser) finished(item gjson.Result, rec codexRecord) {
	id, t := item.Get("id").Str, rec.time
	switch kind := item.Get("type").Str; kind {
	case "UserMessage":
		texts, images := textParts(item.Get("content"))
		if text := strings.Join(texts, ""); !codexIsInjected(text) {
			p.typed(codexEvent, id, text, images, true, t)
		}
	case "AgentMessage":
		texts, _ := textParts(item.Get("content"))
		p.says(codexEvent, id, strings.Join(texts, ""), t)
	case "Reasoning":
		p.reasoning(codexEvent, item.Get("summary_text"), item.Get("raw_content"))
	case "CommandExecution":
		p.executed(id, item, rec)
	case "FileChange":
		p.changed(id, item, item.Get("status").Str == "completed", rec)
	case "McpToolCall":
		p.mcpItem(id, item, rec)
	case "DynamicToolCall":
		texts, _ := textParts(item.Get("content_items"))
		p.toolItem(id, cmp.Or(item.Get("namespace").Str, "dynamic")+"."+item.Get("tool").Str, item.Get("arguments"),
			strings.Join(texts, "\n"), item.Get("status").Str == "failed" || item.Get("success").Type == gjson.False, rec)
	case "CollabAgentToolCall":
		p.toolItem(id, item.Get("tool").Str, item.Get("prompt"), "", item.Get("status").Str == "failed", rec)
	case "WebSearch":
		p.webSearch(codexEvent, item.Get("action"), item.Get("query").Str, "completed", t)
	case "ImageView":
		if i, ok := p.calls[id]; ok {
			p.b.turns[i].Reads = appendNew(p.b.turns[i].Reads, keep(localPath(item.Get("path").Str)))
		}
	case "EnteredReviewMode":
		p.review(item, rec)
	case "Plan":
		p.plan(id, item.Get("text").String(), rec)
	case "HookPrompt", "SubAgentActivity", "Sleep", "ImageGeneration", "ContextCompaction", "ExitedReviewMode":
	default:
		p.b.unknown("item_completed/" + kind)
	}
}

// plan takes a proposed plan. The model's message holds it too, between tags, just
// before or just after; where no message does, it is one.
func (p *codexParser) plan(id, text string, rec codexRecord) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	for i := len(p.b.turns) - 1; i >= 0 && p.b.turns[i].Role != session.User; i-- {
		if strings.Contains(p.b.turns[i].Text, text) {
			return
		}
	}
	p.says(codexEvent, id, text, rec.time)
}

// abort ends the calls that still wait for an output.
func (p *codexParser) abort() {
	for _, i := range p.open {
		if m := &p.marks[i]; !m.done {
			m.done, m.refused = true, true
			p.b.turns[i].Failed = true
		}
	}
	p.open = p.open[:0]
}
