package harness

import (
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// finishDocument reads a collected document. One that was cut off gives the items
// that are whole.
func (p *codexParser) finishDocument() {
	doc, whole := p.doc.value()
	if !whole {
		p.b.meta.BadLines++
	}
	p.document(doc)
	p.doc = document{}
}

// document takes the one JSON document of the TypeScript CLI. Its items are those
// of the Responses API or, with other providers, of chat completions.
func (p *codexParser) document(r gjson.Result) {
	s := r.Get("session")
	p.b.at(isoTime(s.Get("timestamp").Str))
	p.header(s)
	eachMember(r.Get("items"), func(item gjson.Result) {
		switch {
		case item.Get("type").Exists():
			p.item(item, isoTime(item.Get("timestamp").Str))
		case item.Get("role").Exists():
			p.chat(item)
		}
	})
}

// chat takes a message of the chat completions kind.
func (p *codexParser) chat(m gjson.Result) {
	t := isoTime(m.Get("timestamp").Str)
	texts, images := textParts(m.Get("content"))
	switch m.Get("role").Str {
	case "user":
		p.userItem(m, texts, images, t)
	case "assistant":
		p.reasoning(codexItem, m.Get("reasoning"), m.Get("reasoning_content"))
		p.says(codexItem, m.Get("id").Str, strings.Join(texts, "\n"), t)
		m.Get("tool_calls").ForEach(func(_, c gjson.Result) bool {
			name := c.Get("function.name").Str
			in := p.functionInput(name, c.Get("function.arguments"))
			p.call(codexItem, c.Get("id").Str, session.Turn{Tool: keep(name), Input: keep(in.text), Time: t},
				codexMark{patch: p.resolveAll(in.patch, in.dir), shell: p.resolveAll(in.shell, in.dir)})
			return true
		})
	case "tool":
		p.output(codexItem, m.Get("tool_call_id").Str, codexOutput(strings.Join(texts, "\n")), t)
	}
}
