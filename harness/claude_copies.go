package harness

import (
	"time"

	"sessdex/session"
)

// A session that resumes or forks another begins with a copy of its records. Only
// records with a uuid are copied, and they keep it. What tells them apart:
//
//   - versions to 1.0.x left the old session's id in them;
//   - /branch names the old session in each of them, as forkedFrom;
//   - since 2.1.3xx the copies of the model's messages name the session that asked
//     for them, as requestSessionId;
//   - --fork-session and hand-offs of the versions between wrote nothing: such a copy
//     is found by comparing sessions, and told in [Source].

// A claudeSession is a run of records that bear one session id.
type claudeSession struct {
	id string
	at int32 // place of its first record in nodes
}

// copied notes whose record it is that was just entered into the tree, and whether it
// says that it is a copy.
func (p *claudeParser) copied(r *claudeRecord) {
	n := len(p.sessions)
	if r.session != "" && (n == 0 || p.sessions[n-1].id != r.session) {
		p.sessions = append(p.sessions, claudeSession{keep(r.session), int32(len(p.nodes) - 1)})
	}
	from := r.branched
	if from == "" {
		from = r.asked
	}
	if from != "" && from != r.session {
		if from != p.forkedFrom {
			p.forkedFrom = keep(from)
		}
		p.copies = int32(len(p.nodes))
	}
}

// origin is the session that this one begins with a copy of, if any. Afterwards
// p.copies is the place in nodes where the copy ends.
func (p *claudeParser) origin() string {
	from := ""
	if n := len(p.sessions); n > 1 {
		from = p.sessions[n-2].id
		for _, s := range p.sessions {
			if s.id == p.sessions[n-1].id {
				p.copies = max(p.copies, s.at)
				break
			}
		}
	}
	if p.forkedFrom != "" && (len(p.sessions) == 0 || p.forkedFrom != p.sessions[len(p.sessions)-1].id) {
		from = p.forkedFrom
	}
	return from
}

// compact removes the dropped turns, and counts those that are copies. Prompts that
// only stand in the queue come before the history that was copied when they were
// read; they were typed after it.
func (p *claudeParser) compact() {
	var queued []int32
	order := make([]int32, 0, len(p.turns))
	release := func(before time.Time) {
		n := 0
		for n < len(queued) && (before.IsZero() || !p.turns[queued[n]].Time.After(before)) {
			n++
		}
		order = append(order, queued[:n]...)
		queued = queued[n:]
	}
	for i := range p.turns {
		switch {
		case p.dropped[int32(i)]:
		case p.owner[i] < 0:
			queued = append(queued, int32(i))
		default:
			release(p.turns[i].Time)
			order = append(order, int32(i))
		}
	}
	release(time.Time{})
	turns := make([]session.Turn, len(order))
	leading := true
	for k, i := range order {
		turns[k] = p.turns[i]
		if leading = leading && p.owner[i] >= 0 && p.owner[i] < p.copies; leading {
			p.inherited = k + 1
		}
	}
	p.turns = turns
	p.command = func(k int) bool { return p.commands[order[k]] }
}
