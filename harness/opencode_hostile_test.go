package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One row that no OpenCode would write hides none of the others.
func TestOpenCodeRowsOfWrongTypes(t *testing.T) {
	home := t.TempDir()
	db := openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"))
	insertOpenCode(t, db, openCodeTalk("ses_good", openCodeBorn))
	want := readSource(t, openCodeFound(t, home)["ses_good"])
	for _, s := range []string{
		"INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) VALUES (NULL, 1, 1, 1, 1, 1, 1, 1), (x'00ff', 1, 1, 1, 1, 1, 1, 1), ('ses_odd', 2.5, x'ff', 3, 4, 5, 'noon', 'yesterday')",
		"INSERT INTO message VALUES (NULL, 'ses_odd', 1, 1, '{}'), ('msg_odd', 'ses_odd', 'noon', 9.3e300, '{\"role\":\"user\"}'), ('msg_num', 'ses_odd', 1, 1, 7)",
		"INSERT INTO part VALUES (NULL, 'msg_odd', 'ses_odd', 1, 'noon', '{\"type\":\"text\",\"text\":\"Odd\"}'), ('prt_odd', 'msg_odd', 'ses_odd', 1, 1, x'ff00')",
	} {
		run(t, db, s)
	}
	found := openCodeFound(t, home)
	if len(found) != 2 || readSource(t, found["ses_good"]) != want {
		t.Errorf("found %v", found)
	}
	meta, turns := parseSource(t, OpenCode, found["ses_odd"])
	if len(turns) != 1 || turns[0].Text != "Odd" || meta.BadLines != 2 {
		t.Errorf("%+v, %+v", meta, turns)
	}
}

// A value longer than any line is passed over unread, and an id of that kind is none.
func TestOpenCodeValuesTooLong(t *testing.T) {
	home := t.TempDir()
	db := openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"), "DROP INDEX message_session", "DROP INDEX part_session", "DROP INDEX part_message")
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	run(t, db, "INSERT INTO part VALUES ('prt_zz', 'msg_101', 'ses_1', 1, 1, zeroblob(?))", openCodeMaxData+1)
	run(t, db, "UPDATE session SET title = hex(zeroblob(?))", openCodeMaxField)
	run(t, db, "INSERT INTO session SELECT 'ses_' || hex(zeroblob(1000)), project_id, workspace_id, parent_id, slug, directory, path, 'Long id', version, share_url, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0 FROM session")
	meta, turns := parseSource(t, OpenCode, openCodeFound(t, home)["ses_1"])
	if len(turns) == 0 || meta.BadLines != 1 || len(meta.Title) > 1000 {
		t.Errorf("%d turns, %d bad lines, a title of %d bytes", len(turns), meta.BadLines, len(meta.Title))
	}
}

// A view can run without end, and a virtual table is a program.
func TestOpenCodeViewsAreNoTables(t *testing.T) {
	for _, made := range []string{
		"CREATE VIEW session AS WITH RECURSIVE x(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM x) SELECT 'ses_' || id id, 1 time_updated FROM x",
		"CREATE VIRTUAL TABLE session USING fts5(id, title)",
	} {
		home := t.TempDir()
		openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"), "DROP TABLE session", made)
		Discover(OpenCode, Env{Home: home}, func(s Source) { t.Errorf("found %s", s.Key()) }, func(p Problem) {
			if !errors.Is(p, errNoOpenCode) {
				t.Errorf("problem %v", p)
			}
		})
	}
}

// An id is a name. One that is a path leads to no file of a tree beside the database.
func TestOpenCodeIDsThatArePaths(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	talk := openCodeTalk("ses_1", openCodeBorn)
	writeOpenCodeTree(t, data, false, talk)
	writeTree(t, home, map[string]string{
		"elsewhere/prt_1.json": `{"type":"text","text":"MARK-elsewhere"}`,
		"elsewhere/msg.json":   `{"role":"user","time":{"created":1}}`,
	})
	evil, err := filepath.Rel(filepath.Join(data, "storage", "part"), filepath.Join(home, "elsewhere"))
	if err != nil {
		t.Fatal(err)
	}
	talk.messages[0].id = evil
	db := openCodeLive(t, filepath.Join(data, "opencode.db"))
	insertOpenCode(t, db, talk)
	if doc := readSource(t, openCodeFound(t, home)["ses_1"]); strings.Contains(doc, "MARK-elsewhere") || !strings.Contains(doc, "Question of") {
		t.Errorf("the document is %s", doc)
	}
}

// A link to a database leads to the log beside that, too.
func TestOpenCodeLinkedDatabase(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	db := openCodeLive(t, filepath.Join(other, "real.db")) // stays open: its rows are in the log
	insertOpenCode(t, db, openCodeTalk("ses_1", openCodeBorn))
	if err := os.MkdirAll(openCodeData(home), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "real.db"), filepath.Join(openCodeData(home), "opencode.db")); err != nil {
		t.Skip("no links here:", err)
	}
	for n := range 2 {
		if n > 0 {
			insertOpenCode(t, db, openCodeTalk("ses_2", openCodeBorn+1))
		}
		if found := openCodeFound(t, home); len(found) != n+1 {
			t.Errorf("found %v, want %s", found, fmt.Sprint(n+1, " sessions"))
		}
	}
}

// A record of millions of tiny values would take a hundred times its size.
func TestOpenCodeCrowdedRecord(t *testing.T) {
	record := func(n int) []byte {
		return []byte(`{"text":"` + strings.Repeat(",", openCodeMaxValues) + `\"","a":[` + strings.Repeat("0,", n) + `0]}`)
	}
	if _, err := openCodeCanonical(record(openCodeMaxValues), nil); !errors.Is(err, errCrowded) {
		t.Errorf("crowded: %v", err)
	}
	if _, err := openCodeCanonical(record(1000), nil); err != nil {
		t.Errorf("a long text: %v", err)
	}
}
