package harness

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// A refusal says what a file is that no transcript is: people import folders, and
// "no known harness writes files like this" would be false of what theirs wrote.
type refusal string

func (r refusal) Error() string { return "no transcript: it is " + string(r) }
func (r refusal) Unwrap() error { return ErrUnknown }

// refuse tells the reason why a file that no harness claims is none of theirs.
func refuse(raw []byte, h Head) error {
	if bytes.HasPrefix(raw, []byte(sqliteMagic)) {
		return sqliteRefusal(raw)
	}
	if what := refusalOf(h); what != "" {
		return refusal(what)
	}
	switch s := sidesOf(h); {
	case s.lists > 1:
		return refusal("a collection of conversations; a transcript is one")
	case !h.Whole: // the rest may be more than this
	case s.asked:
		return refusal("a list of prompts, without answers")
	case s.answered:
		return refusal("what a model said, without what it was asked")
	}
	return ErrUnknown
}

// refusalOf tells what a file of records is, or "" where that is not known.
func refusalOf(h Head) string {
	if geminiCheckpoint(h.Doc) {
		return "a checkpoint that Gemini CLI wrote before an edit; its session is in chats/"
	}
	if h.Doc.IsArray() {
		if what := recordRefusal(h.Doc.Get("0")); what != "" {
			return what
		}
	}
	for i, r := range h.Records {
		if i == refusalRecords {
			break
		}
		if what := recordRefusal(r); what != "" {
			return what
		}
	}
	return ""
}

// refusalRecords is how many records are looked at: what a file is shows at once.
const refusalRecords = 8

const sqliteMagic = "SQLite format 3\x00"

// sqliteRefusal tells a database by the tables it was made with, whose statements
// stand at its beginning. OpenCode's, which holds sessions, is asked for by its name.
func sqliteRefusal(raw []byte) error {
	for _, db := range []struct {
		tables []string
		what   refusal
	}{
		{[]string{"usage_events", "tool_calls"}, "the database of the community's grok-cli, not of xAI's Grok Build, and not read yet"},
		{[]string{"threads"}, "an index of Codex; its sessions are the rollout files"},
		{[]string{"session_docs"}, "a search index of Grok; its sessions are the folders beside it"},
	} {
		all := true
		for _, table := range db.tables {
			all = all && createsTable(raw, table)
		}
		if all {
			return db.what
		}
	}
	return refusal("a database that holds no sessions we can read")
}

// createsTable reports whether a schema makes a table of that name, or one that
// begins with it and "_", plain, quoted or virtual.
func createsTable(raw []byte, name string) bool {
	for rest := raw; ; {
		at := bytes.Index(rest, []byte(" TABLE "))
		if at < 0 {
			return false
		}
		rest = rest[at+len(" TABLE "):]
		made := bytes.TrimLeft(bytes.TrimPrefix(rest, []byte("IF NOT EXISTS ")), "\"'`[")
		if after, ok := bytes.CutPrefix(made, []byte(name)); ok && len(after) > 0 && strings.IndexByte(" (\"'`]\n\t_", after[0]) >= 0 {
			return true
		}
	}
}

// geminiCheckpoint reports whether a document begins as those do that Gemini CLI's
// /restore reads, each of which repeats the whole history: as it was shown, whose items
// have a number, a type and a text, then as the model saw it, then the call to come.
func geminiCheckpoint(doc gjson.Result) bool {
	if !doc.IsObject() {
		return false
	}
	if doc.Get("toolCall.name").Exists() && (doc.Get("history").IsArray() || doc.Get("clientHistory").IsArray()) {
		return true
	}
	shown := doc.Get("history.0")
	return shown.Get("id").Type == gjson.Number && geminiTypes[shown.Get("type").Str] && shown.Get("text").Exists() && !shown.Get("role").Exists()
}

// recordRefusal tells what a record is of that harnesses write beside their
// sessions, or print instead of them.
func recordRefusal(r gjson.Result) string {
	has := func(keys ...string) bool {
		for _, k := range keys {
			if !r.Get(k).Exists() {
				return false
			}
		}
		return true
	}
	kind := r.Get("type").Str
	switch {
	case has("display", "pastedContents", "timestamp"):
		return "Claude Code's history of prompts; its sessions are in projects/"
	case has("session_id", "ts", "text") && kind == "":
		return "Codex's history of prompts; its sessions are the rollout files"
	case has("sessionId", "messageId", "message") && kind == "user":
		return "Gemini CLI's log of prompts; its sessions are in chats/"
	case has("session_id", "prompt", "is_bash"):
		return "Grok's history of prompts; its sessions are the folders beside it"
	case kind == "system" && r.Get("subtype").Str == "init" && has("session_id"):
		return `what "claude -p --output-format stream-json" printed; the session is in projects/`
	case kind == "thread.started" && has("thread_id"):
		return `what "codex exec --json" printed; the session is a rollout file`
	case (kind == "step_start" || kind == "text" || kind == "tool_use") && strings.HasPrefix(r.Get("sessionID").Str, "ses_"):
		return `what "opencode run --format json" printed; the session is in OpenCode's database`
	case kind == "init" && has("session_id", "model", "timestamp"):
		return `what "gemini --output-format stream-json" printed; the session is in chats/`
	case has("jsonrpc", "method"):
		return "a log of a protocol between programs"
	}
	return ""
}
