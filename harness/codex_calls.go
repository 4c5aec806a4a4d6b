package harness

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// call adds the turn of a tool call, or completes the one that an event of the same
// call has made already, and returns its place.
func (p *codexParser) call(from codexSource, id string, t session.Turn, m codexMark) int {
	t.Role, t.Ref, m.source = session.Tool, keep(id), from
	if i, ok := p.calls[id]; ok && id != "" {
		if old, mark := &p.b.turns[i], &p.marks[i]; from == codexItem && mark.source == codexEvent {
			old.Tool, old.Input, mark.source = t.Tool, t.Input, from
			mark.patch, mark.shell = m.patch, m.shell
		}
		return i
	}
	i := p.add(t, m)
	if id != "" {
		p.calls[t.Ref] = i
	}
	if !m.done {
		p.open = append(p.open, i)
	}
	return i
}

// output takes a call's result. The response item is what the model read, so it
// beats the event of the same call. A result whose call was lost is still kept.
func (p *codexParser) output(from codexSource, id string, o codexOut, t time.Time) int {
	i, ok := p.calls[id]
	if !ok || id == "" {
		i = p.call(from, id, session.Turn{Time: t}, codexMark{})
	}
	turn, m := &p.b.turns[i], &p.marks[i]
	if from == codexItem || !m.done || turn.Output == "" {
		if o.text != "" || from == codexItem {
			turn.Output = keep(o.text)
		}
	}
	turn.Failed = turn.Failed || o.failed
	m.refused = m.refused || o.refused
	m.done = true
	if len(p.open) > 64 { // only to keep the list short
		p.open = slices.DeleteFunc(p.open, func(i int) bool { return p.marks[i].done })
	}
	return i
}

// functionCall takes function_call and custom_tool_call.
func (p *codexParser) functionCall(r gjson.Result, t time.Time) {
	name, id := r.Get("name").Str, r.Get("call_id").Str
	if id == "" {
		id = r.Get("id").Str
	}
	var c codexInput
	if input := r.Get("input"); input.Exists() {
		c = codexCustomInput(name, input.String())
	} else {
		c = p.functionInput(name, r.Get("arguments"))
	}
	shown := name
	if space := r.Get("namespace").Str; space != "" {
		shown = space + "." + name
	}
	i := p.call(codexItem, id, session.Turn{Tool: keep(shown), Input: keep(c.text), Time: t},
		codexMark{patch: p.resolveAll(c.patch, c.dir), shell: p.resolveAll(c.shell, c.dir)})
	if name == "exec" && c.script {
		p.exec = i
	}
	if name == "view_image" {
		for _, f := range p.resolveAll([]string{c.path}, "") {
			p.b.turns[i].Reads = appendNew(p.b.turns[i].Reads, f)
		}
	}
}

func (p *codexParser) localShell(r gjson.Result, t time.Time) {
	a := r.Get("action")
	c := readCommand(a.Get("command"))
	dir := localPath(a.Get("working_directory").Str)
	p.call(codexItem, cmp.Or(r.Get("call_id").Str, r.Get("id").Str),
		session.Turn{Tool: "local_shell", Input: keep(c.text), Time: t},
		codexMark{patch: p.resolveAll(c.patch, dir), shell: p.resolveAll(c.shell, dir)})
}

// webSearch takes a search of the model's provider, which has no output of its own.
// Only newer items have an id, so the streams are told apart by what was looked for.
func (p *codexParser) webSearch(from codexSource, action gjson.Result, query, status string, t time.Time) {
	var parts []string
	for _, s := range []string{action.Get("query").Str, query, action.Get("url").Str, action.Get("pattern").Str} {
		if s != "" && !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	for _, q := range action.Get("queries").Array() {
		if !slices.Contains(parts, q.Str) {
			parts = append(parts, q.Str)
		}
	}
	text := strings.Join(parts, "\n")
	if _, fresh := p.echoes.fresh(codexSearch, from, text); fresh {
		p.call(from, "", session.Turn{Tool: "web_search", Input: keep(text), Failed: status == "failed", Time: t}, codexMark{done: true})
	}
}

// executed takes the event of a finished command.
func (p *codexParser) executed(id string, r gjson.Result, rec codexRecord) {
	if r.Get("source").Str == "user_shell" {
		return // "!cmd": the item has it
	}
	dir := localPath(r.Get("cwd").Str)
	status := r.Get("status").Str
	o := codexOut{
		text:    cmp.Or(r.Get("aggregated_output").String(), r.Get("stdout").String()+r.Get("stderr").String()),
		failed:  r.Get("exit_code").Int() != 0 || status == "failed" || status == "declined",
		refused: status == "declined",
	}
	i, ok := p.calls[id]
	switch {
	case ok:
		p.output(codexEvent, id, o, rec.time)
	case p.exec >= 0: // a command that a code-mode script ran: part of that call
		i = p.exec
	default:
		c := readCommand(r.Get("command"))
		i = p.call(codexEvent, id, session.Turn{Tool: "exec_command", Input: keep(c.text), Time: rec.time},
			codexMark{patch: p.resolveAll(c.patch, dir), shell: p.resolveAll(c.shell, dir)})
		p.output(codexEvent, id, o, rec.time)
	}
	r.Get("parsed_cmd").ForEach(func(_, cmd gjson.Result) bool {
		if file := cmd.Get("path").Str; cmd.Get("type").Str == "read" && file != "" && !o.failed {
			for _, f := range p.resolveAll([]string{file}, dir) {
				p.b.turns[i].Reads = appendNew(p.b.turns[i].Reads, f)
			}
		}
		return true
	})
}

// changed takes the harness's own list of what a patch did.
func (p *codexParser) changed(id string, r gjson.Result, success bool, rec codexRecord) {
	var files []string
	var diff strings.Builder
	r.Get("changes").ForEach(func(file, change gjson.Result) bool {
		files = append(files, keep(localPath(file.Str)))
		if to := change.Get("move_path").Str; to != "" {
			files = append(files, keep(localPath(to)))
		}
		diff.WriteString(change.Get("type").Str + " " + file.Str + "\n" +
			change.Get("unified_diff").String() + change.Get("content").String() + "\n")
		return true
	})
	i, ok := p.calls[id]
	switch {
	case ok:
	case p.exec >= 0:
		i = p.exec
	default:
		i = p.call(codexEvent, id, session.Turn{Tool: "apply_patch", Input: keep(strings.TrimSpace(diff.String())), Time: rec.time}, codexMark{})
		p.output(codexEvent, id, codexOut{text: r.Get("stdout").String() + r.Get("stderr").String()}, rec.time)
	}
	m := &p.marks[i]
	m.told = true
	if success {
		m.changes = session.Unique(m.changes, p.resolveAll(files, ""))
	} else if i != p.exec {
		p.b.turns[i].Failed = true
	}
}

// mcpEnd takes the older event of a finished call of an MCP tool.
func (p *codexParser) mcpEnd(r gjson.Result, rec codexRecord) {
	result := r.Get("result")
	ok := result.Get("Ok")
	texts, _ := textParts(ok.Get("content"))
	if e := result.Get("Err"); e.Exists() {
		texts = append(texts, e.String())
	}
	call := r.Get("invocation")
	p.toolItem(r.Get("call_id").Str, "mcp__"+call.Get("server").Str+"."+call.Get("tool").Str, call.Get("arguments"),
		joinLines(texts), result.Get("Err").Exists() || ok.Get("isError").Bool() || ok.Get("is_error").Bool(), rec)
}

func (p *codexParser) mcpItem(id string, item gjson.Result, rec codexRecord) {
	texts, _ := textParts(item.Get("result.content"))
	if e := item.Get("error.message").Str; e != "" {
		texts = append(texts, e)
	}
	p.toolItem(id, "mcp__"+item.Get("server").Str+"."+item.Get("tool").Str, item.Get("arguments"), joinLines(texts),
		item.Get("status").Str == "failed" || item.Get("result.isError").Bool(), rec)
}

// toolItem takes the event of a finished tool call. A script of code mode calls
// tools by itself; those are part of the script's call.
func (p *codexParser) toolItem(id, name string, args gjson.Result, text string, failed bool, rec codexRecord) {
	if _, ok := p.calls[id]; !ok {
		if p.exec >= 0 {
			return
		}
		p.call(codexEvent, id, session.Turn{Tool: keep(name), Input: keep(RenderInput(args)), Time: rec.time}, codexMark{})
	}
	p.output(codexEvent, id, codexOut{text: text, failed: failed}, rec.time)
}

// resolveAll makes paths absolute: a call's own folder, then the session's.
func (p *codexParser) resolveAll(files []string, dir string) []string {
	if dir = localPath(dir); dir != "" {
		dir = pathIn(p.cwd, dir)
	} else {
		dir = p.cwd
	}
	var out []string
	for _, f := range files {
		out = appendNew(out, pathIn(dir, f))
	}
	return out
}

// settleFiles decides what each call changed, now that all outputs are known. What
// the harness listed beats what the input asked for; a patch that failed changed
// nothing; a script that ended badly may still have written before.
func (p *codexParser) settleFiles() {
	for i := range p.marks {
		t, m := &p.b.turns[i], &p.marks[i]
		if t.Role != session.Tool {
			continue
		}
		applied := m.done && !m.refused && (!t.Failed || strings.Contains(t.Output, "Success. Updated the following files"))
		switch {
		case m.told:
			t.Edits = session.Unique(m.changes)
		case applied:
			t.Edits = m.patch
		}
		if m.done && !m.refused {
			for _, f := range m.shell {
				t.Edits = appendNew(t.Edits, f)
			}
		}
		if len(t.Edits) == 0 {
			t.Edits = nil
		}
		t.Reads = slices.DeleteFunc(t.Reads, func(f string) bool { return slices.Contains(t.Edits, f) })
		if len(t.Reads) == 0 {
			t.Reads = nil
		}
	}
}
