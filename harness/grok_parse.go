package harness

import (
	"bytes"
	"iter"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// grokParser reads a session's canonical document, or one of its files alone.
type grokParser struct {
	b   builder
	src Source

	part    string       // the file that the lines come from; "" in a file that stands alone
	folder  bool         // the lines come from the files of a session's folder
	skip    bool         // the chat history repeats what the updates said
	summary bytes.Buffer // of summary.json

	id     string // the session's, by its updates
	parent string // who started it, by the document
	log    grokLog
	row    grokRows

	thoughts thoughts
	calls    []*grokCall
	byID     map[string]*grokCall
}

// grokSummaryLimit is how much of a summary is read, in bytes.
const grokSummaryLimit = 1 << 20

func newGrokParser(src Source) *grokParser {
	p := &grokParser{src: src, byID: map[string]*grokCall{}}
	p.b.meta.Harness = grokName
	p.log = grokLog{tasks: map[string]*grokCall{}, shell: map[int]bool{}}
	p.b.command = func(i int) bool { return p.log.shell[i] }
	return p
}

// Line implements [Parser].
func (p *grokParser) Line(line []byte) {
	line = bytes.TrimRight(line, "\r\n")
	if head, ok := readPartHead(line); ok {
		p.flush()
		p.part, p.folder, p.parent = head.Name, true, keep(head.Parent)
		p.skip = p.part == grokChat && len(p.b.turns) > 0
		return
	}
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 || p.skip {
		return
	}
	take := p.record
	switch p.part {
	case "":
		if string(trimmed) == "{" && len(p.b.turns) == 0 { // a summary, printed over many lines
			p.part = grokSummary
			p.summary.WriteByte('{')
			return
		}
	case grokUpdates:
		take = p.update
	case grokChat:
		take = p.item
	case grokSummary:
		if p.summary.Len()+len(line) < grokSummaryLimit {
			p.summary.Write(line)
			p.summary.WriteByte('\n')
		}
		return
	default:
		return // kept to go on with the session, and nothing that was said
	}
	p.b.objects(trimmed, take)
}

// record takes a line of a file that stands alone.
func (p *grokParser) record(r gjson.Result) {
	switch _, isUpdate := grokUpdate(r); {
	case isUpdate:
		p.update(r)
	case grokIsSummary(r):
		p.summary.Reset()
		p.summary.WriteString(r.Raw)
	default:
		p.item(r)
	}
}

// Finish implements [Parser].
func (p *grokParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	p.flush()
	p.leftover(p.lastTime())
	p.dropUnmarked()
	for _, c := range p.calls {
		c.settle(&p.b.turns[c.turn])
	}
	m := &p.b.meta
	m.NativeID = p.id
	var s gjson.Result
	if gjson.ValidBytes(p.summary.Bytes()) {
		s = gjson.ParseBytes(p.summary.Bytes())
	} else if p.summary.Len() > 0 {
		m.BadLines++ // it was being written
	}
	p.facts(s)
	if p.folder && p.src.Path != "" { // what the names of the folders tell
		if m.NativeID == "" {
			m.NativeID = filepath.Base(filepath.Dir(p.src.Path))
		}
		if m.Dir == "" {
			p.b.dir(grokPathDir(p.src.Path))
		}
	}
	return p.b.finish()
}

// add appends a turn; what the model thought before it becomes part of it.
func (p *grokParser) add(t session.Turn) int {
	if t.Role == session.User || t.Role == session.Summary {
		p.leftover(t.Time)
	} else {
		p.thoughts.led(&t)
	}
	p.b.at(t.Time)
	return p.b.add(t)
}

// leftover keeps thoughts that led to no word and no call: with what the model did
// just before, or in a turn of their own.
func (p *grokParser) leftover(t time.Time) {
	if p.thoughts.after(p.b.turns); len(p.thoughts) > 0 {
		p.add(session.Turn{Role: session.Assistant, Time: t})
	}
}

// facts takes what summary.json says; of a session without one, s is null.
func (p *grokParser) facts(s gjson.Result) {
	m := &p.b.meta
	text := func(path string) string { return strings.TrimSpace(keep(s.Get(path).String())) }
	if id := text("info.id"); id != "" {
		m.NativeID = id
	}
	for _, d := range []string{"info.cwd", "previous_cwd", "source_workspace_dir"} {
		p.b.dir(text(d))
	}
	if remote := text("git_remotes.0"); remote != "" {
		m.Repo = RepoName(remote)
	} else if top := text("source_workspace_dir"); top != "" { // a worktree of it
		m.Repo = baseName(top)
	}
	p.b.branch(text("head_branch"))
	m.Commit = text("head_commit")
	p.b.model(text("current_model_id"))
	title := text("generated_title")
	switch {
	case title != "" && s.Get("title_is_manual").Bool():
		p.b.custom = title
	case title != "":
		p.b.given = title
	case text("session_summary") != "":
		p.b.given = text("session_summary")
	}
	p.b.at(anyTime(s.Get("created_at")))
	if timed := p.lastTime(); timed.IsZero() {
		m.LastActive = anyTime(s.Get("last_active_at"))
	}
	p.lineage(s)
}

// lineage tells sub-agents and forks. A sub-agent is hidden unless the summary says
// otherwise. What a fork's log holds from before the fork was copied into it, with
// its times; in a chat history the number of items copied is recorded.
func (p *grokParser) lineage(s gjson.Result) {
	m := &p.b.meta
	kind, parent := s.Get("session_kind").Str, keep(s.Get("parent_session_id").String())
	sub := strings.HasPrefix(kind, "subagent")
	if m.Subagent = sub; s.Get("hidden").Exists() {
		m.Subagent = s.Get("hidden").Bool()
	}
	if parent == "" && sub {
		parent = p.parent
	}
	if sub {
		m.Parent, m.Agent = parent, keep(s.Get("agent_name").String())
	}
	copied := 0
	forked := anyTime(s.Get("forked_at"))
	if p.row.turns != nil {
		if n := int(s.Get("inherited_prefix_len").Int()); n > 0 {
			copied = p.row.before(n)
		}
	} else if !forked.IsZero() && !sub {
		for copied < len(p.b.turns) && p.b.turns[copied].Time.Before(forked) {
			copied++
		}
	}
	if !sub || copied > 0 {
		m.ForkedFrom = parent
	}
	p.b.inherited = copied
	p.b.inherit(p.src)
}

func (p *grokParser) lastTime() time.Time {
	for i := len(p.b.turns) - 1; i >= 0; i-- {
		if t := p.b.turns[i].Time; !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// grokPathDir is the working folder that the name of a session's grandparent folder
// encodes, or "". Long names are hashed and tell nothing.
func grokPathDir(file string) string {
	enc := filepath.Base(filepath.Dir(filepath.Dir(file)))
	dir, err := url.PathUnescape(enc)
	if err != nil || dir == enc {
		return ""
	}
	return dir
}
