package harness

import (
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// geminiContent is what one message says.
type geminiContent struct {
	role  session.Role // of the words in it; "" where there are none
	time  time.Time
	model string
	turns []session.Turn
	parts []string // a person's words by the parts of the message they stand in
	key   string   // the same for copies of the message, see geminiKey

	aside      bool            // the words are a command
	unanswered bool            // its calls stand without their results, which come later
	results    []contentResult // of earlier calls
}

// read takes a message apart.
func (p *geminiParser) read(r gjson.Result, id string) geminiContent {
	c := geminiContent{time: isoTime(r.Get("timestamp").Str)}
	kind, calls := r.Get("type").String(), r.Get("toolCalls")
	switch {
	case kind == "user":
		p.readUser(&c, r, id)
	case kind == "gemini", kind == "model", !geminiTypes[kind] && (calls.IsArray() || r.Get("model").Exists()):
		readGemini(&c, r, id) // other writers and forks of the harness name the model otherwise
		for _, t := range c.turns {
			if t.Ref != "" && t.Output != "" && t.Role == session.Tool {
				p.answered[t.Ref] = true
			}
		}
	case kind == "info" || kind == "warning" || kind == "error":
		p.notice(r.Get("content"))
	default:
		p.b.unknown("message/" + kind)
	}
	return c
}

// readUser takes a message in the person's name: their words, context that the
// harness adds, results of calls, a compression's summary, or a command of theirs.
func (p *geminiParser) readUser(c *geminiContent, r gjson.Result, id string) {
	parts := readParts(r.Get("content"))
	for _, res := range parts.results {
		if !p.answered[res.id] {
			c.results = append(c.results, contentResult{keep(res.id), keep(res.tool), keep(res.output), res.failed})
		}
	}
	joined := strings.Join(parts.texts, "")
	for _, text := range parts.texts {
		for _, dir := range geminiToldDirs(text) {
			p.told = appendNew(p.told, dir)
		}
	}
	if summary := geminiSummary(joined); summary != "" {
		c.role, c.key = session.Summary, "s"+summary
		c.turns = []session.Turn{{Role: session.Summary, Time: c.time, Ref: id, Text: keep(summary)}}
		return
	}
	if cmd, out, ok := geminiShellMode(joined); ok {
		c.role, c.aside, c.key = session.User, true, geminiKey(session.User, joined, nil)
		c.turns = []session.Turn{
			{Role: session.User, Time: c.time, Ref: id, Text: "!" + cmd},
			{Role: session.Tool, Time: c.time, Tool: "run_shell_command", Input: cmd, Output: out, Failed: geminiExit(out), Edits: shellWrites(cmd)},
		}
		return
	}
	said := geminiTyped(parts.texts)
	shown := geminiTyped(readParts(r.Get("displayContent")).texts)
	switch {
	case said.text == "" && parts.images > 0:
		said.text = imageOnly
	case said.text == "", said.text == geminiGoOn && shown.text != "" && shown.text != geminiGoOn:
		return // with the words that it follows as what is shown
	}
	c.key, c.parts = geminiKey(session.User, said.text, nil), said.parts
	if shown.text != "" {
		said.text = shown.text
	}
	c.aside = geminiIsCommand(said.text)
	c.role = session.User
	c.turns = []session.Turn{{Role: session.User, Time: c.time, Ref: id, Text: keep(said.text), Reads: said.reads}}
}

// setText changes the words of a person's message.
func (c *geminiContent) setText(text string) {
	c.key = geminiKey(session.User, text, nil)
	c.aside = geminiIsCommand(text)
	c.turns[0].Text = text
}

// readGemini takes a message of the model: its words and thoughts, and its calls,
// each a turn.
func readGemini(c *geminiContent, r gjson.Result, id string) {
	parts := readParts(r.Get("content"))
	text := strings.TrimSpace(strings.Join(parts.texts, ""))
	c.model = keep(r.Get("model").String())
	if geminiAnswers[text] && c.model == "" {
		return
	}
	thinking := geminiThoughts(r.Get("thoughts"))
	if thinking == "" {
		thinking = strings.Join(parts.thoughts, "\n\n")
	}
	var tools []session.Turn
	if calls := r.Get("toolCalls"); calls.IsArray() && calls.Get("0").Exists() {
		calls.ForEach(func(_, call gjson.Result) bool {
			tools = append(tools, geminiToolCall(call, c.time))
			return true
		})
	} else {
		c.unanswered = true
		for _, call := range parts.calls {
			tools = append(tools, geminiCall(call, c.time))
		}
	}
	switch {
	case text != "" || thinking != "" && len(tools) == 0:
		c.turns = append(c.turns, session.Turn{Role: session.Assistant, Time: c.time, Ref: id, Text: keep(text), Thinking: keep(thinking)})
	case thinking != "":
		tools[0].Thinking = keep(thinking)
	}
	c.turns = append(c.turns, tools...)
	if len(c.turns) > 0 {
		c.role = session.Assistant
		c.key = geminiKey(session.Assistant, text, tools)
	}
}

// geminiKey is the same for a message and its copy, whose calls stand in its parts
// and whose thoughts may be gone.
func geminiKey(role session.Role, text string, calls []session.Turn) string {
	var b strings.Builder
	b.WriteString(string(role) + "\x00" + text)
	for _, c := range calls {
		b.WriteString("\x00" + c.Tool)
	}
	return b.String()
}

// fill takes over what another form of the message knows more: the model, the
// earlier time, and the results of its calls, which are left out or masked where a
// history is passed on.
func (c *geminiContent) fill(from *geminiContent) {
	if c.model == "" {
		c.model = from.model
	}
	if !from.time.IsZero() && from.time.Before(c.time) {
		for i := range c.turns {
			if c.turns[i].Time.Equal(c.time) {
				c.turns[i].Time = from.time
			}
		}
		c.time = from.time
	}
	for i := range c.turns {
		t := &c.turns[i]
		if t.Role != session.Tool || t.Ref == "" || t.Output != "" && !strings.Contains(t.Output, geminiMasked) {
			continue
		}
		for _, o := range from.turns {
			if o.Role == session.Tool && o.Ref == t.Ref && (o.Output != "" || !from.unanswered) {
				t.Time, t.Output, t.Failed, t.Edits, t.Reads = o.Time, o.Output, o.Failed, o.Edits, o.Reads
			}
		}
	}
}

const geminiMasked = "<tool_output_masked>"

// notice takes what the harness told the person: only two of these say something
// about the session.
func (p *geminiParser) notice(content gjson.Result) {
	if m := geminiUpdate.FindStringSubmatch(content.Str); m != nil {
		p.b.meta.Version = keep(m[1])
	}
	if file, ok := strings.CutPrefix(content.Str, geminiImport); ok {
		p.imported = true
		p.b.meta.ForkedFrom = keep(geminiNameKey(baseName(strings.TrimSpace(file))))
	}
}

// geminiImport begins the notice in a session that was begun from another's file.
const geminiImport = "Imported session from "

// geminiUpdate is the only place where a session names the harness's version.
var geminiUpdate = regexp.MustCompile(`^Gemini CLI update available! (\d[\w.+-]*) →`)

// geminiThoughts are the summaries of the model's thoughts.
func geminiThoughts(list gjson.Result) string {
	var all []string
	list.ForEach(func(_, t gjson.Result) bool {
		subject, text := strings.TrimSpace(t.Get("subject").String()), strings.TrimSpace(t.Get("description").String())
		if subject != "" {
			text = strings.TrimSpace("**" + subject + "**\n" + text)
		}
		if text != "" {
			all = append(all, text)
		}
		return true
	})
	return strings.Join(all, "\n\n")
}
