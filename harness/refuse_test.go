package harness

import (
	"errors"
	"strings"
	"testing"
)

func TestRefuse(t *testing.T) {
	database := func(schema string) string { return sqliteMagic + strings.Repeat("\x00", 84) + schema }
	for _, c := range []struct{ name, head, want string }{
		{"claude prompts", `{"display":"fix it","pastedContents":{},"timestamp":1790000000000,"project":"/d"}`, "Claude Code's history of prompts"},
		{"codex prompts", `{"session_id":"s","ts":1790000000,"text":"fix it"}`, "Codex's history of prompts"},
		{"grok prompts", `{"timestamp":"2026-09-21T14:13:20Z","session_id":"s","prompt":"fix it","is_bash":false}`, "Grok's history of prompts"},
		{"gemini prompts", `[{"sessionId":"s","messageId":0,"type":"user","message":"fix it","timestamp":"2026-01-01T00:00:00Z"}]`, "Gemini CLI's log of prompts"},
		{"gemini checkpoint", `{"history":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}],"toolCall":{"name":"replace","args":{}},"commitHash":"1"}`, "a checkpoint that Gemini CLI wrote"},
		{"gemini checkpoint, printed", "{\n\"clientHistory\": [{\"role\":\"user\",\"parts\":[{\"text\":\"a\"}]},\n{\"role\":\"model\",\"parts\":[{\"text\":\"b\"}]}],\n\"toolCall\": {\"name\":\"replace\"}\n}", "a checkpoint that Gemini CLI wrote"},
		{"the beginning of a gemini checkpoint", `{"history":[{"id":1,"type":"user","text":"a"},{"id":2,"type":"gemini","text":"b"},{"id":3,"ty`, "a checkpoint that Gemini CLI wrote"},
		{"only questions", `{"role":"user","content":"fix it"}`, "a list of prompts, without answers"},
		{"only answers", `{"role":"assistant","content":"done"}`, "without what it was asked"},
		{"training data", strings.Repeat(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`+"\n", 2), "a collection of conversations"},
		{"training data, printed", "[\n" + strings.Repeat(`{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]},`+"\n", 2) + "{}]", "a collection of conversations"},
		{"a list of conversations", `[` + strings.Repeat(`{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]},`, 2) + `{}]`, "a collection of conversations"},
		{"claude stream", `{"type":"system","subtype":"init","cwd":"/d","session_id":"s","tools":[]}` + "\n" +
			`{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s","parent_tool_use_id":null}`, "claude -p"},
		{"codex stream", `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"item.completed","item":{}}`, "codex exec --json"},
		{"opencode stream", `{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{}}`, "opencode run"},
		{"gemini stream", `{"type":"init","timestamp":"2026-01-01T00:00:00Z","session_id":"s","model":"m"}`, "gemini --output-format"},
		{"protocol log", `{"jsonrpc":"2.0","method":"session/update","params":{}}`, "a protocol between programs"},
		{"community grok", database("CREATE TABLE sessions (id TEXT) CREATE TABLE tool_calls(id) CREATE TABLE usage_events (id)"), "community's grok-cli"},
		{"codex state", database(`CREATE TABLE "threads" (id TEXT)`), "an index of Codex"},
		{"codex history index", database("CREATE TABLE IF NOT EXISTS threads_fts (id TEXT)"), "an index of Codex"},
		{"grok search", database("CREATE VIRTUAL TABLE session_docs_fts USING fts5(x)"), "a search index of Grok"},
		{"a table of another name", database("CREATE TABLE threadsafe (id)"), "a database that holds no sessions"},
		{"empty database", sqliteMagic, "a database that holds no sessions"},
		{"anything else", `{"name":"shop"}`, ErrUnknown.Error()},
		{"nothing", "", ErrUnknown.Error()},
	} {
		h, err := Detect([]byte(c.head))
		if h != nil || !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", c.name, h, err)
		}
	}
}
