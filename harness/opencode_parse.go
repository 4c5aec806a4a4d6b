package harness

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// openCodeParser reads a canonical document or an export.
type openCodeParser struct {
	b     builder
	src   Source
	split openCodeSplitter

	info  gjson.Result // of the top-level object that is being read
	parts gjson.Result

	head  gjson.Result // the session's own record
	id    string       // its id, by its record or by the first message
	cwd   string       // working folder of the message before
	agent string       // that ran the first message

	cur    openCodeTurns      // the message that is being read
	marks  []openCodeMark     // one for each turn in b.turns
	begins map[string]int     // message id → turns before it
	times  map[string]float64 // message id → when it was created, ms
}

// An openCodeMark is what the parser remembers about a turn besides the turn.
type openCodeMark struct {
	message, part string // ids of what it was made of
	wordless      bool   // a person's, who typed a command or attached a file
}

func newOpenCodeParser(src Source) *openCodeParser {
	p := &openCodeParser{src: src, begins: map[string]int{}, times: map[string]float64{}, cur: openCodeTurns{said: -1}}
	p.b.meta.Harness = openCodeName
	p.split.begin = func() { p.info, p.parts = gjson.Result{}, gjson.Result{} }
	p.split.member = p.member
	p.split.element = func(raw []byte) {
		if r, ok := p.parse(raw); ok {
			p.message(r.Get("info"), r.Get("parts"))
		}
	}
	p.split.end = p.record
	p.split.lost = func() { p.b.meta.BadLines++ }
	return p
}

// Line implements [Parser].
func (p *openCodeParser) Line(line []byte) { p.split.line(line) }

// parse takes bytes that should be JSON.
func (p *openCodeParser) parse(raw []byte) (gjson.Result, bool) {
	if tooDeep(raw) || !gjson.ValidBytes(raw) {
		p.b.meta.BadLines++
		return gjson.Result{}, false
	}
	return gjson.ParseBytes(raw), true
}

func (p *openCodeParser) member(key string, raw []byte) {
	switch key {
	case "info":
		p.info, _ = p.parse(raw)
	case "parts":
		p.parts, _ = p.parse(raw)
	case openCodeUnreadable: // a file or row that held no JSON
		p.b.meta.BadLines++
	}
}

// record takes a top-level object whose messages, if it has any, were taken before.
func (p *openCodeParser) record() {
	switch {
	case !p.info.IsObject():
	case openCodeRole(p.info) != "" || p.parts.Exists():
		p.message(p.info, p.parts)
	case strings.HasPrefix(p.info.Get("id").Str, "ses_"):
		p.head = p.info
	}
	p.info, p.parts = gjson.Result{}, gjson.Result{}
}

// message takes a message with its parts. A long one comes in several pieces, each
// with the same info.
func (p *openCodeParser) message(info, parts gjson.Result) {
	role := openCodeRole(info)
	if role == "" {
		p.b.unknown("message/" + info.Get("role").String())
		return
	}
	id := info.Get("id").Str
	if id == "" || id != p.cur.id {
		if _, again := p.begins[id]; again {
			return // exports that were appended to each other
		}
		p.endMessage()
		p.beginMessage(role, keep(id), info)
	}
	if inline := info.Get("parts"); inline.IsArray() {
		parts = inline // the first versions
	}
	parts.ForEach(func(_, part gjson.Result) bool {
		p.part(part)
		return true
	})
}

func (p *openCodeParser) beginMessage(role, id string, info gjson.Result) {
	old := info.Get("metadata")
	created := info.Get("time.created")
	if !created.Exists() {
		created = old.Get("time.created")
	}
	at := milliTime(created)
	p.cur = openCodeTurns{id: id, role: role, time: at, said: -1, begin: len(p.b.turns), first: len(p.b.turns), summary: info.Get("summary").Type == gjson.True,
		tools: old.Get("tool")}
	if id != "" {
		p.begins[id], p.times[id] = len(p.b.turns), created.Num
	}
	p.b.at(at)
	if p.id == "" {
		p.id = keep(openCodeSessionID(info))
	}
	if p.agent == "" {
		p.agent = keep(info.Get("agent").Str)
	}
	if role == "assistant" {
		from := info
		if a := old.Get("assistant"); a.Exists() {
			from = a
		}
		p.b.model(from.Get("modelID").Str)
		if cwd := keep(from.Get("path.cwd").Str); cwd != "" {
			p.cwd = cwd
			p.b.meta.Dirs = appendNew(p.b.meta.Dirs, cwd)
		}
	}
}

// add appends a turn of the current message; part is the id of what began it.
func (p *openCodeParser) add(t session.Turn, part string) int {
	p.marks = append(p.marks, openCodeMark{message: p.cur.id, part: part})
	return p.b.add(t)
}

// Finish implements [Parser].
func (p *openCodeParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	p.split.finish()
	p.endMessage()
	m, head := &p.b.meta, p.head
	m.NativeID = p.id
	if id := head.Get("id").Str; id != "" {
		m.NativeID = keep(id)
	}
	m.Version = keep(head.Get("version").Str)
	if title := head.Get("title").Str; !openCodePlaceholder(title) {
		p.b.given = title
	}
	if created := milliTime(head.Get("time.created")); !created.IsZero() {
		m.Start = created // a fork's copied messages are older than it
	}
	p.settleDirs()
	if parent := head.Get("parentID").Str; parent != "" {
		m.Parent, m.Subagent, m.Agent = keep(parent), true, p.agentName()
	}
	p.undo(head.Get("revert.messageID").Str, head.Get("revert.partID").Str)
	p.b.inherited = p.copied()
	p.b.inherit(p.src)
	p.b.command = func(i int) bool { return p.marks[i].wordless }
	return p.b.finish()
}

// settleDirs puts the session's folder before those of its messages. The oldest
// sessions know only that of their project, which is "/" outside of git.
func (p *openCodeParser) settleDirs() {
	m := &p.b.meta
	dir := p.head.Get("directory").Str
	if dir == "" && len(m.Dirs) == 0 {
		dir = p.head.Get("worktree").Str
	}
	if dir != "" && (dir != "/" || len(m.Dirs) == 0) {
		m.Dirs = session.Unique([]string{keep(dir)}, m.Dirs)
	}
	if len(m.Dirs) > 0 {
		m.Dir = m.Dirs[0]
	}
}

// agentName is the type of a sub-agent; sessions of the middle versions have it in
// their title only.
func (p *openCodeParser) agentName() string {
	if a := p.head.Get("agent").Str; a != "" {
		return keep(a)
	}
	if _, rest, ok := strings.Cut(p.head.Get("title").Str, " (@"); ok {
		if name, ok := strings.CutSuffix(rest, " subagent)"); ok {
			return keep(name)
		}
	}
	return p.agent
}

// undo marks what a revert took out: everything from a message on, or from one of
// its parts on. The harness deletes it once the person goes on.
func (p *openCodeParser) undo(message, part string) {
	from, ok := p.begins[message]
	if !ok {
		return
	}
	for i := from; i < len(p.b.turns); i++ {
		m := p.marks[i]
		if part == "" || m.message != message || m.part >= part {
			p.b.turns[i].Undone = true
		}
	}
}

// copied counts the turns that a fork copied. A copied message keeps the time at which
// it was created, before the fork was, and gets a new id; an id begins with the time
// at which it was made.
func (p *openCodeParser) copied() int {
	p.b.meta.ForkedFrom = keep(p.head.Get("fork.sessionID").Str)
	born := p.head.Get("time.created").Num
	for i, mark := range p.marks {
		if created := p.times[mark.message]; created >= born || openCodeMade(mark.message, created) {
			return i
		}
	}
	return len(p.marks)
}

// openCodeMade reports whether an id was made within a second of a time in
// milliseconds. Its first 12 hex digits are the time times 4096 plus a counter, of
// which the highest bits are cut off.
func openCodeMade(id string, ms float64) bool {
	_, rest, _ := strings.Cut(id, "_")
	if len(rest) < 12 {
		return false
	}
	n, err := strconv.ParseInt(rest[:12], 16, 64)
	if err != nil {
		return false
	}
	const span = 1 << 36
	apart := (n>>12 - int64(ms)) % span
	if apart < 0 {
		apart += span
	}
	return apart < 1000 || span-apart < 1000
}

// openCodePlaceholder reports whether a title only says when the session began.
func openCodePlaceholder(title string) bool {
	for _, prefix := range []string{"New session - ", "Child session - "} {
		if rest, ok := strings.CutPrefix(title, prefix); ok {
			_, err := time.Parse(time.RFC3339, rest)
			return err == nil
		}
	}
	return title == ""
}
