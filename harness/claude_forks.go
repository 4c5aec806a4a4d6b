package harness

import "sessdex/session"

// claudeNode is one record in the tree that uuid and parentUuid make. Where the
// parent was never written, or is null, the record is a root; compaction starts
// a new root that names its logical parent.
type claudeNode struct {
	id, parent uint64
	stop       bool // it began or added to a turn
	prompt     bool // it is a person's prompt in the session's own conversation
	side       bool // it belongs to a sidechain
	warm       bool // it is or hangs below a sidechain's prompt that only warms the model's cache
}

// node enters a record into the tree. It reports false for one that was written
// before; one without an id is entered but cannot be found.
func (p *claudeParser) node(r *claudeRecord) bool {
	n := claudeNode{side: r.sidechain}
	parent := r.parent
	if parent == "" {
		parent = r.logical
	}
	if parent != "" {
		n.parent = claudeHash(parent)
		if i, ok := p.seen[n.parent]; ok {
			n.warm = p.nodes[i].warm
		}
	}
	if r.uuid != "" {
		n.id = claudeHash(r.uuid)
		if _, again := p.seen[n.id]; again {
			return false
		}
		p.seen[n.id] = int32(len(p.nodes))
	}
	p.nodes = append(p.nodes, n)
	return true
}

// newest is the record that is being read. Before the first it is a blank one.
func (p *claudeParser) newest() *claudeNode {
	if len(p.nodes) == 0 {
		return &claudeNode{}
	}
	return &p.nodes[len(p.nodes)-1]
}

// begin adds a turn that the newest record begins.
func (p *claudeParser) begin(t session.Turn) int32 {
	i := int32(p.add(t))
	p.newest().stop = true
	p.owner = append(p.owner, int32(len(p.nodes)-1))
	if p.newest().warm {
		p.warmed = append(p.warmed, i)
	}
	return i
}

// undo marks the turns on branches that the person left: they went back and wrote
// another prompt in the same place.
//
// A record with two children is no proof of that. Parallel tool calls, progress
// records, hooks and local commands fork the tree all the time, and a resumed
// session skips records. So only prompts count that stand directly below the same
// turn, with nothing between but records that are no part of the conversation; of
// those the one that the last turn descends from is live, or the newest where the
// chain is broken. Prompts without any turn above them are not compared: two of
// them may be two conversations in one file.
func (p *claudeParser) undo() {
	above := p.resolve(func(i int32) bool { return p.nodes[i].stop })
	groups := map[int32][]int32{}
	forked := false
	for i, n := range p.nodes {
		if !n.prompt {
			continue
		}
		if up := p.up(int32(i)); up >= 0 && above[up] >= 0 {
			g := append(groups[above[up]], int32(i))
			groups[above[up]] = g
			forked = forked || len(g) > 1
		}
	}
	if !forked {
		return
	}
	live := p.liveChain()
	left := make([]bool, len(p.nodes))
	for _, g := range groups {
		stays := g[len(g)-1]
		for _, i := range g {
			if live[i] {
				stays = i
			}
		}
		for _, i := range g {
			left[i] = i != stays
		}
	}
	under := p.resolve(func(i int32) bool { return left[i] })
	for i, by := range p.owner {
		p.turns[i].Undone = by >= 0 && under[by] >= 0
	}
}

// up is the place of a record's parent, or -1.
func (p *claudeParser) up(i int32) int32 {
	if n := p.nodes[i]; n.parent != 0 {
		if j, ok := p.seen[n.parent]; ok {
			return j
		}
	}
	return -1
}

// liveChain are the records above the last turn, itself included.
func (p *claudeParser) liveChain() map[int32]bool {
	live := map[int32]bool{}
	i := int32(len(p.nodes) - 1)
	for i >= 0 && (!p.nodes[i].stop || p.nodes[i].side) {
		i--
	}
	for i >= 0 && !live[i] {
		live[i] = true
		i = p.up(i)
	}
	return live
}

// resolve gives for every record the nearest one at or above it that is wanted, or
// -1, in linear time whatever the shape of the tree; cycles have none.
func (p *claudeParser) resolve(wanted func(int32) bool) []int32 {
	const unknown, open = -3, -2
	found := make([]int32, len(p.nodes))
	for i := range found {
		found[i] = unknown
	}
	var path []int32
	for i := range p.nodes {
		path = path[:0]
		at, answer := int32(i), int32(-1)
		for at >= 0 {
			if found[at] != unknown {
				if found[at] != open {
					answer = found[at]
				}
				break
			}
			if wanted(at) {
				found[at], answer = at, at
				break
			}
			found[at] = open
			path = append(path, at)
			at = p.up(at)
		}
		for _, j := range path {
			found[j] = answer
		}
	}
	return found
}
