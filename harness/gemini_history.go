package harness

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// A geminiMessage is one message in its newest form.
type geminiMessage struct {
	geminiContent
	ids       []string // what it was written under
	at        int      // its place in geminiParser.messages
	seen      int      // the last list it stood in, see replace
	inherited bool     // copied from the session that this one was begun from
	undone    bool     // taken back by a rewind, or by the harness after a failed request
	copied    bool     // a copy of an earlier message under another id: gives no turns
}

// upsert takes a message in full. The newest form counts, in the place of the first.
func (p *geminiParser) upsert(r gjson.Result) *geminiMessage {
	id := keep(r.Get("id").String())
	m := p.byID[id]
	if id == "" || m == nil {
		m = &geminiMessage{at: len(p.messages), ids: []string{id}}
		p.messages = append(p.messages, m)
		p.live = append(p.live, m)
		if id != "" {
			p.byID[id] = m
		}
	} else if m.undone {
		m.undone = false
		p.live = append(p.live, m)
	}
	fresh := p.read(r, id)
	if fresh.key == m.key && m.key != "" {
		m.fill(&fresh) // written again, perhaps with the time of that and in fewer words
		return m
	}
	fresh.fill(&m.geminiContent)
	m.geminiContent = fresh
	m.inherited = p.imported && fresh.time.Before(p.started)
	return m
}

// rewind takes back a message and all that follow it; an id that is not there takes
// back everything.
func (p *geminiParser) rewind(id string) {
	m := p.byID[id]
	from := len(p.live)
	for from > 0 && p.live[from-1] != m {
		from--
	}
	p.takeBack(max(from-1, 0))
}

// takeBack cuts the live messages at place from.
func (p *geminiParser) takeBack(from int) {
	for _, m := range p.live[from:] {
		m.undone = true
	}
	clear(p.live[from:])
	p.live = p.live[:from]
}

// replace takes a list that stands for all live messages: what the model sees from
// here on. It is written when a request failed or was broken off, which shortens the
// history; when the history was compressed into a summary; when outputs in it were
// masked; and when a session begins or goes on. Some of these write every message
// under a new id, first as a record and then in the list. The list that follows the
// facts takes nothing back that stood before them: going on begins with an empty one.
func (p *geminiParser) replace(list gjson.Result) {
	before := p.live
	p.live = nil
	p.lists++
	first := len(p.messages)
	var now []*geminiMessage
	summary := false
	list.ForEach(func(_, r gjson.Result) bool {
		if r.Get("id").Type != gjson.String || !gjson.Valid(r.Raw) {
			return true
		}
		m := p.upsert(r)
		if m.seen != p.lists {
			m.seen = p.lists
			now = append(now, m)
		}
		summary = summary || m.role == session.Summary
		return true
	})
	var gone []*geminiMessage
	for _, m := range before {
		if m.seen != p.lists {
			gone = append(gone, m)
		}
	}
	gone = p.fold(gone, now)
	p.live = now

	// What is left of the gone ones: behind the last message that stayed they were
	// taken back, before it a compression left them out.
	last := -1
	for _, m := range now {
		if m.at < first && m.role != "" && m.role != session.Summary {
			last = max(last, m.at)
		}
	}
	for _, m := range gone {
		m.undone = m.at > last && !summary && m.at >= p.held
	}
	p.held = 0
}

// fold finds the messages that are copies of gone ones. The gone one is the message:
// it has the time when it was said and what the harness knew of its calls. It returns
// those that were not copied.
func (p *geminiParser) fold(gone, now []*geminiMessage) []*geminiMessage {
	places := map[string][]int{}
	for i, m := range gone {
		if m.key != "" {
			places[m.key] = append(places[m.key], i)
		}
	}
	back := make([]bool, len(gone))
	// take finds the first gone message with that key that came before m.
	take := func(key string, m *geminiMessage) *geminiMessage {
		list := places[key]
		if len(list) == 0 || gone[list[0]].at >= m.at {
			return nil
		}
		back[list[0]] = true
		places[key] = list[1:]
		return gone[list[0]]
	}
	for i, m := range now {
		old := take(m.key, m)
		if old == nil && m.role == session.User && len(m.parts) > 1 {
			old = p.foldParts(m, take)
		}
		if old == nil {
			continue
		}
		m.copied = true
		old.undone = false
		old.seen = p.lists
		old.fill(&m.geminiContent)
		for _, id := range m.ids {
			p.byID[id] = old
		}
		old.ids = append(old.ids, m.ids...)
		m.geminiContent = geminiContent{}
		now[i] = old
	}
	left := gone[:0]
	for i, m := range gone {
		if !back[i] {
			left = append(left, m)
		}
	}
	return left
}

// foldParts takes apart a copy in which several messages of a person stand as one:
// between them was no answer. Parts that are no copy stay.
func (p *geminiParser) foldParts(m *geminiMessage, take func(string, *geminiMessage) *geminiMessage) *geminiMessage {
	var last *geminiMessage
	var rest []string
	for _, part := range m.parts {
		if old := take(geminiKey(session.User, part, nil), m); old != nil {
			old.seen, old.undone = p.lists, false
			last = old
		} else {
			rest = append(rest, part)
		}
	}
	if last == nil || len(rest) == 0 {
		return last
	}
	m.parts = rest
	m.setText(strings.Join(rest, "\n"))
	return nil
}

// turns makes the turns of all messages. Those that were copied from another session
// come first.
func (p *geminiParser) turns() {
	p.calls, p.open, p.unnamed, p.aside = map[string]int{}, map[int]bool{}, map[string][]int{}, map[int]bool{}
	own := false
	for _, m := range p.messages {
		if m.copied {
			continue
		}
		for _, res := range m.results {
			p.answer(res)
		}
		for _, t := range m.turns {
			if t.Role == session.Tool && p.repeated(t) {
				continue
			}
			t.Undone = m.undone
			n := p.b.add(t)
			switch {
			case t.Role == session.Tool:
				p.called(n, m.unanswered && t.Output == "")
			case t.Role == session.User && m.aside:
				p.aside[n] = true
			}
			p.b.at(p.startOf(m))
			if own = own || !m.inherited; !own {
				p.b.inherited = n + 1
			}
		}
		p.b.model(m.model)
	}
	for n := range p.open { // never came back: nothing tells that it did anything
		p.b.turns[n].Edits, p.b.turns[n].Reads = nil, nil
	}
}

// startOf is the time of a message for the session's start: none, where the message
// is another session's.
func (p *geminiParser) startOf(m *geminiMessage) time.Time {
	if m.inherited {
		return time.Time{}
	}
	return m.time
}
