//go:build unix

package e2e

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Grok is known by its documents only: its program is in no registry. A session is
// written here as they say, and a stand-in for the program tells how it was started.

const grokID = "019a0000-0000-7000-8000-0000000000e2"

func grokWork() *work {
	return &work{
		by:      &agent{name: "grok", program: "grok", harness: "grok-build", branch: true},
		request: "Have the marmot service greet visitors with a snickleburr banner",
		thought: "A banner should fold on narrow screens",
		command: "printf 'banner%s token %s\\n' _plumfeather " + secret,
		output:  "banner_plumfeather",
		file:    "greeting/snickleburr.md",
		content: "# Snickleburr\n\nIt folds.\n",
		answer:  "Done: the banner folds at forty columns and hides on the second visit.",
		query:   "snickleburr banner visitors",
	}
}

// grokFolder is the session's folder below the home.
func grokFolder(m *machine) string { return ".grok/sessions/" + url.QueryEscape(m.repo) + "/" + grokID }

// writeGrokSession writes the folder of a session in which the work was done.
func writeGrokSession(t *testing.T, m *machine, w *work) {
	t.Helper()
	now := time.Now()
	var log strings.Builder
	update := func(update object) {
		now = now.Add(time.Second)
		log.Write(encode(object{"timestamp": now.Unix(), "method": "session/update", "params": object{"sessionId": grokID, "update": update}}))
		log.WriteString("\n")
	}
	text := func(kind, text string) {
		update(object{"sessionUpdate": kind, "content": object{"type": "text", "text": text}, "_meta": object{"modelId": "grok-4.5", "promptIndex": 0}})
	}
	text("user_message_chunk", w.request)
	text("agent_thought_chunk", w.thought)
	text("agent_message_chunk", "First I look around.")
	update(object{"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "run_terminal_command", "rawInput": object{"command": w.command}})
	update(object{"sessionUpdate": "tool_call_update", "toolCallId": "c1", "kind": "execute", "status": "completed",
		"content": []object{{"type": "content", "content": object{"type": "text", "text": w.output + " token " + secret}}}})
	text("agent_message_chunk", "Now I write it down.")
	update(object{"sessionUpdate": "tool_call", "toolCallId": "c2", "title": "write", "rawInput": object{"file_path": w.file, "content": w.content}})
	update(object{"sessionUpdate": "tool_call_update", "toolCallId": "c2", "kind": "edit", "status": "completed", "locations": []object{{"path": w.file}},
		"content": []object{{"type": "diff", "path": filepath.Join(m.repo, w.file), "oldText": "", "newText": w.content}}})
	text("agent_message_chunk", w.answer)
	summary := object{
		"info": object{"id": grokID, "cwd": m.repo}, "created_at": now.UTC(), "updated_at": now.UTC(), "num_messages": 4,
		"current_model_id": "grok-4.5", "chat_format_version": 1, "head_branch": "trunk",
		"git_root_dir": m.repo, "git_remotes": []string{"git@git.example.com:burrow/marmot.git"},
	}
	m.writeFile(t, grokFolder(m)+"/updates.jsonl", log.String())
	m.writeFile(t, grokFolder(m)+"/summary.json", string(encode(summary)))
}

// installGrok puts the stand-in into PATH: it prints its folder and its arguments.
func installGrok(t *testing.T, m *machine) {
	t.Helper()
	const program = "#!/bin/sh\npwd\nprintf '%s\\n' \"$@\"\n"
	m.writeFile(t, "bin/grok", program)
}

// goOnInGrok lets sessdex start Grok, with a session of its own or with another
// agent's, and checks what it was started with.
func goOnInGrok(t *testing.T, m *machine, w *work) {
	if w.by.harness != "grok-build" {
		out := m.run(t, nil, m.sessdex, "resume", w.id, "--in", "grok-build", "--exec")
		if !strings.HasPrefix(out, m.repo+"\n") {
			t.Errorf("Grok was started elsewhere than in %s:\n%s", m.repo, tail(out))
		}
		wantQuoted(t, w, out)
		return
	}
	folder := filepath.Join(m.home, grokFolder(m))
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if out, want := m.run(t, nil, m.sessdex, "resume", w.id, "--exec"), m.repo+"\n--resume\n"+grokID+"\n"; out != want {
		t.Errorf("Grok was started with %q, want %q", out, want)
	}
	for _, name := range []string{"updates.jsonl", "summary.json"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			t.Errorf("the session was not restored: %v", err)
		}
	}
}
