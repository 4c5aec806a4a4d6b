package harness

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// ClaudeCode is Anthropic's Claude Code: the terminal, its editor extensions, its
// desktop and its SDK, which all write the same files.
//
// A session is one JSONL file, <root>/<slug>/<session id>.jsonl, where the slug is
// the working folder with everything but letters and digits turned into "-". That
// cannot be undone, so the folder is read from the records. Sub-agents have files
// of their own, beside it (agent-*.jsonl) or below it (<session id>/subagents/…);
// versions before 2.0.28 wrote them into the session's file. No schema is
// published; what is known comes from transcripts of versions 1.0.24 to 2.1.332.
var ClaudeCode = &Harness{
	Name:   "claude-code",
	Roots:  claudeRoots,
	Claims: claudeClaims,
	Detect: claudeDetect,
	New:    func(src Source) Parser { return newClaudeParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"claude", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Restore: claudeRestore,
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"claude", escapeMentions(prompt)}, Dir: dir}
	},
}

// claudeRoots lists the projects folder of every configuration folder: those of
// CLAUDE_CONFIG_DIR (separated by commas) or else ~/.claude, and the XDG place of
// older versions.
func claudeRoots(env Env) []string {
	dirs := envList(env, "CLAUDE_CONFIG_DIR", ",")
	if len(dirs) == 0 && env.Home != "" {
		dirs = append(dirs, filepath.Join(env.Home, ".claude"))
	}
	xdg := ""
	if env.Getenv != nil {
		xdg = env.Getenv("XDG_CONFIG_HOME")
	}
	if xdg == "" && env.Home != "" {
		xdg = filepath.Join(env.Home, ".config")
	}
	if xdg != "" {
		dirs = append(dirs, filepath.Join(xdg, "claude"))
	}
	var roots []string
	for _, d := range dirs {
		roots = appendNew(roots, filepath.Join(d, "projects"))
	}
	return roots
}

// claudeClaims takes sessions and sub-agents, and leaves what lies beside them:
// spilled tool results, memories, workflow journals, the session index.
func claudeClaims(rel string) bool {
	base := path.Base(rel)
	if !strings.HasSuffix(base, ".jsonl") || base == "journal.jsonl" || strings.HasPrefix(base, ".") {
		return false
	}
	parts := strings.Split(rel, "/")
	switch {
	case len(parts) == 2: // <slug>/<session>.jsonl, <slug>/agent-<id>.jsonl
		return true
	case len(parts) >= 4: // <slug>/<session>/subagents/…/agent-<id>.jsonl
		return parts[2] == "subagents" && strings.HasPrefix(base, "agent-")
	}
	return false
}

// claudeMetaTypes are the record types that stand for the session as a whole, and
// a field that each of them has.
var claudeMetaTypes = map[string]string{
	"summary":               "leafUuid",
	"file-history-snapshot": "snapshot",
	"file-history-delta":    "snapshotMessageId",
	"queue-operation":       "operation",
	"ai-title":              "aiTitle",
	"custom-title":          "customTitle",
	"agent-name":            "agentName",
	"last-prompt":           "lastPrompt",
	"mode":                  "mode",
	"permission-mode":       "permissionMode",
	"tag":                   "tag",
	"pr-link":               "prUrl",
	"fork-context-ref":      "parentSessionId",
	"atis-latch":            "atis",
	"api-request":           "querySource",
	"api-request-shape":     "shapeHash",
	"api-request-blob":      "hash",
	"cost-state":            "totalCostUSD",
	"tools-used":            "tools",
}

// claudeDetect knows a transcript by its envelope or by a record of the session as
// a whole. Qwen Code copied the envelope but keeps Gemini's message.parts.
func claudeDetect(h Head) bool {
	for _, r := range h.Records {
		switch claudeShape(r) {
		case claudeYes:
			return true
		case claudeNo:
			return false
		}
	}
	if logs := h.Doc.Get("loglines"); logs.IsArray() { // the web's export
		return claudeShape(logs.Get("0")) == claudeYes
	}
	if len(h.Records) == 0 && !h.Whole {
		// One record longer than the head. Its session id may stand behind the
		// cut, so the other fields must all be there.
		d := h.Doc
		return d.Get("parentUuid").Exists() && d.Get("isSidechain").Exists() && claudeContent(d)
	}
	return false
}

const (
	claudeMaybe = iota
	claudeYes
	claudeNo
)

func claudeShape(r gjson.Result) int {
	kind := r.Get("type").String()
	if field := claudeMetaTypes[kind]; field != "" && r.Get(field).Exists() {
		return claudeYes
	}
	if !r.Get("sessionId").Exists() || !r.Get("parentUuid").Exists() && !r.Get("isSidechain").Exists() {
		return claudeMaybe
	}
	switch {
	case r.Get("message.parts").Exists():
		return claudeNo
	case claudeContent(r):
		return claudeYes
	case r.Get("isSidechain").Exists() && slices.Contains([]string{"progress", "attachment", "system"}, kind):
		return claudeYes
	}
	return claudeMaybe
}

func claudeContent(r gjson.Result) bool {
	m := r.Get("message")
	return (m.Get("role").Exists() || m.Get("content").Exists()) && !m.Get("parts").Exists()
}
