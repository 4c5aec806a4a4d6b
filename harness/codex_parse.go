package harness

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// codexParser reads one rollout of any shape.
type codexParser struct {
	b     builder
	marks []codexMark // one for each turn in b.turns
	src   Source

	whole   bool     // one JSON document over many lines, collected in doc
	started bool     // the shape of the file is known
	doc     document // a whole one

	own  string          // id of this session: the first session_meta's
	kin  map[string]bool // ids of sessions whose history stands in this file
	fork codexFork

	cwd      string
	thoughts thoughts
	echoes   codexEchoes
	calls    map[string]int // call id → place of its turn
	open     []int          // calls that have no output yet
	exec     int            // place of the last code-mode script of this exchange, or -1
	undo     []codexUndo
	rendered bool // the "user" shows the model another session's transcript
}

// A codexMark is what the parser remembers about a turn besides the turn.
type codexMark struct {
	hash   uint64 // of its words, see codexEchoes
	source codexSource
	sure   bool // user turns: known to come from a person
	aside  bool // user turns that are no message to the model: "!cmd", "/review"

	refused bool     // tool turns: never ran
	done    bool     // tool turns: has an output
	told    bool     // tool turns: the harness itself listed what changed, in changes
	changes []string // authoritative edits
	patch   []string // files of an apply_patch envelope in the input
	shell   []string // files a shell script writes, by its text
}

// A codexUndo is a rollback of the last n messages before the turn at place at.
type codexUndo struct{ at, n int }

func newCodexParser(src Source) *codexParser {
	p := &codexParser{src: src, kin: map[string]bool{}, calls: map[string]int{}, exec: -1}
	p.b.meta.Harness = codexName
	return p
}

// Line implements [Parser].
func (p *codexParser) Line(line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		return
	}
	if !p.started || p.whole {
		if p.collect(line, trimmed) {
			return
		}
	}
	p.b.objects(trimmed, p.record)
}

// collect decides between lines and a whole document, and takes the line if it is
// part of the latter. A document is printed over many lines, its inner ones indented;
// a log whose first line was torn shows itself by the next one that is an object.
func (p *codexParser) collect(line, trimmed []byte) bool {
	if line[0] == '{' && startsWithObject(trimmed) {
		p.started = true
		if p.whole {
			p.whole = false
			p.b.meta.BadLines++ // what was collected is no document
			p.doc = document{}
		}
		return false
	}
	if !p.whole {
		p.whole = trimmed[0] == '{'
		p.started = true
		if !p.whole {
			return false
		}
	}
	p.doc.add(line)
	return true
}

func startsWithObject(b []byte) bool {
	end := objectEnd(b)
	return end > 0 && !tooDeep(b[:end]) && gjson.ValidBytes(b[:end])
}

// A codexRecord is one line of the current shape.
type codexRecord struct {
	kind    string
	time    time.Time
	ordinal int64 // -1 where there is none
	payload gjson.Result
}

func (p *codexParser) record(r gjson.Result) {
	rec := codexRecord{ordinal: -1}
	r.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "timestamp":
			rec.time = isoTime(v.Str)
		case "ordinal":
			rec.ordinal = v.Int()
		case "type":
			rec.kind = v.Str
		case "payload":
			rec.payload = v
		}
		return true
	})
	if !rec.payload.IsObject() {
		p.bare(r, rec)
		return
	}
	p.b.at(rec.time)
	p.fork.see(rec, len(p.b.turns))
	switch rec.kind {
	case "session_meta":
		p.sessionMeta(rec)
	case "response_item":
		p.item(rec.payload, rec.time)
	case "event_msg":
		p.event(rec)
	case "turn_context":
		p.fork.turn(rec.payload.Get("turn_id").Str, false, p.b.turns)
		p.setDir(rec.payload.Get("cwd").Str)
		p.b.model(rec.payload.Get("model").Str)
	case "compacted":
		p.compacted(rec.payload.Get("message").String(), rec.time)
	case "inter_agent_communication":
		p.mail(rec.payload.Get("content").String(), rec.time)
	case "world_state", "inter_agent_communication_metadata", "token_usage_record":
	default:
		p.b.unknown(rec.kind)
	}
}

// bare takes a record without a payload: the header of an early rollout, one of its
// items, or a whole document that stands on one line.
func (p *codexParser) bare(r gjson.Result, rec codexRecord) {
	switch {
	case r.Get("items").IsArray() && r.Get("session").IsObject():
		p.document(r)
	case r.Get("record_type").Exists():
	case rec.kind == "" && codexHeader(r):
		p.b.at(rec.time)
		p.header(r)
	case rec.kind == "":
		p.b.unknown("(no type)")
	default:
		p.b.at(rec.time)
		p.item(r, rec.time)
	}
}

// header takes the facts of an early rollout's header.
func (p *codexParser) header(r gjson.Result) {
	if p.own == "" {
		p.own = keep(r.Get("id").String())
	}
	p.git(r.Get("git"))
}

func (p *codexParser) git(g gjson.Result) {
	p.b.branch(g.Get("branch").String())
	m := &p.b.meta
	if m.Commit == "" {
		m.Commit = keep(g.Get("commit_hash").String())
	}
	if url := g.Get("repository_url").String(); url != "" {
		m.Repo = keep(RepoName(url))
	}
}

func (p *codexParser) setDir(d string) {
	if d = localPath(d); d != "" {
		p.cwd = keep(d)
		p.b.dir(p.cwd)
	}
}

// add appends a turn; what the model thought before it becomes part of it.
func (p *codexParser) add(t session.Turn, m codexMark) int {
	if t.Role == session.User || t.Role == session.Summary {
		p.leftover(t.Time)
	} else {
		p.thoughts.led(&t)
	}
	p.marks = append(p.marks, m)
	return p.b.add(t)
}

// leftover keeps thoughts that led to no word and no call, since the person cut in:
// with what the model did just before, or in a turn of their own.
func (p *codexParser) leftover(t time.Time) {
	if p.thoughts.after(p.b.turns); len(p.thoughts) > 0 {
		p.add(session.Turn{Role: session.Assistant, Time: t}, codexMark{})
	}
}

// Finish implements [Parser].
func (p *codexParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.whole {
		p.finishDocument()
	}
	p.leftover(time.Time{})
	p.dropDoubtful()
	p.applyUndo()
	p.settleFiles()
	p.b.meta.NativeID = p.own
	if p.own == "" {
		p.b.meta.NativeID = codexNameID(p.src.Path)
	}
	p.b.inherited = p.fork.own
	meta, turns := p.b.finish()
	if p.rendered { // its first "request" is a transcript of something else
		meta.Opening = ""
		if meta.TitleSource == session.TitleOpening {
			meta.Title, meta.TitleSource = "", ""
		}
	}
	return meta, turns
}

// dropDoubtful removes what only looks like a person's message. Where the screen's
// events are recorded they say what a person typed, and a "user" item without one
// is context in a form we do not know. Copied history may lack its events, so the
// two parts of a fork are judged on their own; the last word of a file may have
// lost its event to a crash.
func (p *codexParser) dropDoubtful() {
	var witnessed [2]bool
	part := func(i int) int {
		if i < p.fork.own {
			return 0
		}
		return 1
	}
	for i, m := range p.marks {
		if m.sure && m.source == codexEvent {
			witnessed[part(i)] = true
		}
	}
	kept := 0
	places := make([]int, len(p.marks)+1)
	for i, m := range p.marks {
		places[i] = kept
		t := &p.b.turns[i]
		if t.Role == session.User && !m.sure && witnessed[part(i)] && i < len(p.marks)-1 {
			continue
		}
		p.b.turns[kept], p.marks[kept] = *t, m
		kept++
	}
	places[len(p.marks)] = kept
	p.b.turns, p.marks = p.b.turns[:kept], p.marks[:kept]
	p.fork.own = places[min(p.fork.own, len(places)-1)]
	for i := range p.undo {
		p.undo[i].at = places[p.undo[i].at]
	}
}

// applyUndo marks what "thread_rolled_back" took out of the conversation: the last
// n messages of the person before it, and everything after the first of them.
func (p *codexParser) applyUndo() {
	for _, u := range p.undo {
		first := -1
		for i := u.at - 1; i >= 0 && u.n > 0; i-- {
			if t := &p.b.turns[i]; t.Role == session.User && !t.Undone && !p.marks[i].aside {
				first = i
				u.n--
			}
		}
		for i := first; i >= 0 && i < u.at; i++ {
			p.b.turns[i].Undone = true
		}
	}
}

// codexNameID is the thread's id in a rollout's file name, or the name itself where
// there is none.
func codexNameID(file string) string {
	name := baseName(file)
	for _, ext := range []string{".zst", ".jsonl", ".json"} {
		name = strings.TrimSuffix(name, ext)
	}
	if len(name) > 36 {
		if id := name[len(name)-36:]; strings.Count(id, "-") == 4 && strings.HasPrefix(name, "rollout-") {
			return id
		}
	}
	return name
}
