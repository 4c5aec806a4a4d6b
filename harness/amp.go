package harness

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// Amp is Sourcegraph's coding agent. A thread is one JSON document,
// ~/.local/share/amp/threads/T-<uuid>.json, rewritten on every change; "amp threads
// export" prints the same. Its messages have Anthropic's content blocks, and results of
// tools under "run". Amp's server holds the thread itself; newer versions keep no copy
// of it. No schema is published.
var Amp = &Harness{
	Name:  ampName,
	Roots: ampRoots,
	Claims: func(rel string) bool {
		return strings.HasPrefix(rel, "T-") && path.Ext(rel) == ".json" && !strings.Contains(rel, "/")
	},
	Detect: ampDetect,
	New:    func(src Source) Parser { return newAmpParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"amp", "threads", "continue", m.NativeID}, Dir: m.Dir}
	},
}

const ampName = "amp"

func ampRoots(env Env) []string {
	return []string{filepath.Join(dataHome(env), "amp", "threads")}
}

func ampDetect(h Head) bool {
	return strings.HasPrefix(h.Doc.Get("id").Str, "T-") && h.Doc.Get("messages").IsArray() &&
		(h.Doc.Get("v").Type == gjson.Number || h.Doc.Get("created").Type == gjson.Number)
}

type ampParser struct {
	dialog
	src Source
	doc document
}

func newAmpParser(src Source) *ampParser {
	p := &ampParser{src: src}
	p.dialog = newDialog(ampName, false)
	return p
}

// Line implements [Parser].
func (p *ampParser) Line(line []byte) { p.doc.add(line) }

// Finish implements [Parser].
func (p *ampParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	doc, whole := p.doc.value()
	p.doc = document{}
	if !whole {
		p.meta.BadLines++
	}
	m := &p.meta
	m.NativeID = keep(doc.Get("id").String())
	if m.NativeID == "" {
		m.NativeID = strings.TrimSuffix(baseName(p.src.Path), ".json")
	}
	p.given = keep(doc.Get("title").String())
	p.at(anyTime(doc.Get("created")))
	initial := doc.Get("env.initial")
	m.Version = keep(initial.Get("platform.clientVersion").String())
	eachMember(initial.Get("trees"), p.workspace)
	eachMember(doc.Get("messages"), p.thread)
	if end := p.newestTrace(doc); len(p.turns) > 0 && p.turns[len(p.turns)-1].Time.IsZero() {
		p.turns[len(p.turns)-1].Time = end // messages of older versions have no times
	}
	p.inherit(p.src)
	return p.finish()
}

// workspace takes a folder that the thread was begun in.
func (p *ampParser) workspace(tree gjson.Result) {
	p.dir(localPath(tree.Get("uri").String()))
	repo := tree.Get("repository")
	if p.meta.Repo == "" {
		p.meta.Repo = keep(RepoName(repo.Get("url").String()))
	}
	if p.meta.Commit == "" {
		p.meta.Commit = keep(repo.Get("sha").String())
	}
	p.branch(strings.TrimPrefix(repo.Get("ref").String(), "refs/heads/"))
}

func (p *ampParser) thread(m gjson.Result) {
	id := first(m, "messageId", "dtwMessageID").String()
	at := anyTime(first(m, "meta.sentAt", "usage.timestamp"))
	p.at(at)
	c := readContent(m.Get("content"))
	switch m.Get("role").Str {
	case "assistant":
		p.model(m.Get("usage.model").String())
		p.message(session.Assistant, c, at, id, nil)
	case "user":
		p.message(session.User, withoutWrappers(c), at, id, func(text string) { p.person(text, at, id) })
	case "info":
		m.Get("content").ForEach(func(_, b gjson.Result) bool {
			if b.Get("type").Str == "summary" {
				p.say(session.Summary, outputText(first(b, "summary.summary", "summary.text", "summary")), "", at, id)
			}
			return true
		})
	}
}

func (p *ampParser) newestTrace(doc gjson.Result) (end time.Time) {
	doc.Get("meta.traces").ForEach(func(_, t gjson.Result) bool {
		if at := anyTime(t.Get("endTime")); at.After(end) {
			end = at
		}
		return true
	})
	return end
}
