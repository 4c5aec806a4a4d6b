package harness

import (
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// A grokCall is what the parser remembers about a tool call besides its turn.
type grokCall struct {
	turn   int
	kind   string // read, edit, delete, move, execute, …
	ran    bool   // it has a result
	failed bool   // the call failed, so it changed nothing
	ended  bool   // a command ended badly; what it wrote before stands

	diffs, places, args []string // paths: of diffs, of locations, of the arguments
	command             string
}

// toolUpdate takes what a call is, and what became of it. Several updates are about
// one call; the last ones have its result.
func (p *grokParser) toolUpdate(u gjson.Result, at time.Time) {
	id := u.Get("toolCallId").String()
	c := p.byID[id]
	status := u.Get("status").Str
	if c == nil || c.ran && u.Get("sessionUpdate").Str == "tool_call" {
		p.flush()
		c = p.call(id, grokToolName(u), at)
	}
	t := &p.b.turns[c.turn]
	tool := u.Get(`_meta.x\.ai/tool`)
	if name := tool.Get("name").Str; name != "" {
		t.Tool = keep(name)
	}
	for _, kind := range []string{tool.Get("kind").Str, u.Get("kind").Str} {
		if kind != "" && kind != "other" {
			c.kind = keep(kind)
			break
		}
	}
	if in := u.Get("rawInput"); t.Input == "" && in.Exists() {
		t.Input = keep(grokInput(in))
		c.arguments(in)
	}
	u.Get("locations").ForEach(func(_, l gjson.Result) bool {
		c.places = appendNew(c.places, keep(l.Get("path").String()))
		return true
	})
	final := status == "completed" || status == "failed"
	var texts []string
	u.Get("content").ForEach(func(_, part gjson.Result) bool {
		switch part.Get("type").Str {
		case "diff":
			c.diffs = appendNew(c.diffs, keep(part.Get("path").String()))
		case "content":
			if part.Get("content.type").Str == "text" {
				texts = append(texts, part.Get("content.text").String())
			}
		}
		return true
	})
	if final || status == "in_progress" && !c.ran {
		out := joinLines(texts)
		if out == "" {
			out = grokRawText(u.Get("rawOutput"))
		}
		if out != "" || final && !c.ran {
			t.Output = keep(out)
		}
	}
	if final {
		c.ran, c.failed = true, status == "failed"
		c.exit(u.Get("rawOutput"))
		t.Failed = c.failed || c.ended
	}
}

// call begins a call.
func (p *grokParser) call(id, name string, at time.Time) *grokCall {
	id = keep(id)
	c := &grokCall{kind: grokKind(name)}
	c.turn = p.add(session.Turn{Role: session.Tool, Tool: keep(name), Ref: id, Time: at})
	p.calls = append(p.calls, c)
	if id != "" {
		p.byID[id] = c
	}
	return c
}

// arguments takes what tells the files of a call.
func (c *grokCall) arguments(in gjson.Result) {
	for _, key := range []string{"file_path", "target_file", "path", "notebook_path"} {
		if v := in.Get(key); v.Type == gjson.String && v.Str != "" {
			c.args = []string{keep(v.Str)}
			break
		}
	}
	if v := in.Get("command"); v.Type == gjson.String {
		c.command = keep(v.Str)
	}
	for _, v := range []gjson.Result{in, in.Get("patch"), in.Get("input")} {
		if v.Type == gjson.String && strings.Contains(v.Str, "*** Begin Patch") {
			c.diffs = patchFiles(keep(v.Str))
		}
	}
}

// exit reads how a command ended.
func (c *grokCall) exit(out gjson.Result) {
	for _, key := range []string{"exit_code", "exitCode"} {
		if v := out.Get(key); v.Type == gjson.Number {
			c.ended = v.Int() != 0
			c.failed = false // it ran
		}
	}
	if out.Get("timed_out").Bool() {
		c.ended, c.failed = true, false
	}
}

// settle decides what a call changed and what it only read, now that its result is
// known. A diff's path beats a location's, which may be relative to the same folder.
func (c *grokCall) settle(t *session.Turn) {
	files := c.diffs
	for _, more := range [][]string{c.places, c.args} {
		if len(files) == 0 {
			files = more
		}
	}
	switch {
	case c.failed:
	case c.kind == "read":
		t.Reads = files
	case !c.ran:
	case c.kind == "edit" || c.kind == "delete" || c.kind == "move" || len(c.diffs) > 0:
		t.Edits = files
	case c.kind == "execute":
		t.Edits = shellWrites(c.command)
	}
}

// grokInput is a call's arguments as text. What updates repeat of them has the
// name of Grok's own type added.
func grokInput(in gjson.Result) string {
	if !in.IsObject() || !in.Get("variant").Exists() {
		return RenderInput(in)
	}
	var b strings.Builder
	b.WriteByte('{')
	in.ForEach(func(k, v gjson.Result) bool {
		if k.Str != "variant" {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			b.WriteString(k.Raw + ":" + v.Raw)
		}
		return true
	})
	b.WriteByte('}')
	return RenderInput(gjson.Parse(b.String()))
}

// grokToolName is a tool's name: as the update says, or its title where that is
// a name, else its kind.
func grokToolName(u gjson.Result) string {
	if name := u.Get(`_meta.x\.ai/tool.name`).Str; name != "" {
		return name
	}
	title := u.Get("title").String()
	if title != "" && !strings.ContainsAny(title, " \t\r\n`/") {
		return title
	}
	if kind := u.Get("kind").Str; kind != "" {
		return kind
	}
	return "tool"
}

// grokKind tells a call's kind by its tool, where no update says it.
func grokKind(tool string) string {
	switch {
	case tool == "read_file" || tool == "read":
		return "read"
	case slices.Contains([]string{"write", "write_file", "search_replace", "edit", "apply_patch", "delete_file"}, tool):
		return "edit"
	case slices.Contains([]string{"run_terminal_cmd", "run_terminal_command", "bash", "execute"}, tool):
		return "execute"
	}
	return ""
}

// grokRawText is the text of a raw output: the first of the members that hold one,
// at most one level down.
func grokRawText(out gjson.Result) string {
	if out.Type == gjson.String {
		return out.Str
	}
	keys := []string{"output", "stdout", "content", "text", "result", "error", "message"}
	for _, key := range keys {
		if v := out.Get(key); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	found := ""
	out.ForEach(func(_, v gjson.Result) bool {
		for _, key := range keys {
			if w := v.Get(key); found == "" && v.IsObject() && w.Type == gjson.String {
				found = w.Str
			}
		}
		return found == ""
	})
	return found
}
