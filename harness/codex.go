package harness

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// CodexCLI is OpenAI's Codex, whose command line, desktop app and editor
// extension write the same rollout files. Four shapes of them exist:
//
//   - one JSON document {"session", "items"}, by the TypeScript CLI of early 2025;
//   - bare Responses API items, one a line, after a header line, to mid 2025;
//   - {"timestamp", "type", "payload"} lines since then, in which what was said
//     stands twice: as response items for the model and as events for the screen;
//   - the same lines with "history_mode":"paginated", whose events are finished
//     items and whose forks name their base instead of copying it.
var CodexCLI = &Harness{
	Name:   codexName,
	Roots:  codexRoots,
	Claims: codexClaims,
	Detect: codexDetect,
	New:    func(src Source) Parser { return newCodexParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"codex", "resume", m.NativeID}, Dir: m.Dir}
	},
	Restore: codexRestore,
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"codex", prompt}, Dir: dir}
	},
}

const codexName = "codex-cli"

func codexRoots(env Env) []string {
	home := envDir(env, "CODEX_HOME", ".codex")
	return []string{filepath.Join(home, "sessions"), filepath.Join(home, "archived_sessions")}
}

// codexClaims takes rollouts only: beside them lie indexes, locks and half-written
// *.tmp files of the worker that compresses old ones.
func codexClaims(rel string) bool {
	base := path.Base(rel)
	if !strings.HasPrefix(base, "rollout-") {
		return false
	}
	return strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".jsonl.zst") || strings.HasSuffix(base, ".json")
}

// codexRecordTypes are the types of a line that has a payload.
var codexRecordTypes = []string{
	"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
	"inter_agent_communication", "inter_agent_communication_metadata", "token_usage_record",
}

func codexDetect(h Head) bool {
	for i, r := range h.Records {
		if r.Get("payload").IsObject() && r.Get("timestamp").Type == gjson.String &&
			slices.Contains(codexRecordTypes, r.Get("type").String()) {
			return true
		}
		if r.Get("record_type").String() == "state" {
			return true
		}
		if i == 0 && codexHeader(r) {
			return true
		}
	}
	s := h.Doc.Get("session")
	return codexHeader(s) && (h.Doc.Get("items").IsArray() || !h.Whole)
}

// codexHeader reports whether r is the header of an early rollout: the first line
// of the bare kind, the "session" of a whole document.
func codexHeader(r gjson.Result) bool {
	return r.Get("id").Type == gjson.String && r.Get("timestamp").Type == gjson.String && !r.Get("type").Exists() &&
		(r.Get("instructions").Exists() || r.Get("git").IsObject())
}
