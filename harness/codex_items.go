package harness

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// item takes one Responses API item.
func (p *codexParser) item(r gjson.Result, t time.Time) {
	switch kind := r.Get("type").Str; kind {
	case "message":
		p.message(r, t)
	case "reasoning":
		p.reasoning(codexItem, r.Get("summary"), r.Get("content"))
	case "function_call", "custom_tool_call":
		p.functionCall(r, t)
	case "local_shell_call":
		p.localShell(r, t)
	case "web_search_call":
		p.webSearch(codexItem, r.Get("action"), "", r.Get("status").Str, t)
	case "tool_search_call":
		p.call(codexItem, r.Get("call_id").Str, session.Turn{
			Tool: "tool_search", Input: keep(RenderInput(r.Get("arguments"))), Time: t,
		}, codexMark{})
	case "image_generation_call":
		p.call(codexItem, r.Get("id").Str, session.Turn{
			Tool: "image_generation", Input: keep(r.Get("revised_prompt").String()), Time: t,
		}, codexMark{done: true})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		p.output(codexItem, r.Get("call_id").Str, codexResult(r), t)
	case "agent_message":
		texts, _ := textParts(r.Get("content"))
		p.mail(strings.Join(texts, "\n"), t)
	case "ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "compaction_trigger", "additional_tools", "other":
	default:
		p.b.unknown("response_item/" + kind)
	}
}

func (p *codexParser) message(r gjson.Result, t time.Time) {
	texts, images := textParts(r.Get("content"))
	switch r.Get("role").Str {
	case "user":
		p.userItem(r, texts, images, t)
	case "assistant":
		p.says(codexItem, r.Get("id").Str, strings.Join(texts, "\n"), t)
	}
	// "developer" and "system" are the harness speaking
}

// userItem takes a message in the person's name, which may be the person's.
func (p *codexParser) userItem(r gjson.Result, texts []string, images int, t time.Time) {
	texts = slices.DeleteFunc(texts, codexIsImageLabel)
	typed := false
	// Since mid 2026 each part says what it is: "user.text", "shell.user_command".
	for _, kind := range r.Get("internal_chat_message_metadata_passthrough.content_item_kinds").Array() {
		typed = typed || strings.HasPrefix(kind.Str, "user.")
	}
	for _, text := range texts {
		s := strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(s, "<user_shell_command>"):
			p.userShell(s, t)
			return
		case strings.HasPrefix(s, "<environment_context>"):
			p.setDir(codexContextDir(s))
		}
	}
	if slices.ContainsFunc(texts, codexIsInjected) || !typed && len(texts) == 1 && isOnlyElement(texts[0]) {
		return
	}
	p.typed(codexItem, r.Get("id").Str, strings.Join(texts, "\n"), images, typed, t)
}

// typed takes a person's message from either stream.
func (p *codexParser) typed(from codexSource, id, text string, images int, sure bool, t time.Time) {
	if text = codexTyped(text); text == "" {
		if images == 0 {
			return
		}
		text = imageOnly
	}
	hash, fresh := p.echoes.fresh(codexUser, from, text)
	if fresh {
		p.exec = -1
		if strings.Contains(text, ">>> TRANSCRIPT") && p.b.meta.Subagent {
			p.rendered = true
		}
		p.add(session.Turn{Role: session.User, Time: t, Ref: keep(id), Text: keep(text)},
			codexMark{hash: hash, source: from, sure: sure})
		return
	}
	for i := len(p.marks) - 1; sure && i >= 0; i-- {
		if m := &p.marks[i]; m.hash == hash && p.b.turns[i].Role == session.User && !m.sure {
			m.sure, m.source = true, from
			return
		}
	}
}

// userShell takes a command that the person ran, "!cmd", and what it printed.
func (p *codexParser) userShell(text string, t time.Time) {
	cmd := strings.TrimSpace(element(text, "command"))
	if cmd == "" {
		return
	}
	cmd = keep(cmd)
	p.add(session.Turn{Role: session.User, Time: t, Text: "!" + cmd}, codexMark{sure: true, aside: true})
	if result := strings.TrimSpace(element(text, "result")); result != "" {
		o := codexOutput(result)
		p.add(session.Turn{Role: session.Tool, Time: t, Tool: "user_shell_command", Input: cmd, Output: keep(o.text), Failed: o.failed},
			codexMark{done: true, shell: shellWrites(cmd)})
	}
}

// says takes a message of the model from either stream.
func (p *codexParser) says(from codexSource, id, text string, t time.Time) {
	if text = strings.TrimSpace(withoutElement(text, "oai-mem-citation")); text == "" {
		return
	}
	words := withoutElement(text, "proposed_plan") // the event of the same message lacks it
	if strings.TrimSpace(words) == "" {
		words = text
	}
	hash, fresh := p.echoes.fresh(codexModel, from, words)
	last := len(p.b.turns) - 1
	if !fresh {
		for i := last; i >= 0 && i > last-8; i-- {
			if t, m := &p.b.turns[i], &p.marks[i]; t.Role == session.Assistant && m.hash == hash && m.source != from {
				if from == codexItem { // the item is whole
					t.Text, t.Ref, m.source = keep(text), keep(id), from
				}
				return
			}
		}
		return
	}
	// The item right after an event of another wording is still its echo: the
	// client cuts marks out of a message before it shows it.
	if from == codexItem && last >= 0 && p.marks[last].source == codexEvent && p.b.turns[last].Role == session.Assistant &&
		p.b.turns[last].Text != "" && t.Sub(p.b.turns[last].Time) < codexPause && len(p.thoughts) == 0 {
		p.b.turns[last].Text, p.b.turns[last].Ref = keep(text), keep(id)
		p.marks[last].source, p.marks[last].hash = codexItem, hash
		return
	}
	p.add(session.Turn{Role: session.Assistant, Time: t, Ref: keep(id), Text: keep(text)}, codexMark{hash: hash, source: from})
}

// reasoning takes what is readable of the model's thoughts: summaries, and the raw
// text of open models.
func (p *codexParser) reasoning(from codexSource, lists ...gjson.Result) {
	for _, list := range lists {
		texts, _ := textParts(list)
		for _, text := range texts {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if _, fresh := p.echoes.fresh(codexThought, from, text); fresh {
				p.thoughts.add(text)
			}
		}
	}
}

// mail takes a message between agents. To a sub-agent it is the request; in the
// session that started it, it stands in the sub-agent's own.
func (p *codexParser) mail(text string, t time.Time) {
	if text = strings.TrimSpace(text); text == "" || !p.b.meta.Subagent {
		return
	}
	p.typed(codexItem, "", text, 0, true, t)
}

// compacted takes the summary that replaces earlier turns for the model. It is
// encrypted for most models, and for the others the model's own message before it.
func (p *codexParser) compacted(text string, t time.Time) {
	if text = codexSummary(text); text == "" {
		return
	}
	text = keep(text)
	if last := len(p.b.turns) - 1; last >= 0 && p.b.turns[last].Role == session.Assistant && p.b.turns[last].Text == text {
		p.b.turns[last].Role = session.Summary
		return
	}
	p.add(session.Turn{Role: session.Summary, Time: t, Text: text}, codexMark{})
}
