package harness

import (
	"bytes"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// geminiParser reads one session: a document, a log, or several of them one after
// the other.
type geminiParser struct {
	b   builder
	src Source

	messages []*geminiMessage          // all there ever were, in the order they first came
	byID     map[string]*geminiMessage // by every id they were written under
	live     []*geminiMessage          // those the model still sees

	doc   document // a document over several lines, as far as it was read
	inDoc bool

	hash     string           // of the working folder
	folders  []string         // working folders as the facts name them
	told     []string         // working folders as the model was told
	started  time.Time        // of the session itself, by its facts
	imported bool             // begun from another session's file
	lists    int              // how many lists replaced the live messages
	held     int              // how many messages were there when the facts were written anew, and no list since
	calls    map[string]int   // call id → its turn, while turns are made
	open     map[int]bool     // tool turns that have no result yet
	unnamed  map[string][]int // tool → its turns without an id, for results without one
	answered map[string]bool  // call ids whose result stands with the call
	aside    map[int]bool     // user turns that are commands
}

func newGeminiParser(src Source) *geminiParser {
	p := &geminiParser{src: src, byID: map[string]*geminiMessage{}, answered: map[string]bool{}}
	p.b.meta.Harness = geminiName
	return p
}

// Line implements [Parser].
func (p *geminiParser) Line(line []byte) {
	line = bytes.TrimRight(bytes.TrimPrefix(line, bom), " \t\r\n")
	if len(line) > 0 && !p.collect(line) {
		p.b.objects(line, p.record)
	}
}

// collect takes the lines of a printed document: from one that opens an object and
// does not close it, to the closing brace at the left margin. A record at the margin
// shows that what was collected is a torn line and no document.
func (p *geminiParser) collect(line []byte) bool {
	switch {
	case line[0] == '{' && (len(line) > 1 || p.inDoc) && startsWithObject(line):
		if p.inDoc {
			p.endDocument()
		}
		return false
	case p.inDoc && len(line) == 1 && line[0] == '}':
		p.doc.add(line)
		p.endDocument()
		return true
	case p.inDoc:
		p.doc.add(line)
		return true
	case line[0] == '{' && (len(line) == 1 || len(p.messages) == 0 && p.b.meta.NativeID == ""):
		p.inDoc = true
		p.doc.add(line)
		return true
	}
	return false
}

// endDocument reads the document that was collected. Of one that was cut or damaged
// it takes the facts and the messages before the damage.
func (p *geminiParser) endDocument() {
	r, whole := p.doc.value()
	p.doc, p.inDoc = document{}, false
	if !whole {
		p.b.meta.BadLines++
	}
	if geminiFacts(r) {
		p.session(r)
	}
}

// record takes one line. The order of the tests is the harness's own.
func (p *geminiParser) record(r gjson.Result) {
	rewind, id, set := r.Get("$rewindTo"), r.Get("id"), r.Get("$set")
	switch {
	case rewind.Type == gjson.String:
		p.rewind(rewind.Str)
	case id.Type == gjson.String:
		p.upsert(r)
	case set.IsObject():
		p.facts(set)
		if list := set.Get("messages"); list.IsArray() {
			p.replace(list)
		}
	case r.Get("sessionId").Type == gjson.String:
		p.session(r)
	case r.Get("sessdex_part").Exists():
	default:
		p.b.unknown("(no id)")
	}
}

// session takes a session's facts and, in a document, its messages. Where several
// files make one session the next one's messages follow.
func (p *geminiParser) session(r gjson.Result) {
	p.facts(r)
	p.held = len(p.messages)
	eachMember(r.Get("messages"), func(m gjson.Result) { p.upsert(m) })
}

// facts takes what a record says about the session as a whole.
func (p *geminiParser) facts(r gjson.Result) {
	m := &p.b.meta
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "sessionId":
			if m.NativeID == "" {
				m.NativeID = keep(v.String())
			}
		case "projectHash":
			p.hash = keep(v.String())
		case "startTime":
			if p.started.IsZero() {
				p.started = isoTime(v.Str)
			}
		case "summary":
			if s := strings.TrimSpace(v.String()); s != "" {
				p.b.given = keep(s)
			}
		case "kind":
			m.Subagent = m.Subagent || v.Str == "subagent"
		case "directories":
			v.ForEach(func(_, d gjson.Result) bool {
				p.folders = appendNew(p.folders, keep(d.String()))
				return true
			})
		}
		return true
	})
}

// Finish implements [Parser].
func (p *geminiParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.inDoc {
		p.endDocument()
	}
	p.identify()
	p.turns()
	p.b.at(p.started)
	p.settleDir()
	p.b.inherit(p.src)
	p.b.command = func(i int) bool { return p.aside[i] }
	meta, turns := p.b.finish()
	if meta.Opening == "" { // all that was said was taken back: it is the only request there is
		for t := range turns {
			if t.Role == session.User {
				p.b.meta.Opening = t.Text
				return p.b.finish()
			}
		}
	}
	return meta, turns
}

// identify settles whose transcript this is, and who started it.
func (p *geminiParser) identify() {
	m := &p.b.meta
	file := strings.ReplaceAll(p.src.Path, `\`, "/")
	parent := path.Base(path.Dir(file))
	nested := path.Base(path.Dir(path.Dir(file))) == geminiChats && parent != geminiChats
	if nested {
		m.Subagent, m.Parent = true, parent
	}
	if m.NativeID == "" && file != "" {
		m.NativeID = strings.TrimSuffix(strings.TrimSuffix(path.Base(file), ".jsonl"), ".json")
	}
	if m.ForkedFrom != "" && p.src.ForkedFrom != "" {
		m.ForkedFrom = p.src.ForkedFrom // in full
	}
}
