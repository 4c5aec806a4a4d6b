package harness

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// OpenCode is SST's OpenCode. It has kept sessions in three ways, which lie beside
// each other in one data folder, since each was moved to the next and left on disk:
//
//   - to mid 2025 a file for each session, message and part below project/<slug>;
//   - to early 2026 the same files below storage, with other names for the folders;
//   - since then rows of the tables session, message and part in opencode.db, or
//     opencode-<channel>.db, a SQLite database in WAL mode.
//
// Whatever a session is made of, it is read as one canonical document: a line
// {"info", "parts"} for each message in order, and last a line {"info"} about the
// session, which is the one that changes with every message. `opencode export` and
// the tools that keep its output write one document {"info", "messages"} instead.
var OpenCode = &Harness{
	Name:   openCodeName,
	Roots:  openCodeRoots,
	Claims: openCodeClaims,
	Enter:  openCodeEnters,
	Group:  openCodeGroup,
	Detect: openCodeDetect,
	New:    func(src Source) Parser { return newOpenCodeParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"opencode", "-s", m.NativeID}, Dir: m.Dir}
	},
	Restore: openCodeRestore,
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"opencode", "--prompt", prompt}, Dir: dir}
	},
}

const openCodeName = "opencode"

// openCodeRoots is the data folder, the same on every system, and the database that
// OPENCODE_DB names, if it lies elsewhere or has a name of its own. A root that is a
// file stands for itself; its log is a root beside it.
func openCodeRoots(env Env) []string {
	data := filepath.Join(dataHome(env), "opencode")
	roots := []string{data}
	if set := envList(env, "OPENCODE_DB", ""); len(set) > 0 && set[0] != ":memory:" {
		db := set[0]
		if !filepath.IsAbs(db) {
			db = filepath.Join(data, db)
		}
		if filepath.Dir(db) != data || !isOpenCodeDBName(filepath.Base(db)) {
			roots = append(roots, db, db+openCodeWAL)
		}
	}
	return roots
}

// openCodeClaims takes databases with their logs, and the sessions of both trees.
// Messages and parts are found from their session; they are many and need not be
// looked at one by one.
func openCodeClaims(rel string) bool {
	if rel == "." { // a root that is a database, or its log
		return true
	}
	steps := strings.Split(rel, "/")
	base := steps[len(steps)-1]
	switch {
	case len(steps) == 1:
		return isOpenCodeDBName(strings.TrimSuffix(base, openCodeWAL))
	case !strings.HasPrefix(base, "ses_") || path.Ext(base) != ".json":
		return false
	case len(steps) == 4:
		return steps[0] == "storage" && steps[1] == "session"
	}
	return len(steps) == 6 && steps[0] == "project" && steps[2] == "storage" && steps[3] == "session" && steps[4] == "info"
}

// openCodeEnters passes over the folders with messages and parts, one for each message,
// and over everything that is no session: snapshots of work trees, logs, programs.
func openCodeEnters(rel string) bool {
	steps := strings.Split(rel, "/")
	way := []string{"storage", "session", "*"}
	if steps[0] == "project" {
		way = []string{"project", "*", "storage", "session", "info"}
	}
	for i, step := range steps {
		if i >= len(way) || way[i] != "*" && way[i] != step {
			return false
		}
	}
	return true
}

// openCodeWAL ends the name of a database's write-ahead log.
const openCodeWAL = "-wal"

// isOpenCodeDBName knows the database of every release channel.
func isOpenCodeDBName(base string) bool {
	return strings.HasPrefix(base, "opencode") && path.Ext(base) == ".db"
}

// openCodeDetect takes canonical documents and exports, whose heads may be cut in
// the middle of the first message.
func openCodeDetect(h Head) bool {
	first := h.Doc
	if !first.Exists() && len(h.Records) > 0 { // something stands before it
		first = h.Records[0]
	}
	info := first.Get("info")
	if !info.IsObject() {
		return false
	}
	id := info.Get("id").Str
	if openCodeRole(info) != "" { // a message of a canonical document
		return strings.HasPrefix(openCodeSessionID(info), "ses_") && (first.Get("parts").IsArray() || !h.Whole)
	}
	return strings.HasPrefix(id, "ses_") && (info.Get("time.created").Type == gjson.Number || !h.Whole)
}

// openCodeRole is "user" or "assistant" for the info of a message.
func openCodeRole(info gjson.Result) string {
	role := info.Get("role").Str
	if role == "user" || role == "assistant" {
		return role
	}
	return ""
}

// openCodeSessionID is the session that a message belongs to. The first versions
// kept it, and much else, below "metadata".
func openCodeSessionID(info gjson.Result) string {
	if id := info.Get("sessionID").Str; id != "" {
		return id
	}
	return info.Get("metadata.sessionID").Str
}
