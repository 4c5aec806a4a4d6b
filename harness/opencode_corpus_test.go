package harness

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sessdex/session"
)

// openCodeCorpus are the real exports that SESSDEX_CORPUS points to.
func openCodeCorpus(t testing.TB) []string {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder with real transcripts")
	}
	files, _ := filepath.Glob(filepath.Join(root, "opencode", "*"))
	if len(files) == 0 {
		t.Skip("no opencode folder in SESSDEX_CORPUS")
	}
	return files
}

// An openCodeTally is an export by a reading of its own: encoding/json, no code of
// the parser.
type openCodeTally struct {
	Info struct {
		ID, Title, ParentID, Directory string
	}
	Messages []struct {
		Info struct {
			ID, Role string
			Summary  json.RawMessage
		}
		Parts []struct {
			ID, Type, Text, Tool string
			Synthetic, Ignored   bool
		}
	}
}

func (e openCodeTally) counts() (c session.Counts, opening string) {
	for _, m := range e.Messages {
		said := ""
		for _, p := range m.Parts {
			switch {
			case p.Type == "tool":
				c.Tool++
			case p.Type == "text" && !p.Synthetic && !p.Ignored, p.Type == "reasoning" && m.Info.Role == "assistant":
				said += strings.TrimSpace(p.Text)
			}
		}
		switch {
		case said == "":
		case m.Info.Role == "user":
			c.User++
			if opening == "" {
				opening = said
			}
		case string(m.Info.Summary) == "true":
			c.Summary++
		default:
			c.Assistant++
		}
	}
	return c, opening
}

func TestOpenCodeCorpus(t *testing.T) {
	var sum session.Counts
	files := openCodeCorpus(t)
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var want openCodeTally
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			if h, err := Detect(data[:min(len(data), HeadBytes)]); h != OpenCode {
				t.Errorf("taken for %v, %v", h, err)
			}
			src, err := FileSource(name)
			if err != nil {
				t.Fatal(err)
			}
			meta, turns := parseSource(t, OpenCode, src)
			counts, opening := want.counts()
			if meta.Turns != counts {
				t.Errorf("turns %+v, want %+v", meta.Turns, counts)
			}
			if letters(meta.Opening) != letters(opening) {
				t.Errorf("opening %.60q, want %.60q", meta.Opening, opening)
			}
			if meta.NativeID != want.Info.ID || meta.Title != session.OneLine(want.Info.Title, 120) || meta.Dir != want.Info.Directory ||
				meta.Parent != want.Info.ParentID || meta.Subagent != (want.Info.ParentID != "") {
				t.Errorf("%+v", meta)
			}
			if meta.BadLines != 0 || len(meta.Unknown) != 0 {
				t.Errorf("%d bad lines, unknown %v", meta.BadLines, meta.Unknown)
			}
			for _, turn := range turns {
				sum.Add(turn.Role)
			}
			sameFromDatabase(t, data, meta, turns)
		})
	}
	t.Logf("%d files: %+v", len(files), sum)
}

// letters leaves out what telling the words apart does not need.
func letters(s string) string {
	return strings.NewReplacer(`"`, "", `\`, "", " ", "", "\n", "").Replace(s)
}

// sameFromDatabase puts an export into a database and reads it from there.
func sameFromDatabase(t *testing.T, data []byte, meta session.Meta, turns []session.Turn) {
	t.Helper()
	var export struct {
		Info     map[string]any
		Messages []struct {
			Info  map[string]any
			Parts []json.RawMessage
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&export); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	live := openCodeLive(t, filepath.Join(openCodeData(home), "opencode.db"))
	db, err := live.Begin()
	if err != nil {
		t.Fatal(err)
	}
	at := export.Info["time"].(map[string]any)
	run(t, db, `INSERT INTO session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated) VALUES (?, 'p', ?, '', ?, ?, ?, ?, ?)`,
		export.Info["id"], export.Info["parentID"], export.Info["directory"], export.Info["title"], export.Info["version"], at["created"].(json.Number).String(), at["updated"].(json.Number).String())
	for _, m := range export.Messages {
		id, session := m.Info["id"], m.Info["sessionID"]
		delete(m.Info, "id")
		delete(m.Info, "sessionID")
		raw, err := json.Marshal(m.Info)
		if err != nil {
			t.Fatal(err)
		}
		created := m.Info["time"].(map[string]any)["created"].(json.Number).String()
		run(t, db, `INSERT INTO message VALUES (?, ?, ?, ?, ?)`, id, session, created, created, string(raw))
		for _, p := range m.Parts {
			var ids struct{ ID string }
			if err := json.Unmarshal(p, &ids); err != nil {
				t.Fatal(err)
			}
			run(t, db, `INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)`, ids.ID, id, session, created, created, string(p))
		}
	}
	if err := db.Commit(); err != nil {
		t.Fatal(err)
	}
	gotMeta, gotTurns := parseSource(t, OpenCode, openCodeFound(t, home)[meta.NativeID])
	if diff := cmp.Diff(meta, gotMeta); diff != "" {
		t.Errorf("from a database: %s", diff)
	}
	if diff := cmp.Diff(turns, gotTurns); diff != "" {
		t.Errorf("from a database: %s", diff)
	}
}
