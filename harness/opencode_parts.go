package harness

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// openCodeTurns is the message that is being read, and the turns made of it so far.
type openCodeTurns struct {
	id, role string
	time     time.Time
	summary  bool         // a compaction wrote it
	tools    gjson.Result // what the first versions kept about its calls, by call id

	begin    int      // turns before the message
	first    int      // turns before this step of it
	said     int      // place of the step's turn of words, or -1
	texts    []string // its words, or a person's
	thinking []string
	reads    []string // files that a person attached
	fallback string   // what a person asked for without words
}

// endMessage finishes the turns of the message.
func (p *openCodeParser) endMessage() {
	if p.cur.role == "user" {
		p.person()
	} else {
		p.endStep()
	}
	p.cur = openCodeTurns{said: -1}
}

// person adds the turn of a person's message, unless everything in it was injected.
func (p *openCodeParser) person() {
	c := &p.cur
	text, wordless := openCodeTyped(strings.Join(c.texts, "\n")), len(c.texts) == 0
	if wordless {
		text = c.fallback
	}
	if text != "" {
		i := p.add(session.Turn{Role: session.User, Time: c.time, Ref: c.id, Text: text, Reads: c.reads}, "")
		p.marks[i].wordless = wordless
	}
}

// openCodeTyped takes off the quotes that `opencode run` puts around an argument with
// spaces before it joins its arguments, if the text is one such argument.
func openCodeTyped(text string) string {
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, `"`)
	if !ok || !strings.Contains(inner, " ") || strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) {
		return text
	}
	return strings.TrimSpace(strings.ReplaceAll(inner, `\"`, `"`))
}

// endStep finishes one answer of the model: early versions kept the whole exchange
// with it, tool calls and further answers, as one message of many steps.
func (p *openCodeParser) endStep() {
	c := &p.cur
	if c.said >= 0 {
		t := &p.b.turns[c.said]
		t.Text, t.Thinking = strings.Join(c.texts, "\n\n"), strings.Join(c.thinking, "\n\n")
	}
	c.said, c.texts, c.thinking, c.first = -1, nil, nil, len(p.b.turns)
}

// part takes one part of the current message.
func (p *openCodeParser) part(part gjson.Result) {
	c := &p.cur
	kind := part.Get("type").Str
	switch kind {
	case "text":
		text := strings.TrimSpace(part.Get("text").String())
		if text == "" || part.Get("synthetic").Bool() || part.Get("ignored").Bool() {
			return
		}
		if c.role == "assistant" {
			p.speak(part)
		}
		c.texts = append(c.texts, keep(text))
	case "reasoning":
		if text := strings.TrimSpace(part.Get("text").String()); text != "" && c.role == "assistant" {
			p.speak(part)
			c.thinking = append(c.thinking, keep(text))
		}
	case "tool":
		p.tool(part)
	case "tool-invocation":
		p.oldTool(part.Get("toolInvocation"))
	case "step-start":
		if c.role == "assistant" {
			p.endStep()
		}
	case "patch":
		p.patch(part.Get("files"))
	case "file":
		p.attached(part)
	case "subtask":
		c.fallback = openCodeSubtask(part)
	case "step-finish", "snapshot", "agent", "compaction", "retry", "source-url":
	default:
		p.b.unknown("part/" + kind)
	}
}

// speak makes the turn for the words of this step, where the first of them stand.
func (p *openCodeParser) speak(part gjson.Result) {
	c := &p.cur
	if c.said >= 0 {
		return
	}
	role := session.Assistant
	if c.summary {
		role = session.Summary
	}
	at, ref := c.time, c.id
	if c.first > c.begin { // a later step
		if start := milliTime(part.Get("time.start")); !start.IsZero() {
			at = start
		}
		if id := keep(part.Get("id").Str); id != "" {
			ref = id
		}
	}
	c.said = p.add(session.Turn{Role: role, Time: at, Ref: ref}, keep(part.Get("id").Str))
}

// attached takes a file that came with a person's message. Its content follows as
// injected text.
func (p *openCodeParser) attached(part gjson.Result) {
	c := &p.cur
	if c.role != "user" {
		return
	}
	name := part.Get("filename").Str
	if c.fallback == "" {
		c.fallback = "[" + keep(name) + "]"
	}
	file := part.Get("source.path").Str
	if url := part.Get("url").Str; strings.HasPrefix(url, "file://") {
		file = localPath(url)
	}
	if file != "" && part.Get("mime").Str != "application/x-directory" {
		c.reads = appendNew(c.reads, pathIn(p.cwd, file))
	}
}

// openCodeSubtask is what a person asked a sub-agent to do: a command they typed, or
// a description.
func openCodeSubtask(part gjson.Result) string {
	words := strings.TrimSpace(part.Get("description").Str)
	if words == "" {
		words = strings.TrimSpace(part.Get("prompt").Str)
	}
	if command := part.Get("command").Str; command != "" {
		words = strings.TrimSpace("/" + command + "\n" + words)
	}
	return keep(words)
}

// patch takes the files that changed on disk during a step, by the harness's own
// snapshots. What no call accounts for is put with the last one.
func (p *openCodeParser) patch(files gjson.Result) {
	last := len(p.b.turns) - 1
	if last < p.cur.begin {
		return
	}
	for i := last; i >= p.cur.first; i-- {
		if p.b.turns[i].Role == session.Tool {
			last = i
			break
		}
	}
	var known []string
	for _, t := range p.b.turns[min(p.cur.first, last):] {
		known = append(known, t.Edits...)
	}
	files.ForEach(func(_, f gjson.Result) bool {
		if file := keep(f.String()); file != "" && !slices.Contains(known, file) {
			p.b.turns[last].Edits = appendNew(p.b.turns[last].Edits, file)
		}
		return true
	})
}

// tool takes a call together with its result.
func (p *openCodeParser) tool(part gjson.Result) {
	state, name := part.Get("state"), part.Get("tool").Str
	t := session.Turn{Role: session.Tool, Time: milliTime(state.Get("time.start")), Ref: keep(part.Get("callID").Str), Tool: keep(name)}
	if t.Time.IsZero() {
		t.Time = p.cur.time
	}
	input, meta := state.Get("input"), state.Get("metadata")
	t.Input = keep(RenderInput(compact(input)))
	status := state.Get("status").Str
	switch status {
	case "completed":
		t.Output = keep(state.Get("output").String())
	case "error":
		t.Output = keep(state.Get("error").String())
	case "running", "pending": // the model was stopped, or works on
		t.Output = keep(meta.Get("output").String())
	default:
		p.b.unknown("tool/" + status)
	}
	exit := meta.Get("exit")
	t.Failed = status == "error" || name == "invalid" ||
		exit.Exists() && (exit.Type != gjson.Number || exit.Num != 0) // null: it was killed
	if status != "error" {
		t.Edits, t.Reads = p.touched(name, input, meta)
	}
	if strings.Contains(t.Output[:min(len(t.Output), 4<<10)], "<type>directory</type>") {
		t.Reads = nil
	}
	p.add(t, keep(part.Get("id").Str))
}

// touched lists the paths that a call wrote, and those it only read.
func (p *openCodeParser) touched(name string, input, meta gjson.Result) (edits, reads []string) {
	dir := p.cwd
	add := func(list []string, file string) []string { return appendNew(list, pathIn(dir, file)) }
	file := input.Get("filePath").Str
	switch name {
	case "read":
		if meta.Get("display.type").Str != "directory" {
			reads = add(reads, file)
		}
	case "edit", "write", "multiedit":
		edits = add(edits, file)
	case "apply_patch", "patch":
		if files := meta.Get("files"); files.IsArray() {
			files.ForEach(func(_, f gjson.Result) bool {
				edits = add(edits, f.Get("filePath").Str)
				edits = add(edits, f.Get("movePath").Str)
				return true
			})
			return edits, nil
		}
		for _, f := range patchFiles(input.Get("patchText").Str) {
			edits = add(edits, f)
		}
	case "bash", "shell":
		if work := input.Get("workdir").Str; work != "" {
			dir = pathIn(dir, work)
		}
		for _, f := range shellWrites(input.Get("command").Str) {
			edits = add(edits, f)
		}
	}
	return edits, reads
}

// oldTool takes a call of the first versions, whose times and outcome the message
// keeps elsewhere.
func (p *openCodeParser) oldTool(call gjson.Result) {
	id := call.Get("toolCallId").Str
	var about gjson.Result
	p.cur.tools.ForEach(func(k, v gjson.Result) bool {
		if k.Str == id {
			about = v
		}
		return k.Str != id
	})
	name, args := call.Get("toolName").Str, call.Get("args")
	t := session.Turn{Role: session.Tool, Time: milliTime(about.Get("time.start")), Ref: keep(id), Tool: keep(name),
		Input: keep(RenderInput(compact(args))), Output: keep(call.Get("result").String()), Failed: about.Get("error").Bool()}
	if t.Time.IsZero() {
		t.Time = p.cur.time
	}
	if exit := about.Get("exit"); exit.Type == gjson.Number && exit.Num != 0 {
		t.Failed = true
	}
	if !t.Failed {
		t.Edits, t.Reads = p.touched(name, args, about)
	}
	p.add(t, "")
}
