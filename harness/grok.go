package harness

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// GrokBuild is xAI's coding agent, the program "grok". A session is a folder,
// <root>/<encoded working folder>/<id>/, of which three files tell about it:
//
//   - updates.jsonl, the log that a session is restored from: notifications of the
//     Agent Client Protocol, {"timestamp", "method", "params"} lines today, bare
//     "params" in the first versions. It is only appended to; a rewind is a marker
//     in it.
//   - chat_history.jsonl, what the model is given, rewritten by compactions and
//     rewinds: typed items (chat_format_version 1) or rows with a role (0);
//   - summary.json: title, folders, git, lineage.
//
// The rules here were read from the documents and the source that xAI publishes
// (github.com/xai-org/grok-build, user guide "Session Management").
var GrokBuild = &Harness{
	Name:   grokName,
	Roots:  grokRoots,
	Claims: grokClaims,
	Group:  grokGroup,
	Detect: grokDetect,
	New:    func(src Source) Parser { return newGrokParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"grok", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Restore: grokRestore,
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"grok", noOption(prompt)}, Dir: dir}
	},
}

const (
	grokName    = "grok-build"
	grokUpdates = "updates.jsonl"
	grokChat    = "chat_history.jsonl"
	grokSummary = "summary.json"
)

// GrokFiles are the files of a session's folder that are kept, in the order in
// which they stand in its canonical document: what grok needs to go on with it.
// Its system prompt, telemetry, locks and terminal logs are not among them.
var GrokFiles = []string{
	grokUpdates, grokChat, "rewind_points.jsonl",
	"plan.json", "plan_mode.json", "prompt_context.json", "signals.json", grokSummary,
}

// grokLimit bounds the files that only help to go on: rewind points hold copies
// of files.
func grokLimit(name string) int64 {
	if name == grokUpdates || name == grokChat {
		return 0
	}
	return 8 << 20
}

func grokRoots(env Env) []string {
	home := envDir(env, "GROK_HOME", ".grok")
	return []string{filepath.Join(home, "sessions")}
}

func grokClaims(rel string) bool {
	return strings.Count(rel, "/") == 2 && slices.Contains(GrokFiles, path.Base(rel))
}

func grokGroup(file string) Group {
	dir, ok := grokFolder(file)
	if !ok {
		return Group{}
	}
	parts := partsOf(dir, GrokFiles, grokLimit)
	for _, carrier := range []string{grokUpdates, grokChat, grokSummary} {
		if slices.ContainsFunc(parts, func(p part) bool { return p.name == carrier }) {
			return Group{
				Carrier: filepath.Join(dir, carrier),
				Sources: func() ([]Source, error) {
					head := partHead{Harness: grokName, Parent: grokParent(dir)}
					return []Source{partsSource(head, dir, carrier, parts)}, nil
				},
			}
		}
	}
	return Group{}
}

// grokSubfolders lie in a session's folder and hold no sessions.
var grokSubfolders = words(`subagents compaction compaction_checkpoints compaction_requests recap_requests
	goal workflows mcp images terminal`)

// grokFolder finds the session's folder that a file lies in, or below.
func grokFolder(file string) (string, bool) {
	dir := filepath.Dir(file)
	if isGrokFolder(dir) {
		return dir, true
	}
	for range 3 {
		below := grokSubfolders[filepath.Base(dir)]
		if dir = filepath.Dir(dir); below {
			return dir, isGrokFolder(dir)
		}
	}
	return "", false
}

// isGrokFolder reports whether a folder holds a session: it has a summary of Grok's,
// or it stands where sessions do and has a log of Grok's.
func isGrokFolder(dir string) bool {
	if grokIsSummary(gjson.Parse(headOf(filepath.Join(dir, grokSummary)))) {
		return true
	}
	if filepath.Base(filepath.Dir(filepath.Dir(dir))) != "sessions" {
		return false
	}
	for _, name := range []string{grokUpdates, grokChat} {
		if head := headOf(filepath.Join(dir, name)); head != "" && grokDetect(newHead([]byte(head))) {
			return true
		}
	}
	return false
}

// headOf is the beginning of a regular file, or "".
func headOf(file string) string {
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := openRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	return strings.TrimPrefix(string(head), "\ufeff")
}

func grokDetect(h Head) bool {
	for _, r := range h.Records {
		if _, ok := grokUpdate(r); ok || grokIsSummary(r) || grokIsItem(r) {
			return true
		}
	}
	if len(h.Records) == 0 && !h.Whole { // one record longer than the head
		if _, ok := grokUpdate(h.Doc); ok || grokIsItem(h.Doc) {
			return true
		}
	}
	return grokIsSummary(h.Doc) || grokIsRows(h.Records)
}

// grokUpdate finds the params of a notification, with or without its envelope.
// Other agents speak the same protocol; what is logged of it on the wire has "jsonrpc".
func grokUpdate(r gjson.Result) (params gjson.Result, ok bool) {
	if params = r.Get("params"); !params.IsObject() {
		params = r
	}
	return params, params.Get("update.sessionUpdate").Type == gjson.String &&
		params.Get("sessionId").Type == gjson.String && !r.Get("jsonrpc").Exists()
}

func grokIsSummary(r gjson.Result) bool {
	return r.Get("info.id").Type == gjson.String && r.Get("info.cwd").Type == gjson.String &&
		(r.Get("session_summary").Exists() || r.Get("current_model_id").Exists() || r.Get("created_at").Exists())
}

// grokIsItem recognises an item of the chat history by what no other agent's
// records have: neither ids nor times, and Grok's own fields.
func grokIsItem(r gjson.Result) bool {
	for _, foreign := range []string{"uuid", "sessionId", "session_id", "timestamp", "message", "payload", "data"} {
		if r.Get(foreign).Exists() {
			return false
		}
	}
	switch r.Get("type").Str {
	case "user":
		return r.Get("content").Exists() && (r.Get("prompt_index").Type == gjson.Number || r.Get("synthetic_reason").Type == gjson.String)
	case "assistant":
		return r.Get("content").Type == gjson.String && r.Get("model_id").Type == gjson.String
	case "tool_result":
		return r.Get("content").Exists() && r.Get("tool_call_id").Type == gjson.String
	case "backend_tool_call":
		return r.Get("kind.tool_type").Type == gjson.String
	}
	return false
}

// grokIsRows recognises a chat history of version 0: rows as every OpenAI client
// has them, except that the model's say which model it was.
func grokIsRows(records []gjson.Result) bool {
	model := false
	for _, r := range records {
		if !slices.Contains([]string{"system", "user", "assistant", "tool"}, r.Get("role").Str) ||
			r.Get("type").Exists() || r.Get("message").Exists() || r.Get("timestamp").Exists() || r.Get("id").Exists() {
			return false
		}
		model = model || r.Get("role").Str == "assistant" && r.Get("model_id").Type == gjson.String
	}
	return model
}
