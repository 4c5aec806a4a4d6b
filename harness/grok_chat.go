package harness

import (
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// grokRows is what the parser remembers while it reads chat_history.jsonl.
type grokRows struct {
	marked bool  // a prompt_index was seen
	turns  []int // for each item, the number of turns before it
	loose  []int // places of the person's turns that have no prompt_index and need none only in old files
}

// before is the number of turns made from the first n items.
func (g *grokRows) before(n int) int {
	if n < len(g.turns) {
		return g.turns[n]
	}
	if len(g.turns) == 0 {
		return 0
	}
	return g.turns[len(g.turns)-1]
}

// item takes a line of chat_history.jsonl, of either version. There are no times in it.
func (p *grokParser) item(r gjson.Result) {
	p.row.turns = append(p.row.turns, len(p.b.turns))
	kind := r.Get("type").Str
	if kind == "" {
		kind = r.Get("role").Str
	}
	switch kind {
	case "system":
	case "user":
		p.userItem(r)
	case "assistant":
		p.b.model(r.Get("model_id").Str)
		p.thoughts.add(r.Get("reasoning_content").String())
		texts, _ := textParts(r.Get("content"))
		if text := strings.TrimSpace(joinLines(texts)); text != "" {
			p.add(session.Turn{Role: session.Assistant, Text: keep(text)})
		}
		r.Get("tool_calls").ForEach(func(_, c gjson.Result) bool {
			if f := c.Get("function"); f.IsObject() {
				p.rowCall(c.Get("id").String(), f)
			} else {
				p.rowCall(c.Get("id").String(), c)
			}
			return true
		})
	case "reasoning":
		for _, list := range []string{"summary", "content"} {
			texts, _ := textParts(r.Get(list))
			p.thoughts.add(joinLines(texts))
		}
	case "tool_result", "tool":
		p.rowResult(r)
	case "backend_tool_call":
		k := r.Get("kind")
		c := p.call(k.Get("id").String(), k.Get("tool_type").String(), p.lastTime())
		c.ran = true
		p.b.turns[c.turn].Input = keep(grokBackendInput(k))
	case "":
		p.b.unknown("(no type)")
	default:
		p.b.unknown(kind)
	}
}

// userItem takes a message in the person's name. Since prompts are numbered, one
// without a number is the person's only when it was typed while the model worked;
// before, all but what Grok marked or wrapped was.
func (p *grokParser) userItem(r gjson.Result) {
	reason, numbered := r.Get("synthetic_reason").Str, r.Get("prompt_index").Type == gjson.Number
	p.row.marked = p.row.marked || numbered
	if reason != "" && reason != "interjection" {
		return
	}
	texts, images := textParts(r.Get("content"))
	text := grokTyped(joinLines(texts))
	if text == "" && images > 0 {
		text = imageOnly
	}
	if text == "" {
		return
	}
	at := p.add(session.Turn{Role: session.User, Text: keep(text)})
	if !numbered && reason == "" {
		p.row.loose = append(p.row.loose, at)
	}
}

// dropUnmarked removes messages without a number from a history whose prompts are
// numbered: Grok gave them in the person's name.
func (p *grokParser) dropUnmarked() {
	if !p.row.marked || len(p.row.loose) == 0 {
		return
	}
	gone := map[int]bool{}
	for _, at := range p.row.loose {
		gone[at] = true
	}
	places := make([]int, len(p.b.turns)+1)
	kept := 0
	for i, t := range p.b.turns {
		places[i] = kept
		if !gone[i] {
			p.b.turns[kept] = t
			kept++
		}
	}
	places[len(p.b.turns)] = kept
	p.b.turns = p.b.turns[:kept]
	for _, c := range p.calls {
		c.turn = places[c.turn]
	}
	for i, n := range p.row.turns {
		p.row.turns[i] = places[n]
	}
}

// rowCall takes a call whose arguments stand as JSON in a string.
func (p *grokParser) rowCall(id string, f gjson.Result) {
	args := unquoted(f.Get("arguments"))
	c := p.call(id, f.Get("name").String(), p.lastTime())
	p.b.turns[c.turn].Input = keep(RenderInput(args))
	c.arguments(args)
}

func (p *grokParser) rowResult(r gjson.Result) {
	id := r.Get("tool_call_id").String()
	c := p.byID[id]
	if c == nil { // its call was compacted away
		c = p.call(id, "tool", p.lastTime())
	}
	texts, _ := textParts(r.Get("content"))
	p.b.turns[c.turn].Output = keep(joinLines(texts))
	c.ran = true
}

// grokBackendInput is what a tool that runs at xAI was asked: the members of its
// action that are text.
func grokBackendInput(k gjson.Result) string {
	var lines []string
	for _, v := range []gjson.Result{k.Get("action"), k} {
		for _, key := range []string{"query", "url", "pattern", "code", "input", "arguments"} {
			if s := v.Get(key); s.Type == gjson.String && s.Str != "" {
				lines = append(lines, s.Str)
			}
		}
	}
	return strings.Join(lines, "\n")
}
