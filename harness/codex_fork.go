package harness

import (
	"time"

	"sessdex/session"
)

// codexFork finds where a fork's own part begins. A fork of the older kind starts
// with its own session_meta, then its parent's, then all of the parent's records,
// stamped with the time of the fork. Three things tell where that ends, best first:
// an ordinal in the session_meta, a turn id (a UUIDv7, so it holds a time) younger
// than the thread's own, and the first pause after the burst of copied records.
type codexFork struct {
	copied bool      // an ancestor's session_meta was seen
	sure   bool      // own is final
	own    int       // place of the first turn of its own; beyond every turn until found
	start  int64     // ordinal of the first record of its own, 0 where not given
	born   time.Time // from the thread's id
	last   time.Time // of the record before
}

// codexPause is more than a copy in progress ever waits, and less than a person
// needs to type a message.
const codexPause = time.Second

// unfound is a place beyond every turn.
const unfound = 1 << 62

// ancestor notes that another session's history follows.
func (f *codexFork) ancestor() {
	if !f.copied {
		f.copied, f.own = true, unfound
	}
}

// see looks at each record before it is taken; next is the place of the next turn.
func (f *codexFork) see(rec codexRecord, next int) {
	last := f.last
	f.last = rec.time
	switch {
	case !f.copied || f.sure || rec.kind == "session_meta":
	case f.start > 0 && rec.ordinal >= 0:
		if rec.ordinal >= f.start {
			f.own, f.sure = next, true
		}
	case f.own == unfound && !last.IsZero() && rec.time.Sub(last) > codexPause:
		f.own = next
	}
}

// turn looks at the id of a turn that begins; announced: before its message is written.
func (f *codexFork) turn(id string, announced bool, turns []session.Turn) {
	if !f.copied || f.sure || f.start > 0 || f.born.IsZero() {
		return
	}
	at := uuidTime(id)
	switch {
	case at.IsZero():
	case at.Before(f.born): // what looked like a pause was one of the parent's
		f.own = unfound
	default:
		f.sure = true
		if f.own == unfound {
			f.own = len(turns)
			// Versions that announce no turn write its message before its context.
			if n := len(turns); !announced && n > 0 && turns[n-1].Role == session.User {
				f.own--
			}
		}
	}
}

// sessionMeta takes a session_meta: the first is this session's, one with the same
// id a resume, any other an ancestor's.
func (p *codexParser) sessionMeta(rec codexRecord) {
	r := rec.payload
	m := &p.b.meta
	id := keep(r.Get("id").String())
	switch {
	case p.own == "" && id != "":
		p.own = id
		p.fork.born = uuidTime(id)
		p.fork.start = r.Get("subagent_history_start_ordinal").Int()
		p.b.at(isoTime(r.Get("timestamp").Str))
		p.lineage(rec)
	case id != p.own:
		p.kin[id] = true
		if m.ForkedFrom == "" {
			m.ForkedFrom = id
		}
		p.fork.ancestor()
		return
	}
	if v := r.Get("cli_version").String(); v != "" {
		m.Version = keep(v)
	}
	p.setDir(r.Get("cwd").Str)
	p.git(r.Get("git"))
}

// lineage reads who started a session and from what. "source" is a word for
// sessions of people and an object for those of models.
func (p *codexParser) lineage(rec codexRecord) {
	r := rec.payload
	m := &p.b.meta
	first := func(paths ...string) string {
		for _, path := range paths {
			if s := r.Get(path).String(); s != "" {
				return keep(s)
			}
		}
		return ""
	}
	m.ForkedFrom = first("forked_from_id", "history_base.thread_id")
	sub := r.Get("source.subagent")
	by := r.Get("thread_source").String()
	if !sub.Exists() && !r.Get("source.internal").Exists() && by != "subagent" && by != "memory_consolidation" {
		return
	}
	m.Subagent = true
	m.Parent = first("parent_thread_id", "source.subagent.thread_spawn.parent_thread_id")
	m.Agent = first("agent_nickname", "source.subagent.thread_spawn.agent_nickname", "agent_role", "agent_type",
		"source.subagent.thread_spawn.agent_role", "source.subagent.thread_spawn.agent_type", "source.subagent.other")
	if m.Agent == "" && !sub.IsObject() {
		m.Agent = keep(sub.String())
	}
	p.rendered = r.Get("source.subagent.other").String() == "guardian"
}
