package harness

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// grokLog is what the parser remembers while it reads updates.jsonl.
type grokLog struct {
	saying grokSaying
	tasks  map[string]*grokCall // background commands, by task id

	prompts []grokPrompt // of the branch that the log is on
	marked  bool         // a promptIndex was seen: prompts without one are none
	busy    bool         // the model has a prompt to answer
	shell   map[int]bool // places of turns that are a person's own commands
	nudge   string       // the prompt that a compaction gave in the person's name
}

// A grokPrompt is where a prompt begins among the turns.
type grokPrompt struct{ index, turn int }

// A grokSaying is a message or a thought that is still being streamed.
type grokSaying struct {
	kind   string // the sessionUpdate, "" for nothing
	prompt string // user: the index; else the promptId
	time   time.Time
	ref    string
	text   strings.Builder
	images int
	person bool
}

// grokQuiet are the updates that say nothing which was not said elsewhere: the
// state of the screen, of hooks, plans, tasks and usage.
var grokQuiet = words(`plan available_commands_update current_mode_update config_option_update usage_update
	auto_compact_started auto_compact_failed auto_compact_cancelled auto_nudgecompleted
	auto_recovery_started auto_recovery_exhausted retry_state relay_sync_status feedback_request diff_review
	memory_flush_started memory_flush_completed memory_dream_completed memory_session_saved memory_files
	hook_annotation hook_execution hooks_changed plugins_changed plugin_updates_installed
	session_recap session_recap_unavailable last_turn_summary
	subagent_spawned subagent_progress subagent_finished monitor_event
	scheduled_task_created scheduled_task_fired scheduled_task_deleted workflow_updated goal_updated
	tool_call_delta_chunk image_compressed image_dropped pending_interaction interaction_resolved
	reasoning_completed`)

// update takes a line of updates.jsonl.
func (p *grokParser) update(r gjson.Result) {
	params, ok := grokUpdate(r)
	if !ok {
		p.b.unknown("(no sessionUpdate)")
		return
	}
	if p.id == "" {
		p.id = keep(params.Get("sessionId").Str)
	}
	at := anyTime(params.Get("_meta.agentTimestampMs"))
	if at.IsZero() {
		at = anyTime(r.Get("timestamp"))
	}
	u := params.Get("update")
	switch kind := u.Get("sessionUpdate").Str; kind {
	case "user_message_chunk":
		p.userChunk(u, params, at)
	case "agent_message_chunk", "agent_thought_chunk":
		p.chunk(kind, params.Get("_meta.promptId").Str, u, params, at)
		p.b.model(params.Get("_meta.modelId").Str)
	case "tool_call", "tool_call_update":
		p.toolUpdate(u, at)
	case "turn_completed":
		p.flush()
		p.leftover(at)
		p.log.busy = false
	case "response_started", "response_completed":
		if p.log.saying.kind != "user_message_chunk" {
			p.flush()
		}
		p.b.model(u.Get("model").Str)
	case "rewind_marker":
		p.rewind(int(u.Get("target_prompt_index").Int()))
	case "compaction_checkpoint":
		p.log.nudge = strings.TrimSpace(keep(u.Get("auto_continue.prompt_text").String()))
	case "auto_compact_completed":
		if text := strings.TrimSpace(u.Get("summary_preview").String()); text != "" {
			p.flush()
			p.add(session.Turn{Role: session.Summary, Text: keep(text), Time: at})
		}
	case "task_backgrounded":
		if c := p.byID[u.Get("tool_call_id").String()]; c != nil {
			p.log.tasks[keep(u.Get("task_id").String())] = c
		}
	case "task_completed":
		p.taskDone(u.Get("task_snapshot"))
	case "session_summary_generated":
		p.b.given = keep(u.Get("session_summary").String())
	case "session_info_update":
		if title := u.Get("title").String(); title != "" {
			p.b.given = keep(title)
		}
	case "model_changed":
		p.b.model(u.Get("model_id").String())
	case "model_auto_switched":
		p.b.model(u.Get("new_model_id").String())
	default:
		if !grokQuiet[kind] {
			p.b.unknown(kind)
		}
	}
}

// userChunk takes a piece of a prompt. Pieces of one prompt have its promptIndex.
// In a log that has such indexes a message without one is either typed while the
// model works, or Grok's own way to wake the model.
func (p *grokParser) userChunk(u, params gjson.Result, at time.Time) {
	if u.Get("_meta.hostTurn").Bool() {
		p.flush()
		return
	}
	index, prompt := -1, ""
	if v := u.Get("_meta.promptIndex"); v.Type == gjson.Number {
		index, prompt = int(v.Int()), v.Raw
		p.log.marked = true
	}
	command := u.Get("content._meta.bash_command").String()
	s := &p.log.saying
	if s.kind != "user_message_chunk" || s.prompt != prompt || command != "" {
		p.flush()
		s.person = index >= 0 || !p.log.marked || p.log.busy || command != ""
		if index >= 0 || !p.log.marked {
			if index < 0 {
				index = len(p.log.prompts)
			}
			p.log.prompts = append(p.log.prompts, grokPrompt{index, len(p.b.turns)})
			p.log.busy = true
		}
	}
	p.b.model(u.Get("_meta.modelId").Str)
	if command == "" {
		p.chunk("user_message_chunk", prompt, u, params, at)
		return
	}
	i := p.add(session.Turn{Role: session.User, Text: "!" + keep(command), Time: at, Ref: grokRef(params)})
	p.log.shell[i] = true
	s.person = false
}

// chunk joins a piece to the message that is being streamed, or begins one. What is
// about something else in between does not end it.
func (p *grokParser) chunk(kind, prompt string, u, params gjson.Result, at time.Time) {
	s := &p.log.saying
	if s.kind != kind || s.prompt != prompt {
		person := s.person && s.kind == ""
		p.flush()
		s.kind, s.prompt, s.time, s.ref, s.person = kind, keep(prompt), at, grokRef(params), person
	}
	switch content := u.Get("content"); content.Get("type").Str {
	case "image":
		s.images++
	case "text":
		s.text.WriteString(content.Get("text").String())
	}
}

// flush ends the message that was being streamed.
func (p *grokParser) flush() {
	s := p.log.saying
	if s.kind == "" {
		return
	}
	p.log.saying = grokSaying{}
	text := strings.ToValidUTF8(s.text.String(), "\uFFFD")
	switch s.kind {
	case "agent_thought_chunk":
		p.thoughts.add(text)
	case "agent_message_chunk":
		if text = strings.TrimSpace(text); text != "" {
			p.add(session.Turn{Role: session.Assistant, Text: text, Time: s.time, Ref: s.ref})
		}
	default:
		if text = grokTyped(text); text == "" && s.images > 0 {
			text = imageOnly
		}
		if s.person && text != "" && text != p.log.nudge {
			p.add(session.Turn{Role: session.User, Text: text, Time: s.time, Ref: s.ref})
		}
	}
}

// rewind takes the prompt with that index, and all that followed, out of the
// conversation. The log goes on with the same index.
func (p *grokParser) rewind(target int) {
	p.flush()
	p.leftover(p.lastTime())
	for i, prompt := range p.log.prompts {
		if prompt.index < target {
			continue
		}
		for n := prompt.turn; n < len(p.b.turns); n++ {
			p.b.turns[n].Undone = true
		}
		p.log.prompts = p.log.prompts[:i]
		return
	}
}

// taskDone gives a background command the output that it had in the end.
func (p *grokParser) taskDone(task gjson.Result) {
	c := p.log.tasks[task.Get("task_id").String()]
	if c == nil {
		return
	}
	t := &p.b.turns[c.turn]
	if out := strings.TrimSpace(task.Get("output").String()); out != "" && !strings.Contains(t.Output, out) {
		t.Output = strings.TrimPrefix(t.Output+"\n", "\n") + keep(out)
	}
	if exit := task.Get("exit_code"); exit.Type == gjson.Number && exit.Int() != 0 {
		t.Failed = true
	}
}

func grokRef(params gjson.Result) string { return keep(params.Get("_meta.eventId").Str) }
