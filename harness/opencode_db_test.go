package harness

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

// openCodeSample is a session as a test tells it, to be written in every way in which
// OpenCode has kept sessions.
type openCodeSample struct {
	id, title string
	created   int64
	more      map[string]any // of the session's record
	messages  []openCodeSaid
}

type openCodeSaid struct {
	id      string
	created int64
	info    string   // members of the record, besides id, sessionID and time
	parts   []string // members of each part, besides its ids
}

// openCodeTalk is a session of one question and one answer with a call.
func openCodeTalk(id string, created int64) openCodeSample {
	m := func(n int) string { return fmt.Sprintf("msg_%s%02d", strings.TrimPrefix(id, "ses_"), n) }
	return openCodeSample{id: id, title: "Talk of " + id, created: created, messages: []openCodeSaid{
		{m(1), created + 1000, `"role":"user","agent":"build"`, []string{`"type":"text","text":"Question of ` + id + ` <&>"`}},
		{m(2), created + 2000, `"role":"assistant","modelID":"m-1","path":{"cwd":"/srv/bakery","root":"/srv/bakery"}`, []string{
			`"type":"step-start"`,
			`"type":"text","text":"Answer of ` + id + `"`,
			`"type":"tool","callID":"c","tool":"write","state":{"status":"completed","input":{"filePath":"/srv/bakery/` + id + `","content":"x"},"output":"Wrote file successfully.","metadata":{"b":1.50,"a":10000000000000001},"time":{"start":1}}`,
		}},
	}}
}

// record is a message's own record, without or with ids.
func (m openCodeSaid) record(ids string) string {
	return fmt.Sprintf(`{%s%s,"time":{"created":%d}}`, ids, m.info, m.created)
}

func (m openCodeSaid) part(i int) string {
	return fmt.Sprintf("prt_%s_%02d", strings.TrimPrefix(m.id, "msg_"), i)
}

// head is the session's own record as a file has it.
func (s openCodeSample) head() string {
	more := ""
	for _, k := range slices.Sorted(maps.Keys(s.more)) {
		more += fmt.Sprintf(`"%s":%s,`, k, s.more[k])
	}
	return fmt.Sprintf(`{"id":"%s","slug":"s","version":"1.2.3",%s"projectID":"p1","directory":"/srv/bakery","title":"%s","time":{"created":%d,"updated":%d},"share":{"url":"https://share/MARK-secret"}}`,
		s.id, more, s.title, s.created, s.created+9000)
}

// writeOpenCodeTree writes sessions as files, in the later or the early layout.
func writeOpenCodeTree(t *testing.T, data string, early bool, all ...openCodeSample) {
	t.Helper()
	files := map[string]string{}
	for _, s := range all {
		root, head := "storage", "storage/session/p1/"+s.id+".json"
		if early {
			root, head = "project/srv-bakery/storage/session", "project/srv-bakery/storage/session/info/"+s.id+".json"
		}
		files[head] = s.head()
		for _, m := range s.messages {
			files[root+"/message/"+s.id+"/"+m.id+".json"] = m.record(fmt.Sprintf(`"id":"%s","sessionID":"%s",`, m.id, s.id))
			for i, p := range m.parts {
				dir := root + "/part/"
				if early {
					dir += s.id + "/"
				}
				files[dir+m.id+"/"+m.part(i)+".json"] = fmt.Sprintf("{\n  \"id\": \"%s\",\n  \"sessionID\": \"%s\",\n  \"messageID\": \"%s\",\n  %s\n}", m.part(i), s.id, m.id, p)
			}
		}
	}
	writeTree(t, data, files)
}

// openCodeTables makes the tables of a current database, and those beside them that
// nobody may read.
var openCodeTables = []string{
	`CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL)`,
	`CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL, directory text NOT NULL,
		path text, title text NOT NULL, version text NOT NULL, share_url text, summary_additions integer, summary_deletions integer, summary_files integer,
		summary_diffs text, metadata text, revert text, permission text, agent text, model text, time_created integer NOT NULL, time_updated integer NOT NULL,
		time_compacting integer, time_archived integer)`,
	`CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`,
	`CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`,
	`CREATE INDEX message_session ON message (session_id, time_created, id)`,
	`CREATE INDEX part_message ON part (message_id, id)`,
	`CREATE INDEX part_session ON part (session_id)`,
	`CREATE TABLE account (id text, token text)`,
	`CREATE TABLE credential (id text, value text)`,
	`CREATE TABLE control_account (id text, token text)`,
	`CREATE TABLE session_share (session_id text, secret text)`,
	`INSERT INTO account VALUES ('ses_1', 'MARK-account')`,
	`INSERT INTO credential VALUES ('ses_1', 'MARK-credential')`,
	`INSERT INTO control_account VALUES ('ses_1', 'MARK-control')`,
	`INSERT INTO session_share VALUES ('ses_1', 'MARK-share')`,
}

// openCodeWriter opens a database in WAL mode as OpenCode does, and leaves it open.
func openCodeLive(t *testing.T, path string, statements ...string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", openCodeDSN(path, "mode=rwc&_pragma=journal_mode(WAL)&_pragma=synchronous(0)"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for _, s := range append(slices.Clone(openCodeTables), statements...) {
		run(t, db, s)
	}
	return db
}

type execer interface {
	Exec(string, ...any) (sql.Result, error)
}

func run(t *testing.T, db execer, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func insertOpenCode(t *testing.T, db execer, all ...openCodeSample) {
	t.Helper()
	for _, s := range all {
		run(t, db, `INSERT INTO session (id, project_id, slug, directory, path, title, version, share_url, time_created, time_updated) VALUES (?, 'p1', 's', '/srv/bakery', '', ?, '1.2.3', 'https://share/MARK-secret', ?, ?)`,
			s.id, s.title, s.created, s.created+9000)
		for k, v := range s.more {
			run(t, db, "UPDATE session SET "+k+" = ? WHERE id = ?", v, s.id)
		}
		for _, m := range s.messages {
			run(t, db, `INSERT INTO message VALUES (?, ?, ?, ?, ?)`, m.id, s.id, m.created, m.created, m.record(""))
			for i, p := range m.parts {
				run(t, db, `INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, m.part(i), m.id, s.id, m.created, m.created, "{"+p+"}")
			}
		}
	}
}

// openCodeFound discovers what a home folder holds, by native id.
func openCodeFound(t *testing.T, home string) map[string]Source {
	t.Helper()
	all := map[string]Source{}
	Discover(OpenCode, Env{Home: home}, func(s Source) {
		m, _ := parseSource(t, OpenCode, s)
		if old, twice := all[m.NativeID]; twice {
			t.Errorf("%s is found as %s and as %s", m.NativeID, old.Key(), s.Key())
		}
		all[m.NativeID] = s
	}, func(p Problem) { t.Errorf("problem: %v", p) })
	return all
}

func readSource(t *testing.T, s Source) string {
	t.Helper()
	r, err := s.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if h, err := Detect(data[:min(len(data), HeadBytes)]); h != OpenCode {
		t.Errorf("the document of %s is taken for %v: %v", s.Key(), h, err)
	}
	return string(data)
}

const openCodeBorn = 1777000000000

func openCodeData(home string) string { return filepath.Join(home, ".local", "share", "opencode") }

// The same session gives the same bytes from rows and from both kinds of files.
func TestOpenCodeStoresAgree(t *testing.T) {
	talk := openCodeTalk("ses_1", openCodeBorn)
	want := `{"info":{"agent":"build","id":"msg_101","role":"user","sessionID":"ses_1","time":{"created":1777000001000}},"parts":[{"id":"prt_101_00","messageID":"msg_101","sessionID":"ses_1","text":"Question of ses_1 <&>","type":"text"}]}
{"info":{"id":"msg_102","modelID":"m-1","path":{"cwd":"/srv/bakery","root":"/srv/bakery"},"role":"assistant","sessionID":"ses_1","time":{"created":1777000002000}},"parts":[{"id":"prt_102_00","messageID":"msg_102","sessionID":"ses_1","type":"step-start"},{"id":"prt_102_01","messageID":"msg_102","sessionID":"ses_1","text":"Answer of ses_1","type":"text"},{"callID":"c","id":"prt_102_02","messageID":"msg_102","sessionID":"ses_1","state":{"input":{"filePath":"/srv/bakery/ses_1","content":"x"},"metadata":{"a":10000000000000001,"b":1.50},"output":"Wrote file successfully.","status":"completed","time":{"start":1}},"tool":"write","type":"tool"}]}
{"info":{"directory":"/srv/bakery","id":"ses_1","projectID":"p1","slug":"s","time":{"created":1777000000000,"updated":1777000009000},"title":"Talk of ses_1","version":"1.2.3"}}
`
	for name, write := range map[string]func(data string){
		"rows":        func(data string) { insertOpenCode(t, openCodeLive(t, filepath.Join(data, "opencode.db")), talk) },
		"files":       func(data string) { writeOpenCodeTree(t, data, false, talk) },
		"early files": func(data string) { writeOpenCodeTree(t, data, true, talk) },
		"all of them": func(data string) {
			insertOpenCode(t, openCodeLive(t, filepath.Join(data, "opencode.db")), talk)
			writeOpenCodeTree(t, data, false, talk)
			writeOpenCodeTree(t, data, true, talk)
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			write(openCodeData(home))
			found := openCodeFound(t, home)
			if len(found) != 1 {
				t.Fatalf("%d sessions", len(found))
			}
			if diff := cmp.Diff(want, readSource(t, found["ses_1"])); diff != "" {
				t.Error(diff)
			}
			meta, _ := parseSource(t, OpenCode, found["ses_1"])
			if meta.Turns != (session.Counts{User: 1, Assistant: 1, Tool: 1}) {
				t.Errorf("turns %+v", meta.Turns)
			}
		})
	}
}

// A database and a tree that was moved into it in part give each session once, with
// every message of it. Where both have a record, the row is the newer one.
func TestOpenCodeUnion(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	both, rows, files := openCodeTalk("ses_1", openCodeBorn), openCodeTalk("ses_2", openCodeBorn), openCodeTalk("ses_3", openCodeBorn)
	empty := openCodeTalk("ses_4", openCodeBorn)
	writeOpenCodeTree(t, data, false, both, files, empty)

	moved := both
	moved.title = "Moved"
	moved.messages = []openCodeSaid{both.messages[1], {"msg_1zz", openCodeBorn + 5000, `"role":"user"`, []string{`"type":"text","text":"Later"`}}}
	moved.messages[0].parts = both.messages[1].parts[:2] // a part was lost
	lost := empty
	lost.messages = nil // all of them were
	db := openCodeLive(t, filepath.Join(data, "opencode.db"))
	insertOpenCode(t, db, moved, rows, lost, openCodeSample{id: "ses_5", title: "Nobody said anything", created: openCodeBorn})

	found := openCodeFound(t, home)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, []string{"ses_1", "ses_2", "ses_3", "ses_4"}) {
		t.Fatalf("found %v", got)
	}
	meta, turns := parseSource(t, OpenCode, found["ses_1"])
	var said []string
	for _, turn := range turns {
		said = append(said, string(turn.Role)+" "+turn.Text+turn.Tool)
	}
	want := []string{"user Question of ses_1 <&>", "assistant Answer of ses_1", "tool write", "user Later"}
	if diff := cmp.Diff(want, said); diff != "" || meta.Title != "Moved" {
		t.Errorf("title %q, %s", meta.Title, diff)
	}
	if got, _ := parseSource(t, OpenCode, found["ses_4"]); got.Turns.Total() != 3 {
		t.Errorf("the session whose messages were not moved has %+v", got.Turns)
	}
	for id, path := range map[string]string{"ses_1": "opencode.db", "ses_3": "storage/session/p1/ses_3.json"} {
		if found[id].Path != filepath.Join(data, filepath.FromSlash(path)) {
			t.Errorf("%s is at %s", id, found[id].Path)
		}
	}
}

// A live writer is read with its log, from the moment of its last commit, and neither
// held up nor changed. Accounts, credentials and shares stay unread.
func TestOpenCodeLiveWriter(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(openCodeData(home), "opencode.db")
	db := openCodeLive(t, path, "PRAGMA wal_autocheckpoint=0")
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	if info, err := os.Stat(path + openCodeWAL); err != nil || info.Size() == 0 {
		t.Fatal("the sample has no log", err)
	}
	before := openCodeFound(t, home)

	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	insertOpenCode(t, tx, openCodeTalk("ses_2", openCodeBorn))
	during := openCodeFound(t, home)
	if len(during) != 1 || during["ses_1"].Stamp != before["ses_1"].Stamp {
		t.Errorf("what is not committed is seen: %v", during)
	}
	r, err := during["ses_1"].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var head [10]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatalf("a reader holds the writer up: %v", err)
	}
	run(t, db, `UPDATE part SET data = '{"type":"text","text":"Rewritten"}', time_updated = time_updated + 1 WHERE session_id = 'ses_1' AND data LIKE '%Answer%'`)
	rest, err := io.ReadAll(r)
	if err != nil || strings.Contains(string(rest), "Rewritten") || !strings.Contains(string(rest), "Answer of ses_1") {
		t.Errorf("the reader sees a later moment: %v", err)
	}
	after := openCodeFound(t, home)
	if len(after) != 2 || after["ses_1"].Stamp == before["ses_1"].Stamp {
		t.Errorf("the commit is not seen: %v", after)
	}
	for id, s := range after {
		if doc := readSource(t, s); strings.Contains(doc, "MARK-") {
			t.Errorf("%s holds what is not to be read", id)
		}
	}
	if !strings.Contains(readSource(t, after["ses_1"]), "Rewritten") {
		t.Error("the new text is not read")
	}
	for file, want := range map[string]bool{path + openCodeWAL: true, path + "-shm": true, filepath.Join(home, "other.db"): false} {
		srcs, carrier, err := Sources(file)
		if want && (carrier != path || len(srcs) != 2 || err != nil) || !want && carrier == path {
			t.Errorf("%s leads to %s, %d sessions, %v", file, carrier, len(srcs), err)
		}
	}
}

// Every statement names its columns, and no table but the four.
func TestOpenCodeTablesNotRead(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(openCodeData(home), "opencode.db")
	db := openCodeLive(t, path)
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	// Pages of a table that is read fail to decode when they are overwritten.
	rows, err := db.Query(`SELECT rootpage FROM sqlite_master WHERE name IN ('account', 'credential', 'control_account', 'session_share')`)
	if err != nil {
		t.Fatal(err)
	}
	var pages []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		pages = append(pages, n)
	}
	rows.Close()
	if len(pages) != 4 {
		t.Fatalf("%d pages", len(pages))
	}
	if err := db.Close(); err != nil { // the log goes into the file
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range pages {
		if _, err := f.WriteAt(bytes.Repeat([]byte{0xff}, 4096), (n-1)*4096); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	if db, err = sql.Open("sqlite", openCodeDSN(path, "mode=ro&immutable=1")); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT id FROM account").Scan(new(string)); err == nil {
		t.Fatal("the pages are not those of the tables")
	}
	found := openCodeFound(t, home)
	if doc := readSource(t, found["ses_1"]); !strings.Contains(doc, "Answer of ses_1") {
		t.Error(doc)
	}
}

// A database that nobody has open is read without a trace in its folder.
func TestOpenCodeLeavesNothingBehind(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	db := openCodeLive(t, filepath.Join(data, "opencode.db"))
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	db.Close()
	before, _ := os.ReadFile(filepath.Join(data, "opencode.db"))
	readSource(t, openCodeFound(t, home)["ses_1"])
	after, _ := os.ReadFile(filepath.Join(data, "opencode.db"))
	if !bytes.Equal(before, after) {
		t.Error("the database changed")
	}
	entries, err := os.ReadDir(data)
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A writer that comes while a file without a log is read makes the reading fail rather
// than mix two states.
func TestOpenCodeChangedWhileRead(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(openCodeData(home), "opencode.db")
	db := openCodeLive(t, path)
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	db.Close()
	src := openCodeFound(t, home)["ses_1"]
	r, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if db, err = sql.Open("sqlite", "file:"+filepath.ToSlash(path)); err != nil {
		t.Fatal(err)
	}
	insertOpenCode(t, db, openCodeTalk("ses_2", openCodeBorn))
	db.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, errOpenCodeChanged) {
		t.Errorf("err = %v", err)
	}
	if len(openCodeFound(t, home)) != 2 {
		t.Error("it is not read again")
	}
}

// Where a database cannot be read in its place, a copy of it and its log is, once for
// all of its sessions.
func TestOpenCodeCopy(t *testing.T) {
	home, tmp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	path := filepath.Join(openCodeData(home), "opencode.db")
	db := openCodeLive(t, filepath.Join(t.TempDir(), "opencode.db"), "PRAGMA wal_autocheckpoint=0")
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn), openCodeTalk("ses_2", openCodeBorn))
	var from string
	if err := db.QueryRow("SELECT file FROM pragma_database_list").Scan(&from); err != nil {
		t.Fatal(err)
	}
	// The log's shared memory cannot be made, as in a folder that may not be written to.
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", path+"-shm"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, ext := range []string{"", openCodeWAL} {
		if err := copyFile(path+ext, from+ext); err != nil {
			t.Fatal(err)
		}
	}
	if direct, err := sql.Open("sqlite", openCodeDSN(path, "mode=ro")); err != nil || direct.QueryRow("SELECT 1 FROM session").Scan(new(int)) == nil {
		t.Fatal("it can be read in its place", err)
	} else {
		direct.Close()
	}
	srcs, _, err := Sources(path)
	if err != nil || len(srcs) != 2 {
		t.Fatalf("%d sessions, %v", len(srcs), err)
	}
	r, err := srcs[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	copied := openCodeCopies.byPath[path]
	if doc := readSource(t, srcs[0]); !strings.Contains(doc, "Answer of ses_1") {
		t.Error(doc)
	}
	if openCodeCopies.byPath[path] != copied || copied.readers != 1 {
		t.Errorf("another copy was made; %d readers", copied.readers)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
	if doc, err := io.ReadAll(r); err != nil || !strings.Contains(string(doc), "Answer of ses_2") {
		t.Errorf("%s, %v", doc, err)
	}
	r.Close()
	r.Close()
	if copied.readers != 0 || copied.idle == nil {
		t.Errorf("%d readers after the last one", copied.readers)
	}
	openCodeCopies.mu.Lock()
	defer openCodeCopies.mu.Unlock()
	copied.idle.Stop()
	openCodeCopies.drop(path, copied)
	if openCodeCopies.byPath[path] != nil || copied.db.Ping() == nil {
		t.Error("the copy is kept for ever")
	}
}

// An older or newer version's tables are read as far as they go.
func TestOpenCodeOtherColumns(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(openCodeData(home), "opencode-next.db")
	db := openCodeLive(t, path, "DROP TABLE project", "DROP TABLE session", "DROP TABLE part",
		"CREATE TABLE session (id text PRIMARY KEY, title text, time_created integer, fork_session_id text, hologram text)",
		"CREATE TABLE part (id text PRIMARY KEY, message_id text, data text)")
	run(t, db, "INSERT INTO session VALUES ('ses_1', 'Few columns', ?, 'ses_0', 'x')", openCodeBorn)
	run(t, db, `INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}')`)
	run(t, db, `INSERT INTO part VALUES ('prt_1', 'msg_1', '{"type":"text","text":"Hello"}'), ('prt_2', 'msg_1', 'no JSON')`)
	meta, turns := parseSource(t, OpenCode, openCodeFound(t, home)["ses_1"])
	if len(turns) != 1 || turns[0].Text != "Hello" || meta.Title != "Few columns" || meta.BadLines != 1 || meta.ForkedFrom != "ses_0" {
		t.Errorf("%+v, %+v", meta, turns)
	}
	run(t, db, "DROP TABLE part")
	Discover(OpenCode, Env{Home: home}, func(s Source) { t.Errorf("found %s", s.Key()) }, func(p Problem) {
		if !errors.Is(p, errNoOpenCode) {
			t.Errorf("problem %v", p)
		}
	})
}

// Most versions do not write down what a session was copied from.
func TestOpenCodeForkOrigin(t *testing.T) {
	home := t.TempDir()
	db := openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"))
	origin := openCodeTalk("ses_9", openCodeBorn)
	origin.title = "Bread"
	fork := func(id, title string, born int64) openCodeSample {
		f := openCodeSample{id: id, title: title, created: born}
		for _, m := range origin.messages {
			m.id = "msg_" + strings.TrimPrefix(id, "ses_") + m.id
			f.messages = append(f.messages, m)
		}
		f.messages = append(f.messages, openCodeSaid{"msg_" + id, born + 1000, `"role":"user"`, []string{`"type":"text","text":"Asked in ` + id + `"`}})
		return f
	}
	insertOpenCode(t, db, origin, openCodeTalk("ses_8", openCodeBorn+1),
		fork("ses_1", "Bread (fork #1)", openCodeBorn+100_000),
		fork("ses_2", "Bread (fork #2)", openCodeBorn+200_000),
		fork("ses_3", "Renamed", openCodeBorn+300_000))
	found := openCodeFound(t, home)
	for id, from := range map[string]string{"ses_9": "", "ses_8": "", "ses_1": "ses_9", "ses_2": "ses_1", "ses_3": "ses_9"} {
		meta, _ := parseSource(t, OpenCode, found[id])
		if meta.ForkedFrom != from {
			t.Errorf("%s is forked from %q, want %q", id, meta.ForkedFrom, from)
		}
		if from != "" && (meta.Inherited != session.Counts{User: 1, Assistant: 1, Tool: 1} || meta.Opening != "Asked in "+id) {
			t.Errorf("%s inherited %+v and opens with %q", id, meta.Inherited, meta.Opening)
		}
	}
}

// A database of any name is known by its tables, also where all of them are in its log.
func TestOpenCodeOtherName(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "mine.db")
	db := openCodeLive(t, path, "PRAGMA wal_autocheckpoint=0")
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	foreign, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(home, "foreign.db")))
	if err != nil {
		t.Fatal(err)
	}
	defer foreign.Close()
	run(t, foreign, "CREATE TABLE session (id text)")
	env := Env{Home: filepath.Join(home, "none"), Getenv: func(name string) string {
		return map[string]string{"OPENCODE_DB": path}[name]
	}}
	n := 0
	Discover(OpenCode, env, func(s Source) { n++ }, func(p Problem) { t.Errorf("problem: %v", p) })
	if n != 1 {
		t.Errorf("%d sessions in the database that OPENCODE_DB names", n)
	}
	db.Close() // the log goes into the file
	if srcs, _, err := Sources(path); err != nil || len(srcs) != 1 {
		t.Errorf("%d sessions, %v", len(srcs), err)
	}
	if srcs, _, _ := Sources(filepath.Join(home, "foreign.db")); len(srcs) == 1 && srcs[0].Part != "" {
		t.Error("another program's database is taken for OpenCode's")
	}
}
