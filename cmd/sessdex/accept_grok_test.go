package main

import "fmt"

// grokLog writes a session's updates.jsonl.
type grokLog struct {
	id    string
	bare  bool // without the envelope, as at first
	all   []obj
	count int
}

func (g *grokLog) update(m int, kind string, more obj) {
	g.count++
	params := obj{"sessionId": g.id, "update": obj{"sessionUpdate": kind}.with(more)}
	if g.bare {
		g.all = append(g.all, params)
		return
	}
	params["_meta"] = obj{"eventId": fmt.Sprintf("%s-%d", g.id, g.count), "agentTimestampMs": minute(m).UnixMilli()}
	method := "session/update"
	if kind == "turn_completed" || kind == "rewind_marker" || kind == "subagent_spawned" {
		method = "_x.ai/session/update"
	}
	g.all = append(g.all, obj{"timestamp": minute(m).Unix(), "method": method, "params": params})
}

// ask is the n-th prompt, from 0; say is the model's answer in two chunks.
func (g *grokLog) ask(m, n int, text string) {
	g.update(m, "user_message_chunk", obj{"content": obj{"type": "text", "text": text}, "_meta": obj{"modelId": "grok-4", "promptIndex": n}})
}

func (g *grokLog) say(m int, text string) {
	half := len(text) / 2
	g.update(m, "agent_message_chunk", obj{"content": obj{"type": "text", "text": text[:half]}})
	g.update(m, "agent_message_chunk", obj{"content": obj{"type": "text", "text": text[half:]}})
	g.update(m, "turn_completed", obj{"prompt_id": fmt.Sprint("p", m), "stop_reason": "end_turn", "usage": obj{"inputTokens": 9, "outputTokens": 7, "totalTokens": 16}})
}

// grokRows is the same talk as the model saw it.
func grokRows(said ...string) []obj {
	rows := []obj{{"type": "system", "content": "You are Grok."},
		{"type": "user", "content": []any{obj{"type": "text", "text": "<user_info>\nOS: linux\n</user_info>"}}, "synthetic_reason": "system_reminder"}}
	for i, text := range said {
		if i%2 == 0 {
			rows = append(rows, obj{"type": "user", "content": []any{obj{"type": "text", "text": "<user_query>\n" + text + "\n</user_query>"}}, "prompt_index": i / 2})
		} else {
			rows = append(rows, obj{"type": "assistant", "content": text, "model_id": "grok-4"})
		}
	}
	return rows
}

func (v *village) grok() {
	const root = ".grok/sessions/%2Fsrv%2Fmill"
	summary := func(id string, from, to int, more obj) {
		v.put(asJSON(obj{"info": obj{"id": id, "cwd": "/srv/mill"}, "session_summary": "About " + id, "created_at": clock(from), "updated_at": clock(to), "last_active_at": clock(to),
			"num_messages": 2, "num_chat_messages": 2, "current_model_id": "grok-4", "chat_format_version": 1, "head_branch": "main", "git_root_dir": "/srv/mill",
			"git_remotes": []any{"https://example.com/ada/mill.git"}}.with(more)), root, id, "summary.json")
	}
	updates := func(g *grokLog) { v.put(lines(g.all...), root, g.id, "updates.jsonl") }

	// The whole folder, with the model's view beside it; a sub-agent of its own folder.
	id, sub := native("e1"), native("e4")
	g := &grokLog{id: id}
	g.ask(1, 0, "Dig out the badger.")
	g.update(2, "tool_call", obj{"toolCallId": "c1", "title": "Edit", "kind": "edit", "rawInput": obj{"file_path": "/srv/mill/badger.go", "old_string": "a", "new_string": "b"},
		"_meta": obj{"x.ai/tool": obj{"name": "search_replace", "kind": "edit"}}})
	g.update(2, "tool_call_update", obj{"toolCallId": "c1", "status": "completed", "locations": []any{obj{"path": "/srv/mill/badger.go"}}, "rawOutput": obj{"type": "text", "text": "ok"}})
	g.update(2, "subagent_spawned", obj{"subagent_id": sub, "child_session_id": sub, "parent_session_id": id, "subagent_type": "explore", "description": "Dig"})
	g.say(3, "It is out.")
	updates(g)
	v.put(lines(grokRows("Dig out the badger.", "It is out.")...), root, id, "chat_history.jsonl")
	v.put(lines(obj{"type": "turn_started", "ts": clock(1)}), root, id, "events.jsonl")
	v.put(asJSON(obj{}), root, id, "signals.json")
	summary(id, 1, 3, nil)
	v.tell(told{harness: "grok-build", native: id, word: "badger", said: 1, start: second(1), last: second(3)})
	s := &grokLog{id: sub}
	s.ask(2, 0, "You find the ferret.")
	s.say(3, "Found.")
	updates(s)
	summary(sub, 2, 3, obj{"session_kind": "subagent", "parent_session_id": id})
	v.tell(told{harness: "grok-build", native: sub, word: "ferret", start: second(2), last: second(3), parent: id})

	// A fork, whose folder begins with a copy of the first's.
	fork := native("e5")
	f := &grokLog{id: fork}
	f.ask(1, 0, "Dig out the badger.")
	f.say(3, "It is out.")
	f.ask(20, 1, "Then the weasel.")
	f.say(21, "Out, too.")
	updates(f)
	v.put(lines(grokRows("Dig out the badger.", "It is out.", "Then the weasel.", "Out, too.")...), root, fork, "chat_history.jsonl")
	summary(fork, 20, 21, obj{"session_kind": "fork", "parent_session_id": id, "forked_at": clock(20), "inherited_prefix_len": 4})
	v.tell(told{harness: "grok-build", native: fork, word: "weasel", said: 1, last: second(21), forkedFrom: id})

	// Only the model's view, in both of its forms; updates of the first form; a rewind.
	id = native("e2")
	v.put(lines(grokRows("Wash the otter.", "Washed.")...), root, id, "chat_history.jsonl")
	summary(id, 1, 2, nil)
	v.tell(told{harness: "grok-build", native: id, word: "otter", said: 1, start: second(1)})
	id = native("e3")
	v.put(lines(obj{"role": "system", "content": "You are Grok."}, obj{"role": "user", "content": "<user_query>Brush the stoat.</user_query>"}, obj{"role": "assistant", "content": "Brushed."}), root, id, "chat_history.jsonl")
	summary(id, 1, 2, obj{"chat_format_version": 0})
	v.tell(told{harness: "grok-build", native: id, word: "stoat", said: 1, start: second(1)})
	b := &grokLog{id: native("e6"), bare: true}
	b.ask(1, 0, "Comb the marten.")
	b.say(2, "Combed.")
	updates(b)
	summary(b.id, 1, 2, nil)
	v.tell(told{harness: "grok-build", native: b.id, word: "marten", said: 1, start: second(1)})
	r := &grokLog{id: native("e7")}
	r.ask(1, 0, "Trim the polecat.")
	r.say(2, "Trimmed.")
	r.ask(3, 1, "Shave it.")
	r.say(4, "Shaved.")
	r.update(5, "rewind_marker", obj{"target_prompt_index": 1})
	r.ask(6, 1, "No, wash it.")
	r.say(7, "Washed.")
	updates(r)
	summary(r.id, 1, 7, nil)
	v.tell(told{harness: "grok-build", native: r.id, word: "polecat", start: second(1), last: second(7)})
	v.put(lines(obj{"timestamp": clock(1), "session_id": native("dead"), "prompt": "The dodo lives", "is_bash": false}), root, "prompt_history.jsonl")
}
