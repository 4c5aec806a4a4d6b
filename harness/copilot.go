package harness

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// CopilotCLI is GitHub's Copilot CLI. A session is a folder,
// ~/.copilot/session-state/<id>/, in which events.jsonl has the events, {"type",
// "data", "id", "timestamp", "parentId"} a line, and workspace.yaml its title;
// early versions wrote <id>.jsonl, and before that one document with chatMessages in
// history-session-state. The events are those of the schema in
// github.com/github/copilot-sdk; ephemeral ones are not written.
var CopilotCLI = &Harness{
	Name:   copilotName,
	Roots:  copilotRoots,
	Claims: copilotClaims,
	Group:  copilotGroup,
	Detect: copilotDetect,
	New:    func(src Source) Parser { return newCopilotParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"copilot", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"copilot", "--interactive=" + prompt}, Dir: dir}
	},
}

const (
	copilotName      = "copilot-cli"
	copilotEvents    = "events.jsonl"
	copilotWorkspace = "workspace.yaml"
	copilotState     = "session-state"
)

func copilotRoots(env Env) []string {
	home := envDir(env, "COPILOT_HOME", ".copilot")
	return []string{filepath.Join(home, copilotState), filepath.Join(home, "history-session-state")}
}

// copilotClaims takes events and titles of folders, and single files. Checkpoints
// and files that a session made lie deeper.
func copilotClaims(rel string) bool {
	switch base := path.Base(rel); strings.Count(rel, "/") {
	case 0:
		return path.Ext(rel) == ".jsonl" || path.Ext(rel) == ".json"
	case 1:
		return base == copilotEvents || base == copilotWorkspace
	}
	return false
}

// copilotGroup joins a session's events and the file that has its title.
func copilotGroup(file string) Group {
	dir, base := filepath.Split(file)
	dir = filepath.Clean(dir)
	if base != copilotEvents && base != copilotWorkspace || filepath.Base(filepath.Dir(dir)) != copilotState {
		return Group{}
	}
	const mostYAML = 1 << 20
	parts := partsOf(dir, []string{copilotEvents, copilotWorkspace}, func(name string) int64 {
		if name == copilotWorkspace {
			return mostYAML
		}
		return 0
	})
	if len(parts) < 2 {
		return Group{}
	}
	return Group{Carrier: filepath.Join(dir, copilotEvents), Sources: func() ([]Source, error) {
		return []Source{partsSource(partHead{Harness: copilotName}, dir, copilotEvents, parts)}, nil
	}}
}

func copilotDetect(h Head) bool {
	for _, r := range h.Records {
		data := r.Get("data")
		switch kind := r.Get("type").Str; {
		case r.Get("sessdex_part.harness").Str == copilotName:
			return true
		case !data.IsObject() || r.Get("timestamp").Type != gjson.String:
		case kind == "session.start" && data.Get("sessionId").Type == gjson.String,
			kind == "session.resume" && data.Get("eventCount").Exists(),
			kind == "user.message" && data.Get("content").Type == gjson.String,
			kind == "assistant.message" && data.Get("messageId").Type == gjson.String,
			strings.HasPrefix(kind, "tool.execution_") && data.Get("toolCallId").Exists():
			return true
		}
	}
	return h.Doc.Get("sessionId").Type == gjson.String && h.Doc.Get("chatMessages").IsArray()
}
