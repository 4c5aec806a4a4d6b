package main

// codexLine is a line of a rollout since September 2025.
func codexLine(m int, kind string, payload obj) obj {
	return obj{"timestamp": clock(m), "type": kind, "payload": payload}
}

func codexMeta(m int, id string, more obj) obj {
	return codexLine(m, "session_meta", obj{"id": id, "timestamp": clock(m), "cwd": "/srv/mill", "originator": "codex_cli_rs", "cli_version": "0.118.0", "source": "cli",
		"git": obj{"commit_hash": "9f2c1e7", "branch": "main", "repository_url": "https://example.com/ada/mill.git"}}.with(more))
}

func codexMessage(role, text string) obj {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	return obj{"type": "message", "role": role, "content": []any{obj{"type": kind, "text": text}}}
}

// codexAsk and codexSay are what a person and the model say, in both streams.
func codexAsk(m int, text string) []obj {
	return []obj{codexLine(m, "response_item", codexMessage("user", text)), codexLine(m, "event_msg", obj{"type": "user_message", "message": text, "images": []any{}})}
}

func codexSay(m int, text string) []obj {
	return []obj{codexLine(m, "event_msg", obj{"type": "agent_message", "message": text}), codexLine(m, "response_item", codexMessage("assistant", text))}
}

// together is one list of several.
func together(lists ...[]obj) []obj {
	var all []obj
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func (v *village) codex() {
	const root = ".codex/sessions"
	rollout := func(id string) string { return "rollout-2026-09-03T12-00-00-" + id + ".jsonl" }
	injected := func(m int) []obj {
		return []obj{codexLine(m, "response_item", codexMessage("developer", "<permissions instructions>all</permissions instructions>")),
			codexLine(m, "response_item", codexMessage("user", "# AGENTS.md instructions for /srv/mill\n\n<INSTRUCTIONS>\nWrite Go.\n</INSTRUCTIONS>")),
			codexLine(m, "response_item", codexMessage("user", "<environment_context>\n  <cwd>/srv/mill</cwd>\n</environment_context>")),
			codexLine(m, "turn_context", obj{"turn_id": "t1", "cwd": "/srv/mill", "model": "gpt-5.2-codex", "effort": "high"})}
	}
	short := func(id, word string) []byte {
		return lines(together([]obj{codexMeta(1, id, nil)}, injected(1), codexAsk(2, "Look at the "+word+"."), codexSay(3, "I see it."))...)
	}

	// 2025: whole documents, then bare items without times.
	id := native("a0")
	path := v.put(asJSON(obj{"session": obj{"timestamp": clock(1), "id": id, "instructions": ""}, "items": []any{
		codexMessage("user", "Draw the osprey nest."), codexMessage("assistant", "Drawn.")}}), root, "rollout-2025-05-01-"+id+".json")
	v.tell(told{harness: "codex-cli", native: id, word: "osprey", said: 1, start: second(1), path: path})
	id = native("a1")
	path = v.put(lines(obj{"id": id, "timestamp": clock(1), "instructions": nil}, codexMessage("user", "<environment_context>\nCurrent working directory: /srv/mill\n</environment_context>"),
		obj{"record_type": "state"}, codexMessage("user", "Draw the heron nest."), codexMessage("assistant", "Drawn.")), root, "2025/08/01", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "heron", said: 1, start: second(1), path: path})

	// Today's form; archived too, the same.
	id = native("a2")
	egret := lines(together([]obj{codexMeta(1, id, nil)}, injected(1), codexAsk(2, "Follow the egret."), []obj{
		codexLine(3, "response_item", obj{"type": "reasoning", "summary": []any{}, "encrypted_content": "Z0FBQUE="}),
		codexLine(3, "response_item", obj{"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_1", "status": "completed",
			"input": "*** Begin Patch\n*** Update File: egret.go\n@@\n-a\n+b\n*** End Patch"}),
		codexLine(3, "event_msg", obj{"type": "patch_apply_end", "call_id": "call_1", "success": true, "changes": obj{"/srv/mill/egret.go": obj{"type": "update", "unified_diff": "-a\n+b"}}}),
		codexLine(3, "response_item", obj{"type": "custom_tool_call_output", "call_id": "call_1", "output": `{"output":"Success","metadata":{"exit_code":0}}`})},
		codexSay(4, "It flew east."))...)
	path = v.put(egret, root, "2026/09/03", rollout(id))
	v.put(egret, ".codex/archived_sessions", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "egret", said: 1, start: second(1), last: second(4), path: path})
	parent := id

	// Compressed: alone, and beside the plain file.
	id = native("a3")
	path = v.put(squeeze(short(id, "plover")), root, "2026/08/01", rollout(id)+".zst")
	v.tell(told{harness: "codex-cli", native: id, word: "plover", said: 1, start: second(1), last: second(3), path: path})
	id = native("a4")
	path = v.put(short(id, "curlew"), root, "2026/08/01", rollout(id))
	v.put(squeeze(short(id, "curlew")), root, "2026/08/01", rollout(id)+".zst")
	v.tell(told{harness: "codex-cli", native: id, word: "curlew", said: 1, start: second(1), last: second(3), path: path})

	// A fork, whose copied history bears the fork's time; a sub-agent; a guardian.
	id = native("a5")
	path = v.put(lines(together([]obj{codexMeta(40, id, obj{"forked_from_id": parent}), codexMeta(40, parent, nil)}, injected(40),
		codexAsk(40, "Follow the egret."), codexSay(40, "It flew east."), []obj{codexLine(50, "turn_context", obj{"turn_id": "t9", "cwd": "/srv/mill", "model": "gpt-5.2-codex"})},
		codexAsk(50, "Follow the puffin instead."), codexSay(51, "It flew west."))...), root, "2026/09/03", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "puffin", said: 1, last: second(51), forkedFrom: parent, path: path})
	id = native("a6")
	path = v.put(lines(together([]obj{codexMeta(3, id, obj{"source": obj{"subagent": obj{"thread_spawn": obj{"parent_thread_id": parent, "depth": 1}}}, "parent_thread_id": parent})},
		codexAsk(3, "You count every gannet."), codexSay(4, "Nine."))...), root, "2026/09/03", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "gannet", start: second(3), last: second(4), parent: parent, path: path})

	// Paginated history, which writes no events of the old kind; and a thread that
	// was resumed and rolled back.
	id = native("a7")
	item := func(m int, kind, text string) obj {
		return codexLine(m, "event_msg", obj{"type": "item_completed", "thread_id": id, "turn_id": "t1", "item": obj{"type": kind, "id": kind + "1", "content": []any{obj{"type": "text", "text": text}}}})
	}
	path = v.put(lines(codexMeta(1, id, obj{"history_mode": "paginated"}), codexLine(2, "response_item", codexMessage("user", "Ring the fulmar.")), item(2, "UserMessage", "Ring the fulmar."),
		codexLine(3, "response_item", codexMessage("assistant", "Ringed.")), item(3, "AgentMessage", "Ringed.")), root, "2026/09/03", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "fulmar", said: 1, start: second(1), last: second(3), path: path})
	id = native("a8")
	path = v.put(lines(together([]obj{codexMeta(1, id, nil)}, codexAsk(2, "Ring the dunlin."), codexSay(3, "Ringed."), []obj{codexMeta(4, id, nil)},
		codexAsk(5, "Now let it fly."), codexSay(6, "It flies."), []obj{codexLine(7, "event_msg", obj{"type": "thread_rolled_back", "num_turns": 1})})...), root, "2026/09/03", rollout(id))
	v.tell(told{harness: "codex-cli", native: id, word: "dunlin", start: second(1), path: path})

	// Codex's own index and its prompt history are not asked.
	v.put(lines(obj{"id": native("dead"), "thread_name": "The dodo lives", "updated_at": clock(1)}), ".codex", "session_index.jsonl")
	v.put(lines(obj{"session_id": native("dead"), "ts": day.Unix(), "text": "The dodo lives"}), ".codex", "history.jsonl")
	v.put([]byte("half written"), root, "2026/09/03", "rollout-2026-09-03T12-00-00-"+native("a9")+".jsonl.tmp")
}
