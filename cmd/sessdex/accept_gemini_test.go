package main

import (
	"crypto/sha256"
	"encoding/hex"
)

func (v *village) gemini() {
	const root = ".gemini/tmp"
	sum := sha256.Sum256([]byte("/srv/mill"))
	hash := hex.EncodeToString(sum[:])
	user := func(id string, m int, text string) obj {
		return obj{"id": id, "timestamp": clock(m), "type": "user", "content": text}
	}
	model := func(id string, m int, text string) obj {
		return obj{"id": id, "timestamp": clock(m), "type": "gemini", "content": text, "model": "gemini-3-pro", "thoughts": []any{}, "tokens": obj{"input": 9, "output": 7, "total": 16}}
	}
	head := func(id string, m int) obj {
		return obj{"sessionId": id, "projectHash": hash, "startTime": clock(m), "lastUpdated": clock(m)}
	}
	document := func(id string, m int, messages ...any) []byte {
		return asJSON(head(id, m).with(obj{"messages": messages}))
	}
	name := func(id string) string { return "session-2026-09-03T10-01-" + id[:8] }

	// The whole document in the folder named by the project's hash, and what else
	// Gemini writes there: prompts, a saved chat and a checkpoint that repeat it.
	id := native("b1")
	path := v.put(document(id, 1, user("m1", 1, "Herd the bison."), model("m2", 2, "They are in the fold."), obj{"id": "m3", "timestamp": clock(3), "type": "info", "content": "Update available"}),
		root, hash, "chats", name(id)+".json")
	v.tell(told{harness: "gemini-cli", native: id, word: "bison", said: 1, start: second(1), path: path})
	v.put(asJSON([]any{obj{"sessionId": id, "messageId": 0, "type": "user", "message": "Herd the bison.", "timestamp": clock(1)}}), root, hash, "logs.json")
	content := []any{obj{"role": "user", "parts": []any{obj{"text": "Herd the bison."}}}, obj{"role": "model", "parts": []any{obj{"text": "They are in the fold."}}}}
	v.put(asJSON(obj{"history": content, "clientHistory": content, "toolCall": obj{"name": "replace", "args": obj{"file_path": "/srv/mill/fold.go"}}, "commitHash": "9f2c1e7"}),
		root, hash, "checkpoints", "2026-09-03T10-02-00_000Z-fold.go-replace.json")

	// The log of upserts: a message written twice, one taken back, a patch; with
	// a sub-agent in a folder of the session's name.
	id = native("b2")
	call := obj{"id": "c1", "name": "write_file", "args": obj{"file_path": "/srv/mill/moose.go", "content": "x"}, "status": "success", "timestamp": clock(3),
		"result": []any{obj{"functionResponse": obj{"id": "c1", "name": "write_file", "response": obj{"output": "ok"}}}}}
	path = v.put(lines(head(id, 1).with(obj{"kind": "main"}), user("m0", 1, "<session_context>\nThis is the Gemini CLI.\n</session_context>"), user("m1", 2, "Call the moose."), model("m2", 3, ""),
		model("m2", 3, "Called.").with(obj{"toolCalls": []any{call}}), user("m3", 4, "Call it back."), obj{"$rewindTo": "m3"}, user("m4", 5, "Let it rest."),
		model("m5", 6, "It rests."), obj{"$set": obj{"lastUpdated": clock(6), "summary": "A moose"}}), root, "mill", "chats", name(id)+".jsonl")
	v.tell(told{harness: "gemini-cli", native: id, word: "moose", start: second(1), last: second(6), path: path})
	v.put([]byte("/srv/mill"), root, "mill", ".project_root")
	v.put(asJSON(obj{"projects": obj{"/srv/mill": "mill"}}), ".gemini", "projects.json")
	sub := native("b4")
	v.put(lines(head(sub, 3).with(obj{"kind": "subagent"}), user("s1", 3, "You track an elk."), model("s2", 4, "Tracked.")), root, "mill", "chats", id, sub+".jsonl")
	v.tell(told{harness: "gemini-cli", native: sub, word: "elk", start: second(3), last: second(4), parent: id})

	// A session that was moved from one form to the other and left in both.
	id = native("b3")
	v.put(document(id, 1, user("m1", 1, "Milk the caribou."), model("m2", 2, "One litre.")), root, "mill", "chats", name(id)+".json")
	path = v.put(lines(head(id, 1), user("m1", 1, "Milk the caribou."), model("m2", 2, "One litre."), user("m3", 3, "And again."), model("m4", 4, "Two.")), root, "mill", "chats", name(id)+".jsonl")
	v.tell(told{harness: "gemini-cli", native: id, word: "caribou", said: 2, start: second(1), last: second(4), path: path})
	v.put([]byte("half written"), root, "mill", "chats", name(id)+".json.tmp-77")
}
