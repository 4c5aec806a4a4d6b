package main

import (
	"database/sql"
	"path/filepath"

	_ "modernc.org/sqlite"
)

// An openCodeTale is a session of OpenCode, in whichever store.
type openCodeTale struct {
	id, parent, title string
	said              []string // by the person and the model in turn, a minute each
	from              int      // the minute of the first
}

func (s openCodeTale) info() obj {
	ms := func(m int) int64 { return minute(m).UnixMilli() }
	o := obj{"id": s.id, "slug": "quiet-lake", "projectID": "9f2c1e70000000000000000000000000000000aa", "directory": "/srv/mill", "title": s.title, "version": "1.1.30",
		"time": obj{"created": ms(s.from), "updated": ms(s.from + len(s.said))}}
	if s.parent != "" {
		o["parentID"] = s.parent
	}
	return o
}

// each gives every message with its part, ids included.
func (s openCodeTale) each(f func(n int, msg, prt string, message, part obj)) {
	tail := s.id[len("ses_"):]
	for i, text := range s.said {
		at := minute(s.from + i).UnixMilli()
		msg, prt := "msg_"+string(rune('a'+i))+tail, "prt_"+string(rune('a'+i))+tail
		message := obj{"role": "user", "time": obj{"created": at}, "agent": "build", "model": obj{"providerID": "acme", "modelID": "m-1"}}
		if i%2 == 1 {
			message = obj{"role": "assistant", "parentID": "msg_" + string(rune('a'+i-1)) + tail, "mode": "build", "agent": "build", "path": obj{"cwd": "/srv/mill", "root": "/srv/mill"}, "cost": 0,
				"tokens": obj{"input": 9, "output": 7, "reasoning": 0, "cache": obj{"read": 0, "write": 0}}, "modelID": "m-1", "providerID": "acme", "time": obj{"created": at, "completed": at}, "finish": "stop"}
		}
		f(i, msg, prt, message, obj{"type": "text", "text": text})
	}
}

// export is what `opencode export` prints.
func (s openCodeTale) export() []byte {
	messages := []any{}
	s.each(func(_ int, msg, prt string, message, part obj) {
		messages = append(messages, obj{"info": message.with(obj{"id": msg, "sessionID": s.id}), "parts": []any{part.with(obj{"id": prt, "messageID": msg, "sessionID": s.id})}})
	})
	return asJSON(obj{"info": s.info(), "messages": messages})
}

func (v *village) openCode() {
	const data = ".local/share/opencode"
	write := func(session string, message, part func(msg string) string, s openCodeTale) {
		v.put(asJSON(s.info()), data, session, s.id+".json")
		s.each(func(_ int, msg, prt string, m, p obj) {
			v.put(asJSON(m.with(obj{"id": msg, "sessionID": s.id})), data, message(msg), msg+".json")
			v.put(asJSON(p.with(obj{"id": prt, "messageID": msg, "sessionID": s.id})), data, part(msg), prt+".json")
		})
	}

	// The two trees.
	early := openCodeTale{id: "ses_5e0100000001AAAAAAAAAAAAAA", title: "Marlin", said: []string{"Catch the marlin.", "It got away."}, from: 1}
	const first = "project/srv-mill/storage/session/"
	write(first+"info", func(string) string { return first + "message/" + early.id }, func(msg string) string { return first + "part/" + early.id + "/" + msg }, early)
	v.tell(told{harness: "opencode", native: early.id, word: "marlin", said: 1, start: second(1), last: second(2)})
	tree := openCodeTale{id: "ses_5e0200000001BBBBBBBBBBBBBB", title: "Mullet", said: []string{"Salt the mullet.", "Salted."}, from: 1}
	inTree := func(s openCodeTale) {
		write("storage/session/9f2c1e70000000000000000000000000000000aa", func(string) string { return "storage/message/" + s.id }, func(msg string) string { return "storage/part/" + msg }, s)
	}
	inTree(tree)
	v.tell(told{harness: "opencode", native: tree.id, word: "mullet", said: 1, start: second(1), last: second(2)})
	v.put([]byte("2"), data, "storage", "migration")
	v.put(asJSON([]any{}), data, "storage", "session_diff", tree.id+".json")
	v.put(asJSON(obj{"secret": "not ours", "url": "https://example.com"}), data, "storage", "session_share", tree.id+".json")
	v.put(asJSON([]any{}), data, "storage", "todo", tree.id+".json")

	// The database; one session stands in the tree too, shorter: it went on here.
	both := openCodeTale{id: "ses_5e0300000001CCCCCCCCCCCCCC", title: "Turbot", said: []string{"Fry the turbot.", "Fried.", "Turn it.", "Turned."}, from: 1}
	inTree(openCodeTale{id: both.id, title: both.title, said: both.said[:2], from: 1})
	rows := openCodeTale{id: "ses_5e0400000001DDDDDDDDDDDDDD", title: "Bonito", said: []string{"Smoke the bonito.", "Smoked."}, from: 1}
	child := openCodeTale{id: "ses_5e0300000009EEEEEEEEEEEEEE", parent: rows.id, title: "Count (@general subagent)", said: []string{"Count every anchovy.", "Forty."}, from: 2}
	db, err := sql.Open("sqlite", filepath.ToSlash(v.at(data, "opencode.db")))
	if err != nil {
		v.t.Fatal(err)
	}
	defer db.Close()
	exec := func(statement string, args ...any) {
		v.t.Helper()
		if _, err := db.Exec(statement, args...); err != nil {
			v.t.Fatal(err)
		}
	}
	exec(`create table project (id text primary key, worktree text, vcs text, name text, time_created integer, time_updated integer)`)
	exec(`create table session (id text primary key, project_id text, parent_id text, slug text, directory text, title text, version text, share_url text,
		summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text, revert text, permission text,
		time_created integer, time_updated integer, time_compacting integer, time_archived integer)`)
	exec(`create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text)`)
	exec(`create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text)`)
	exec(`create table account (id text primary key, email text, access_token text)`)
	for _, s := range []openCodeTale{both, rows, child} {
		parent := any(nil)
		if s.parent != "" {
			parent = s.parent
		}
		exec(`insert into session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated) values (?,?,?,?,?,?,?,?,?)`, s.id, "9f2c1e70000000000000000000000000000000aa",
			parent, "quiet-lake", "/srv/mill", s.title, "1.2.9", minute(s.from).UnixMilli(), minute(s.from+len(s.said)).UnixMilli())
		s.each(func(n int, msg, prt string, m, p obj) {
			at := minute(s.from + n).UnixMilli()
			exec(`insert into message values (?,?,?,?,?)`, msg, s.id, at, at, string(asJSON(m)))
			exec(`insert into part values (?,?,?,?,?,?)`, prt, msg, s.id, at, at, string(asJSON(p)))
		})
	}
	v.tell(told{harness: "opencode", native: both.id, word: "turbot", said: 2, start: second(1), last: second(4)})
	v.tell(told{harness: "opencode", native: rows.id, word: "bonito", said: 1, start: second(1), last: second(2)})
	v.tell(told{harness: "opencode", native: child.id, word: "anchovy", start: second(2), last: second(3), parent: rows.id})
}
