package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sessdex/session"
)

// Whatever file of a tree changes, the stamp of its session does, and no other's.
func TestOpenCodeTreeStamp(t *testing.T) {
	for _, early := range []bool{false, true} {
		home := t.TempDir()
		data := openCodeData(home)
		writeOpenCodeTree(t, data, early, openCodeTalk("ses_1", openCodeBorn), openCodeTalk("ses_2", openCodeBorn))
		root := filepath.Join(data, "storage")
		part := filepath.Join(root, "part", "msg_101", "prt_101_00.json")
		if early {
			root = filepath.Join(data, "project", "srv-bakery", "storage", "session")
			part = filepath.Join(root, "part", "ses_1", "msg_101", "prt_101_00.json")
		}
		message := filepath.Join(root, "message", "ses_1", "msg_102.json")
		// Times of files are coarse: these are older than any write below.
		past := time.Now().Add(-time.Hour)
		filepath.WalkDir(data, func(p string, _ os.DirEntry, _ error) error { return os.Chtimes(p, past, past) })
		was := openCodeFound(t, home)
		for _, file := range []string{part, message, openCodeFound(t, home)["ses_1"].Path} {
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tmp := filepath.Join(filepath.Dir(file), ".oc-1.tmp") // as OpenCode writes
			if err := os.WriteFile(tmp, append(old, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(tmp, file); err != nil {
				t.Fatal(err)
			}
			now := openCodeFound(t, home)
			if now["ses_1"].Stamp == was["ses_1"].Stamp || now["ses_2"].Stamp != was["ses_2"].Stamp {
				t.Errorf("after %s: %q was %q, %q was %q", file, now["ses_1"].Stamp, was["ses_1"].Stamp, now["ses_2"].Stamp, was["ses_2"].Stamp)
			}
			was = now
		}
	}
}

// Each file of a tree leads to its session, and so does the database that has it.
func TestOpenCodeTreeGroup(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, "[odd] *name?") // not a pattern
	writeOpenCodeTree(t, data, false, openCodeTalk("ses_1", openCodeBorn), openCodeTalk("ses_2", openCodeBorn))
	writeOpenCodeTree(t, data, true, openCodeTalk("ses_1", openCodeBorn), openCodeTalk("ses_3", openCodeBorn))
	db := openCodeLive(t, filepath.Join(data, "opencode.db"))
	insertOpenCode(t, db, openCodeTalk("ses_2", openCodeBorn))
	for file, want := range map[string]string{
		"storage/session/p1/ses_1.json":                                         "storage/session/p1/ses_1.json",
		"storage/message/ses_1/msg_101.json":                                    "storage/session/p1/ses_1.json",
		"storage/part/msg_101/prt_101_00.json":                                  "storage/session/p1/ses_1.json",
		"storage/part/msg_202/prt_202_01.json":                                  "opencode.db",
		"storage/session/p1/ses_2.json":                                         "opencode.db",
		"project/srv-bakery/storage/session/info/ses_1.json":                    "storage/session/p1/ses_1.json",
		"project/srv-bakery/storage/session/info/ses_3.json":                    "project/srv-bakery/storage/session/info/ses_3.json",
		"project/srv-bakery/storage/session/message/ses_3/msg_301.json":         "project/srv-bakery/storage/session/info/ses_3.json",
		"project/srv-bakery/storage/session/part/ses_3/msg_302/prt_302_00.json": "project/srv-bakery/storage/session/info/ses_3.json",
		"opencode.db": "opencode.db",
	} {
		path := filepath.Join(data, filepath.FromSlash(file))
		srcs, carrier, err := Sources(path)
		if carrier != filepath.Join(data, filepath.FromSlash(want)) || err != nil || len(srcs) != 1 {
			t.Errorf("%s leads to %s, %d sessions, %v", file, carrier, len(srcs), err)
		}
		if g := OpenCode.Group(carrier); g.Carrier != carrier {
			t.Errorf("the carrier of %s is %s", carrier, g.Carrier)
		}
	}
	for _, file := range []string{"storage/project/p1.json", "auth.json", "storage/todo/ses_1.json"} {
		if g := OpenCode.Group(filepath.Join(data, file)); g.Carrier != "" {
			t.Errorf("%s is part of %s", file, g.Carrier)
		}
	}
}

// Files that are torn, too large or no JSON cost what was in them and nothing else.
func TestOpenCodeTreeDamaged(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	talk := openCodeTalk("ses_1", openCodeBorn)
	talk.messages[1].parts = append(talk.messages[1].parts, `"type":"text"`)
	writeOpenCodeTree(t, data, false, talk)
	writeTree(t, data, map[string]string{
		"storage/part/msg_102/prt_102_03.json": `{"type":"text","te`,
		"storage/part/msg_102/prt_102_04.json": ``,
		"storage/part/msg_102/.oc-9.tmp":       `{"type":"text"`,
		"storage/message/ses_1/msg_103.json":   `[]`,
	})
	if err := os.MkdirAll(filepath.Join(data, "storage/part/msg_102/prt_102_05.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	big, err := os.Create(filepath.Join(data, "storage/part/msg_102/prt_102_06.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Truncate(MaxLine + 1); err != nil {
		t.Fatal(err)
	}
	big.Close()
	meta, _ := parseSource(t, OpenCode, openCodeFound(t, home)["ses_1"])
	if meta.BadLines != 5 || meta.Turns != (session.Counts{User: 1, Assistant: 1, Tool: 1}) {
		t.Errorf("%d bad lines, %+v", meta.BadLines, meta.Turns)
	}
}

// A message of any length is read in pieces.
func TestOpenCodeLongMessage(t *testing.T) {
	home := t.TempDir()
	talk := openCodeTalk("ses_1", openCodeBorn)
	talk.messages[1].parts = nil
	for range 3 {
		talk.messages[1].parts = append(talk.messages[1].parts, `"type":"text","text":"`+strings.Repeat("dough ", openCodePiece/12)+`"`)
	}
	writeOpenCodeTree(t, openCodeData(home), false, talk)
	src := openCodeFound(t, home)["ses_1"]
	for _, line := range strings.Split(readSource(t, src), "\n") {
		if len(line) > openCodePiece+1000 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
	meta, turns := parseSource(t, OpenCode, src)
	if meta.Turns != (session.Counts{User: 1, Assistant: 1}) || strings.Count(turns[1].Text, "dough") != 3*(openCodePiece/12) {
		t.Errorf("%+v", meta.Turns)
	}
}

// A session without a folder has its project's.
func TestOpenCodeWorktree(t *testing.T) {
	home := t.TempDir()
	data := openCodeData(home)
	talk := openCodeTalk("ses_1", openCodeBorn)
	talk.messages = talk.messages[:1]
	writeOpenCodeTree(t, data, false, talk)
	writeTree(t, data, map[string]string{
		"storage/session/p1/ses_1.json": `{"id":"ses_1","projectID":"p1","title":"T","time":{"created":1777000000000}}`,
		"storage/project/p1.json":       `{"id":"p1","worktree":"/srv/mill"}`,
	})
	if meta, _ := parseSource(t, OpenCode, openCodeFound(t, home)["ses_1"]); meta.Dir != "/srv/mill" {
		t.Errorf("Dir = %q", meta.Dir)
	}
	db := openCodeLive(t, filepath.Join(data, "opencode.db"))
	insertOpenCode(t, db, talk)
	run(t, db, "UPDATE session SET directory = ''")
	run(t, db, "INSERT INTO project VALUES ('p1', '/srv/dairy')")
	if meta, _ := parseSource(t, OpenCode, openCodeFound(t, home)["ses_1"]); meta.Dir != "/srv/dairy" {
		t.Errorf("Dir = %q", meta.Dir)
	}
}
