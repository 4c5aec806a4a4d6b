package harness

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// GeminiCLI is Google's Gemini CLI. A session lies in
// ~/.gemini/tmp/<project>/chats/, where <project> is the sha256 of the project's
// folder (to 0.28) or a slug of it (since 0.29), and has one of two shapes:
//
//   - session-<minute>-<8 of the id>.json, one document that is written anew on
//     every change (to 0.38);
//   - the same name with .jsonl (since 0.39): a line with the session's facts, then
//     messages, each written again whenever it changes, {"$set": …} patches of the
//     facts, and {"$rewindTo": id}.
//
// Sub-agents write <id>.jsonl in a folder named by the session that started them.
// A session can be several files: going on in a .json one starts a .jsonl one, and
// older versions started a new file after each compression. They are read as one.
//
// The rules follow packages/core/src/services/chatRecordingService.ts up to 0.61.0
// and transcripts since 0.23. What is not here: the branch (never recorded), the
// version (only where the session shows a notice of an update), and the checkpoints
// of "/chat save" and of restore, which are copies of a session's history without
// its id or its times. logs.json repeats prompts and nothing else.
var GeminiCLI = &Harness{
	Name:   geminiName,
	Roots:  geminiRoots,
	Claims: geminiClaims,
	Group:  geminiGroup,
	Detect: geminiDetect,
	New:    func(src Source) Parser { return newGeminiParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"gemini", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Restore: geminiRestore,
	Start: func(dir, prompt string) Command {
		// In one word, since a prompt may begin with a dash.
		return Command{Argv: []string{"gemini", "--prompt-interactive=" + escapeMentions(prompt)}, Dir: dir}
	},
}

const geminiName = "gemini-cli"

// geminiRoots is the folder of every project's temporary files. GEMINI_CLI_HOME
// stands for the home folder that ".gemini" lies in.
func geminiRoots(env Env) []string {
	home := env.Home
	if set := envList(env, "GEMINI_CLI_HOME", "\x00"); len(set) > 0 {
		home = set[0]
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".gemini", "tmp")}
}

// geminiClaims takes <project>/chats/<name> and <project>/chats/<parent>/<name>.
// Beside them lie files being written (….tmp-<pid>) and what a crash left
// (….unreadable-<ms>), which end differently.
func geminiClaims(rel string) bool {
	parts := strings.Split(rel, "/")
	return len(parts) >= 3 && len(parts) <= 4 && parts[1] == geminiChats && geminiSessionName(path.Base(rel))
}

const geminiChats = "chats"

func geminiSessionName(name string) bool {
	return !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl"))
}

// geminiTypes are the types of a message.
var geminiTypes = words("user gemini info error warning")

// geminiDetect knows a session by its facts or by one of the records that follow
// them, since a damaged first line happens.
func geminiDetect(h Head) bool {
	if geminiFacts(h.Doc) {
		return true
	}
	for _, r := range h.Records {
		switch {
		case r.Get("sessdex_part.harness").Str == geminiName:
			return true
		case geminiFacts(r), r.Get("$set").IsObject(), r.Get("$rewindTo").Type == gjson.String:
			return true
		case geminiTypes[r.Get("type").String()] && geminiMessageShape(r):
			return true
		}
	}
	return false
}

// geminiFacts reports whether r is a session's first record or the whole of it.
func geminiFacts(r gjson.Result) bool {
	return r.Get("sessionId").Type == gjson.String && r.Get("projectHash").Type == gjson.String
}

// geminiMessageShape reports whether r has a message's members and none but those.
func geminiMessageShape(r gjson.Result) bool {
	if r.Get("id").Type != gjson.String || r.Get("timestamp").Type != gjson.String || !r.Get("content").Exists() {
		return false
	}
	only := true
	r.ForEach(func(k, _ gjson.Result) bool {
		only = geminiMembers[k.Str]
		return only
	})
	return only
}

var geminiMembers = words("id timestamp type content displayContent thoughts tokens model toolCalls")
