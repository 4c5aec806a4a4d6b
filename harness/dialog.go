package harness

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// A dialog is the builder of harnesses that write a plain list of messages: words,
// calls of tools, and results that name their call or, without ids, follow in order.
type dialog struct {
	builder

	calls   map[string]int // call id → its tool turn
	open    []int          // tool turns without a result, oldest first
	claimed map[int]paths  // what a tool turn touches, if it works
	asides  map[int]bool   // user turns that are commands, no requests
	silent  bool           // the harness records no results: calls count as they stand
}

// newDialog begins the transcript of a harness, which may record no results.
func newDialog(harness string, silent bool) dialog {
	d := dialog{calls: map[string]int{}, claimed: map[int]paths{}, asides: map[int]bool{}, silent: silent}
	d.meta.Harness = harness
	d.command = func(i int) bool { return d.asides[i] }
	return d
}

type paths struct{ edits, reads []string }

// say adds what a person or a model said. Where nothing was said there is no turn.
func (d *dialog) say(role session.Role, text, thinking string, at time.Time, ref string) {
	text, thinking = strings.TrimSpace(text), strings.TrimSpace(thinking)
	if text == "" && thinking == "" {
		return
	}
	d.add(session.Turn{Role: role, Time: at, Ref: keep(ref), Text: keep(text), Thinking: keep(thinking)})
}

// aside adds a command that a person gave to the harness.
func (d *dialog) aside(text string, at time.Time, ref string) {
	before := len(d.turns)
	if d.say(session.User, text, "", at, ref); len(d.turns) > before {
		d.asides[before] = true
	}
}

// person adds the words of a message in a person's name, as what they are: theirs, a
// command, a summary, or nothing at all.
func (d *dialog) person(text string, at time.Time, ref string) {
	switch said := claudeSpoken(text); said.kind {
	case claudeWords:
		d.say(session.User, said.text, "", at, ref)
	case claudeCommand, claudeLocal, claudeShell:
		d.aside(said.text, at, ref)
	case claudeCompaction:
		d.say(session.Summary, said.text, "", at, ref)
	}
}

// call adds a tool turn, or returns the one that the same call has made already.
func (d *dialog) call(id, tool string, input gjson.Result, at time.Time, ref string) int {
	if i, known := d.calls[id]; known && id != "" {
		return i
	}
	input = plainInput(input)
	p := touchedPaths(tool, input)
	if id != "" {
		ref = id
	}
	t := session.Turn{Role: session.Tool, Time: at, Ref: keep(ref), Tool: keep(tool), Input: keep(RenderInput(input))}
	if d.silent {
		t.Edits, t.Reads = p.edits, p.reads
	}
	i := d.add(t)
	if id != "" {
		d.calls[keep(id)] = i
	}
	if !d.silent {
		d.claimed[i] = p
		d.open = append(d.open, i)
	}
	return i
}

// answer completes the turn of a call. A result that names no known call (the
// beginning of the transcript is lost) becomes a turn of its own; one that names
// none at all belongs to the oldest call of that tool without a result.
func (d *dialog) answer(id, tool, output string, failed bool, at time.Time, ref string) {
	i, known := d.calls[id]
	if id == "" {
		i, known = d.oldest(tool)
	}
	if !known {
		i = d.call(id, tool, gjson.Result{}, at, ref)
	}
	d.settle(i, output, failed)
}

// settle gives a tool turn its result.
func (d *dialog) settle(i int, output string, failed bool) {
	if n := slices.Index(d.open, i); n >= 0 {
		d.open = slices.Delete(d.open, n, n+1)
	}
	t := &d.turns[i]
	if t.Output == "" || output != "" {
		t.Output = keep(output)
	}
	if t.Failed = t.Failed || failed; t.Failed {
		t.Edits, t.Reads = nil, nil
	} else {
		t.Edits, t.Reads = d.claimed[i].edits, d.claimed[i].reads
	}
}

// oldest is the first call of a tool, or of any where tool is "", that has no result.
func (d *dialog) oldest(tool string) (int, bool) {
	for _, i := range d.open {
		if tool == "" || d.turns[i].Tool == tool {
			return i, true
		}
	}
	return 0, false
}

// message adds what one message of a model or a person holds: its words, then its
// calls; results go to the calls they answer. spoken takes a person's words.
func (d *dialog) message(role session.Role, c content, at time.Time, ref string, spoken func(text string)) {
	for _, r := range c.results {
		d.answer(r.id, r.tool, r.output, r.failed, at, ref)
	}
	switch {
	case role == session.Assistant:
		d.say(role, strings.Join(c.texts, "\n\n"), strings.Join(c.thoughts, "\n\n"), at, ref)
	case role == session.User && len(c.texts) > 0:
		spoken(strings.Join(c.texts, "\n"))
	case role == session.User && c.images > 0:
		d.say(role, imageOnly, "", at, ref)
	}
	for _, call := range c.calls {
		d.call(call.id, call.tool, call.input, at, ref)
		if call.done {
			d.answer(call.id, call.tool, call.output, call.failed, at, ref)
		}
	}
	for _, kind := range c.unknown {
		d.unknown(string(role) + "/" + kind)
	}
}
