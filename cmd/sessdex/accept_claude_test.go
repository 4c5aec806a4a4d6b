package main

import (
	"bytes"
	"fmt"
)

// claudeLog writes a Claude Code transcript record by record, each the child of
// the one before.
type claudeLog struct {
	id, version string
	more        obj // of every record
	all         []obj
}

func (c *claudeLog) record(kind string, m int, message obj, more obj) {
	parent := any(nil)
	if n := len(c.all); n > 0 {
		parent = c.all[n-1]["uuid"]
	}
	r := obj{"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/srv/mill", "sessionId": c.id, "version": c.version,
		"gitBranch": "main", "type": kind, "uuid": fmt.Sprintf("%.8s-aaaa-4000-8000-%012d", c.id, len(c.all)+1), "timestamp": clock(m)}
	if message != nil {
		r["message"] = message
	}
	c.all = append(c.all, r.with(c.more).with(more))
}

func (c *claudeLog) user(m int, text string, more obj) {
	c.record("user", m, obj{"role": "user", "content": text}, more)
}

// reply is one message of the model, written as a record for each block.
func (c *claudeLog) reply(m int, blocks ...obj) {
	id := fmt.Sprintf("msg_%.8s%d", c.id, len(c.all))
	for _, b := range blocks {
		c.record("assistant", m, obj{"id": id, "role": "assistant", "model": "claude-opus-4-5", "content": []any{b},
			"usage": obj{"input_tokens": 9, "output_tokens": 7}}, obj{"requestId": "req_" + id})
	}
}

// edit is a call that edits a file, and its result.
func (c *claudeLog) edit(m int, path string) {
	call := fmt.Sprintf("toolu_%.8s%d", c.id, len(c.all))
	c.reply(m, obj{"type": "thinking", "thinking": "", "signature": "c2ln"}, obj{"type": "text", "text": "I edit it."},
		obj{"type": "tool_use", "id": call, "name": "Edit", "input": obj{"file_path": path, "old_string": "a", "new_string": "b"}})
	c.record("user", m, obj{"role": "user", "content": []any{obj{"type": "tool_result", "tool_use_id": call, "content": "done"}}},
		obj{"toolUseResult": obj{"filePath": path, "oldString": "a", "newString": "b"}})
}

func (v *village) claude() {
	const root, mill = ".claude/projects", "-srv-mill"
	write := func(c *claudeLog, elem ...string) string { return v.put(lines(c.all...), elem...) }

	// Today's form: split messages, records of the client between them, a
	// sub-agent in the session's folder, and a spilled tool output.
	one := &claudeLog{id: native("c1"), version: "2.1.300"}
	one.all = append(one.all, obj{"type": "file-history-snapshot", "uuid": nil, "messageId": "x", "snapshot": obj{"trackedFileBackups": obj{}}})
	one.user(1, "<command-name>/clear</command-name>", nil)
	one.user(2, "Please oil the quokka gate.", obj{"promptSource": "typed"})
	one.edit(3, "/srv/mill/gate.go")
	one.record("attachment", 3, nil, obj{"attachment": obj{"type": "todo_reminder", "content": "nothing"}})
	one.reply(4, obj{"type": "text", "text": "The gate is oiled."})
	one.user(5, "And the hinge, too.", nil)
	one.reply(6, obj{"type": "text", "text": "The hinge as well."})
	path := v.put(append(lines(one.all...), lines(obj{"type": "custom-title", "customTitle": "Gate oil", "sessionId": one.id})...), root, mill, one.id+".jsonl")
	v.tell(told{harness: "claude-code", native: one.id, word: "quokka", said: 2, start: second(1), last: second(6), path: path})
	sub := &claudeLog{id: one.id, version: "2.1.300", more: obj{"isSidechain": true, "agentId": "0a1b2c3d4e5f60718"}}
	sub.user(3, "Find where the narwhal is kept.", nil)
	sub.reply(4, obj{"type": "text", "text": "In the pond."})
	for i := range sub.all {
		sub.all[i]["uuid"] = fmt.Sprintf("5ab00000-aaaa-4000-8000-%012d", i+1)
	}
	write(sub, root, mill, one.id, "subagents", "agent-0a1b2c3d4e5f60718.jsonl")
	v.put([]byte(`{"agentType":"Explore","description":"Find it"}`), root, mill, one.id, "subagents", "agent-0a1b2c3d4e5f60718.meta.json")
	v.put([]byte("a long output"), root, mill, one.id, "tool-results", "b1.txt")
	v.tell(told{harness: "claude-code", native: "agent-0a1b2c3d4e5f60718", word: "narwhal", start: second(3), last: second(4), parent: one.id})

	// A fork: the copied records bear the new id, and nothing tells where from.
	fork := &claudeLog{id: native("c4"), version: "2.1.300"}
	for _, r := range one.all[1:] {
		fork.all = append(fork.all, r.with(obj{"sessionId": fork.id}))
	}
	fork.user(30, "Paint the walrus green instead.", obj{"uuid": "f0f0f0f0-aaaa-4000-8000-000000000001"})
	fork.reply(31, obj{"type": "text", "text": "It is green."})
	path = write(fork, root, mill, fork.id+".jsonl")
	v.tell(told{harness: "claude-code", native: fork.id, word: "walrus", said: 1, last: second(31), forkedFrom: one.id, path: path})

	// 2025: a sub-agent's records between the session's own.
	old := &claudeLog{id: native("c2"), version: "1.0.30"}
	old.user(1, "Count the wombat holes.", nil)
	old.record("user", 2, obj{"role": "user", "content": "You count holes."}, obj{"isSidechain": true, "parentUuid": nil})
	old.reply(3, obj{"type": "text", "text": "Seven."})
	path = write(old, root, mill, old.id+".jsonl")
	v.tell(told{harness: "claude-code", native: old.id, word: "wombat", said: 1, start: second(1), last: second(3), path: path})

	// Then in a file beside it; and the session resumed in a new file, whose
	// copied lines kept the old id.
	middle := &claudeLog{id: native("c3"), version: "2.0.30"}
	middle.user(1, "Feed the lynx at noon.", nil)
	middle.reply(2, obj{"type": "text", "text": "At noon it is."})
	path = write(middle, root, mill, middle.id+".jsonl")
	v.tell(told{harness: "claude-code", native: middle.id, word: "lynx", said: 1, start: second(1), last: second(2), path: path})
	beside := &claudeLog{id: middle.id, version: "2.0.30", more: obj{"isSidechain": true, "agentId": "1a2b3c4d"}}
	beside.user(1, "Ask what an ocelot eats.", obj{"uuid": "5ab10000-aaaa-4000-8000-000000000001"})
	beside.reply(2, obj{"type": "text", "text": "Fish."})
	beside.all[1]["uuid"] = "5ab10000-aaaa-4000-8000-000000000002"
	write(beside, root, mill, "agent-1a2b3c4d.jsonl")
	v.tell(told{harness: "claude-code", native: "agent-1a2b3c4d", word: "ocelot", start: second(1), last: second(2), parent: middle.id})
	resumed := &claudeLog{id: native("c5"), version: "1.0.55", all: append([]obj(nil), middle.all...)}
	resumed.user(20, "And what does the ibex get?", nil)
	resumed.reply(21, obj{"type": "text", "text": "Hay."})
	path = write(resumed, root, mill, resumed.id+".jsonl")
	v.tell(told{harness: "claude-code", native: resumed.id, word: "ibex", said: 1, last: second(21), forkedFrom: middle.id, path: path})

	// The second root, a compaction, and a file that a live writer and another
	// program left in a bad state: BOM, CRLF, two objects on a line, a torn end.
	xdg := &claudeLog{id: native("c6"), version: "1.0.24"}
	xdg.user(1, "Where does the gecko sleep?", nil)
	xdg.reply(2, obj{"type": "text", "text": "Under the stone."})
	path = write(xdg, ".config/claude/projects", "-srv-stone", xdg.id+".jsonl")
	v.tell(told{harness: "claude-code", native: xdg.id, word: "gecko", said: 1, start: second(1), last: second(2), path: path})
	compact := &claudeLog{id: native("c8"), version: "2.1.100"}
	compact.user(1, "Sort the lemur pictures.", nil)
	compact.reply(2, obj{"type": "text", "text": "Sorted by year."})
	compact.record("system", 3, nil, obj{"subtype": "compact_boundary", "parentUuid": nil, "content": "Conversation compacted", "compactMetadata": obj{"trigger": "auto", "preTokens": 9}})
	compact.user(3, "This session is being continued from a previous conversation that ran out of context. It sorted pictures.", obj{"isCompactSummary": true, "isVisibleInTranscriptOnly": true})
	compact.user(4, "Now by place.", nil)
	compact.reply(5, obj{"type": "text", "text": "By place."})
	path = write(compact, root, mill, compact.id+".jsonl")
	v.tell(told{harness: "claude-code", native: compact.id, word: "lemur", said: 2, start: second(1), last: second(5), path: path})
	torn := &claudeLog{id: native("c9"), version: "2.1.2"}
	torn.user(1, "Weigh the tapir.", nil)
	torn.reply(2, obj{"type": "text", "text": "300 kg."})
	torn.user(3, "Measure it.", nil)
	data := bytes.Join([][]byte{{0xef, 0xbb, 0xbf}, asJSON(torn.all[0]), []byte("\r\n\r\n"), asJSON(torn.all[1]), asJSON(obj{"type": "summary", "summary": "x", "leafUuid": "y"}),
		[]byte("\r\n"), asJSON(torn.all[2]), []byte("\r\n" + `{"parentUuid":"`)}, nil)
	path = v.put(data, root, mill, torn.id+".jsonl")
	v.tell(told{harness: "claude-code", native: torn.id, word: "tapir", said: 2, start: second(1), last: second(3), path: path})

	// What is no session: an index of Claude's own that tells of a session that
	// is not there and leaves out those that are, and titles of other sessions.
	v.put([]byte(`{"version":1,"entries":[{"sessionId":"`+native("dead")+`","firstPrompt":"The dodo lives","messageCount":9}]}`), root, mill, "sessions-index.json")
	v.put(lines(obj{"type": "summary", "summary": "About nothing", "leafUuid": "z"}), root, mill, native("c7")+".jsonl")
	v.put([]byte("# Memory\n"), root, mill, "memory", "MEMORY.md")
	v.put(lines(obj{"display": "The dodo lives", "pastedContents": obj{}, "timestamp": day.UnixMilli(), "project": "/srv/mill"}), ".claude", "history.jsonl")
}
