package harness

import (
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// user takes a record of the role user: tool results, a person's words, or text
// that was injected in their name.
func (p *claudeParser) user(r *claudeRecord) {
	p.talked = true
	p.mainline = p.mainline || !r.sidechain
	content := r.message.Get("content")
	if content.Type == gjson.String {
		p.userText(r, claudeSpoken(content.Str))
		return
	}
	var said claudeSaid
	content.ForEach(func(_, block gjson.Result) bool {
		switch kind := block.Get("type").String(); kind {
		case "text":
			next := claudeSpoken(block.Get("text").String())
			switch {
			case said.kind == claudeInjected:
				said = next
			case said.kind == claudeWords && next.kind == claudeWords:
				said.text += "\n" + next.text
			}
		case "tool_result":
			p.result(r, block)
		case "image", "document", "tool_reference", "search_result", "container_upload":
		default:
			p.unknown("user/" + kind)
		}
		return true
	})
	p.userText(r, said)
}

func (p *claudeParser) userText(r *claudeRecord, said claudeSaid) {
	switch {
	case r.compact || said.kind == claudeCompaction && !r.sidechain:
		if said.text != "" {
			p.begin(session.Turn{Role: session.Summary, Time: r.time, Ref: keep(r.uuid), Text: keep(said.text)})
		}
	case r.meta || r.transcriptOnly || !claudeHuman(r.origin, r.promptSource):
	default:
		p.said(r, said)
	}
}

// claudeHuman reports whether a record was caused by a person, as newer versions say.
func claudeHuman(origin gjson.Result, source string) bool {
	kind := origin.Str
	if origin.IsObject() {
		kind = origin.Get("kind").Str
	}
	return (kind == "" || kind == "human") && source != "system"
}

// said adds the turn that a person's text makes, if it makes one.
func (p *claudeParser) said(r *claudeRecord, said claudeSaid) {
	add := func(text string) int32 {
		i := p.begin(session.Turn{Role: session.User, Time: r.time, Ref: keep(r.uuid), Text: keep(text)})
		if said.kind != claudeWords {
			p.commands[i] = true
		}
		return i
	}
	switch said.kind {
	case claudeLocal:
		if !strings.Contains(said.text, " ") {
			return // a bare /clear or /model says nothing
		}
		add(said.text)
	case claudeWords, claudeCommand:
		if r.sidechain {
			p.newest().warm = said.text == claudeWarmup
			p.sides = append(p.sides, add(said.text))
			return
		}
		p.arrived(said.text, r.time)
		p.unwrap(said.text)
		add(said.text)
		p.newest().prompt = r.kind == "user"
	case claudeShell:
		p.shell = keep(said.text[1:])
		add(said.text)
	case claudeShellOutput:
		p.begin(session.Turn{Role: session.Tool, Time: r.time, Ref: keep(r.uuid), Tool: "bash-input",
			Input: p.shell, Output: keep(said.text), Edits: shellWrites(p.shell)})
		p.shell = ""
	}
}

// unwrap drops the command turn before words that are its arguments: "/plan do
// this" switches a mode and then says "do this". The command's own record may hold
// only the beginning of them.
func (p *claudeParser) unwrap(words string) {
	last := int32(len(p.turns) - 1)
	if last < 0 || !p.commands[last] || !strings.HasPrefix(p.turns[last].Text, "/") {
		return
	}
	if _, args, ok := strings.Cut(p.turns[last].Text, " "); ok && strings.HasPrefix(words, args) {
		p.dropped[last] = true
	}
}

// assistant takes one record of a model's message: versions of every age write one
// record for each block. They are joined by the message's and the request's id.
func (p *claudeParser) assistant(r *claudeRecord) {
	p.talked = true
	p.mainline = p.mainline || !r.sidechain
	var id, model string
	var content gjson.Result
	r.message.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "id":
			id = v.Str
		case "model":
			model = v.Str
		case "content":
			content = v
		}
		return true
	})
	if model != "" && (len(p.meta.Models) == 0 || p.meta.Models[len(p.meta.Models)-1] != model) {
		p.model(model)
	}
	if r.sidechain && r.attributed != "" {
		p.agentKind = keep(r.attributed)
	}
	key := uint64(0)
	if id != "" {
		key = claudeHash(id, r.request)
	}
	if content.Type == gjson.String {
		p.words(r, key, content.Str, "")
		return
	}
	content.ForEach(func(_, block gjson.Result) bool {
		switch kind := block.Get("type").String(); kind {
		case "text":
			text := block.Get("text").String()
			if model == "<synthetic>" && text == "No response requested." {
				return true // written by the harness when a session is resumed
			}
			p.words(r, key, text, "")
		case "thinking":
			p.words(r, key, "", block.Get("thinking").String()) // empty since 2.1.207
		case "tool_use", "server_tool_use", "mcp_tool_use":
			p.call(r, block)
		case "redacted_thinking", "image", "fallback", "container_upload":
		default:
			if strings.HasSuffix(kind, "tool_result") {
				p.result(r, block)
			} else {
				p.unknown("assistant/" + kind)
			}
		}
		return true
	})
}

// joinLimit is how long a turn may be for more to be joined to it, in bytes. No
// model writes so much in many blocks; without it such a file would cost the
// square of its length.
const joinLimit = 64 << 10

// words adds text or thinking to the turn of its message.
func (p *claudeParser) words(r *claudeRecord, key uint64, text, thinking string) {
	text, thinking = strings.TrimSpace(text), strings.TrimSpace(thinking)
	if text == "" && thinking == "" {
		return
	}
	i, known := p.messages[key]
	if !known || key == 0 {
		p.messages[key] = p.begin(session.Turn{Role: session.Assistant, Time: r.time, Ref: keep(r.uuid),
			Text: keep(text), Thinking: keep(thinking)})
		return
	}
	p.newest().stop = true
	t := &p.turns[i]
	if hasParagraphs(t.Text, text) && hasParagraphs(t.Thinking, thinking) {
		p.replayed(i)
		return
	}
	if len(t.Text)+len(t.Thinking) > joinLimit {
		delete(p.messages, key)
		p.words(r, key, text, thinking)
		return
	}
	t.Text = joinParagraphs(t.Text, text)
	t.Thinking = joinParagraphs(t.Thinking, thinking)
}

// replayed notes that a message came a second time under a new record id: version
// 1.0.67 wrote the whole history again for every prompt given on its input stream.
// The person's words before it, if they are those before the first, are copies too.
func (p *claudeParser) replayed(first int32) {
	for j, k := first-1, int32(len(p.turns)-1); j >= 0 && k > first && !p.dropped[k]; j, k = j-1, k-1 {
		a, b := &p.turns[j], &p.turns[k]
		if a.Role != session.User || b.Role != session.User || a.Text != b.Text {
			return
		}
		p.dropped[k] = true
	}
}

// hasParagraphs reports whether part stands in all between line breaks.
func hasParagraphs(all, part string) bool {
	at := strings.Index(all, part)
	end := at + len(part)
	return part == "" || at >= 0 && (at == 0 || all[at-1] == '\n') && (end == len(all) || all[end] == '\n')
}

func joinParagraphs(all, part string) string {
	switch {
	case part == "":
		return all
	case all == "":
		return keep(part)
	}
	return all + "\n\n" + strings.ToValidUTF8(part, "\uFFFD")
}

// call adds a tool turn. Its paths count once a result says that it worked.
func (p *claudeParser) call(r *claudeRecord, block gjson.Result) {
	id := block.Get("id").String()
	if old, again := p.calls[id]; again && id != "" {
		p.newest().stop = true
		p.replayed(old.turn)
		return
	}
	tool, input := keep(block.Get("name").String()), block.Get("input")
	i := p.begin(session.Turn{Role: session.Tool, Time: r.time, Ref: keep(r.uuid), Tool: tool, Input: keep(RenderInput(input))})
	if id != "" {
		c := claudeCall{turn: i}
		c.edits, c.reads = claudeTouched(tool, input)
		p.calls[keep(id)] = c
	}
}

// result completes the tool turn that it answers. One that answers no call in this
// file (its beginning was cut off) becomes a turn of its own.
func (p *claudeParser) result(r *claudeRecord, block gjson.Result) {
	id := block.Get("tool_use_id").String()
	c, known := p.calls[id]
	if c.done {
		return
	}
	if !known {
		c.turn = p.begin(session.Turn{Role: session.Tool, Time: r.time, Ref: keep(r.uuid)})
	}
	c.done = true
	p.newest().stop = true
	t := &p.turns[c.turn]
	t.Output = keep(cutTrailingReminders(claudeOutput(block.Get("content"))))
	t.Failed = block.Get("is_error").Bool() || r.result.Type == gjson.String && claudeError(r.result.Str)
	if !t.Failed {
		t.Edits, t.Reads = c.edits, c.reads
	}
	c.edits, c.reads = nil, nil
	if id != "" {
		p.calls[keep(id)] = c
	}
	words := r.feedback
	if words == "" && t.Failed {
		words = claudeRejection(t.Output)
	}
	if words = strings.TrimSpace(words); words != "" && !r.sidechain {
		p.begin(session.Turn{Role: session.User, Time: r.time, Ref: keep(r.uuid), Text: keep(words)})
	}
}

// claudeError reports whether a result that is given as a bare string is an error.
func claudeError(s string) bool {
	for _, prefix := range []string{"Error", "User rejected", "InputValidationError", "Sibling tool call errored"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

// claudeOutput is the text of a tool's result; images are left out.
func claudeOutput(content gjson.Result) string {
	if content.Type == gjson.String {
		return content.Str
	}
	var parts []string
	eachOf(content, func(block gjson.Result) {
		switch block.Get("type").String() {
		case "text":
			parts = append(parts, block.Get("text").String())
		case "tool_reference":
			parts = append(parts, block.Get("tool_name").String())
		case "web_search_result", "search_result":
			parts = append(parts, strings.TrimSpace(block.Get("title").String()+" "+block.Get("url").String()))
		}
	})
	return strings.Join(parts, "\n")
}

// claudeText is a prompt's text, given as a string or as blocks.
func claudeText(v gjson.Result) string {
	if v.Type == gjson.String {
		return v.Str
	}
	return claudeOutput(v)
}
