package harness

import (
	"bytes"
	"hash/maphash"
	"iter"
	"net/url"
	"path"
	"strings"

	"sessdex/session"
)

// claudeParser reads one Claude Code transcript.
//
// Sub-agents that older versions wrote into the session's own file ("sidechains")
// stay where they stand as assistant and tool turns, so that their work is found
// with the session; the prompt that started one is dropped, since it is the input
// of the tool call before it and nobody typed it. In a file that holds nothing
// but a sub-agent that prompt is the opening.
type claudeParser struct {
	builder
	src Source

	sessions   []claudeSession       // whose records these are, in order of appearance
	seen       map[uint64]int32      // record id → its place in nodes
	nodes      []claudeNode          // every record of the conversation, for forks
	messages   map[uint64]int32      // message id and request id → assistant turn
	calls      map[string]claudeCall // tool use id → its tool turn
	owner      []int32               // turn → the record that began it, in nodes, or -1
	sides      []int32               // user turns of sidechains
	warmed     []int32               // turns below a cache warm-up
	commands   map[int32]bool        // user turns that are no plain words
	dropped    map[int32]bool        // turns that turned out to be copies
	waiting    []int32               // user turns from the prompt queue that may come again as records
	shell      string                // the "!cmd" whose output has not come yet
	summaries  []claudeSummary
	agentID    string
	agentKind  string
	forkParent string // from fork-context-ref
	forkedFrom string // the session that the last copied record names
	copies     int32  // place in nodes behind that record
	mainline   bool   // a message outside every sidechain was seen
	talked     bool   // a message was seen
	begun      bool   // a line was seen
	lastDir    string
	doc        document // a pretty-printed export, collected until the end
	inDoc      bool
}

type claudeCall struct {
	turn         int32
	done         bool
	edits, reads []string
}

type claudeSummary struct {
	leaf uint64
	text string
}

func newClaudeParser(src Source) *claudeParser {
	p := &claudeParser{
		src:      src,
		seen:     map[uint64]int32{},
		messages: map[uint64]int32{},
		calls:    map[string]claudeCall{},
		commands: map[int32]bool{},
		dropped:  map[int32]bool{},
	}
	p.meta.Harness = "claude-code"
	return p
}

func (p *claudeParser) Line(line []byte) {
	if p.inDoc {
		p.doc.add(line)
		return
	}
	line = bytes.TrimSpace(bytes.TrimPrefix(line, bom))
	if len(line) == 0 {
		return
	}
	if !p.begun && len(line) == 1 && line[0] == '{' { // an export over several lines
		p.inDoc = true
		p.doc.add(line)
		return
	}
	p.begun = true
	p.objects(line, p.record)
}

func (p *claudeParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	if p.inDoc { // as one line, since values that are shown as they stand are shown on one
		p.objects([]byte(strings.ReplaceAll(p.doc.text.String(), "\n", " ")), p.record)
		p.doc = document{}
	}
	p.identify()
	p.titles()
	p.undo()
	p.prune()
	p.compact()
	if p.meta.Repo == "" {
		// A worktree of the harness's own lies in its repository.
		if repo, _, ok := strings.Cut(strings.ReplaceAll(p.meta.Dir, `\`, "/"), "/.claude/worktrees/"); ok {
			p.meta.Repo = path.Base(repo)
		}
	}
	p.inherit(p.src)
	return p.finish()
}

// identify settles whose transcript this is.
func (p *claudeParser) identify() {
	m := &p.meta
	m.ForkedFrom = p.origin()
	if n := len(p.sessions); n > 0 {
		m.NativeID = p.sessions[n-1].id
	}
	base := strings.TrimSuffix(baseName(p.src.Path), ".jsonl")
	if m.Subagent = p.talked && !p.mainline; m.Subagent {
		m.Parent, m.ForkedFrom = m.NativeID, ""
		if p.forkParent != "" {
			m.Parent = p.forkParent
		}
		m.Agent = p.agentKind
		switch {
		case p.agentID != "":
			m.NativeID = "agent-" + p.agentID
		case strings.HasPrefix(base, "agent-"):
			m.NativeID = base
		case len(p.turns) > 0:
			m.NativeID = "agent-" + p.turns[0].Ref
		}
	}
	if m.NativeID == "" && p.src.Path != "" {
		m.NativeID = base
	}
}

// titles takes a summary for the title only where it is about this conversation:
// Claude Code writes summaries of others into whichever file is open.
func (p *claudeParser) titles() {
	for i := len(p.summaries) - 1; i >= 0 && p.given == ""; i-- {
		if _, here := p.seen[p.summaries[i].leaf]; here {
			p.given = p.summaries[i].text
		}
	}
}

// claudeWarmup is the prompt of sub-agents that only warm the model's cache.
const claudeWarmup = "Warmup"

// prune drops the turns that are none after all: in a session's file the prompts of
// sub-agents and cache warm-ups, in a sub-agent's file everything if it was a
// warm-up, and in a file without a message what waited in its prompt queue.
func (p *claudeParser) prune() {
	switch {
	case p.mainline:
		for _, i := range append(p.sides, p.warmed...) {
			p.dropped[i] = true
		}
	case !p.talked, len(p.sides) > 0 && len(p.warmed) == len(p.turns):
		p.turns = nil
	}
}

// claudeHash keys records by their ids without keeping these: a long session has
// hundreds of thousands of them.
func claudeHash(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(claudeSeed)
	for _, s := range parts {
		h.WriteString(s)
		h.WriteByte(0)
	}
	return h.Sum64()
}

var claudeSeed = maphash.MakeSeed()

// claudePR notes a linked pull request, which is the only thing in a transcript
// that names the repository.
func (p *claudeParser) claudePR(link, repo string) {
	p.meta.PRs = appendNew(p.meta.PRs, keep(link))
	u, err := url.Parse(link)
	if p.meta.Repo == "" && repo != "" && err == nil && u.Host != "" {
		p.meta.Repo = keep(u.Hostname() + "/" + repo)
	}
}
