package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sessdex/session"
)

// codexTally is what a rollout holds by a reading of its own: encoding/json, no
// code of the parser. Zero fields are not known for that shape of file.
type codexTally struct {
	humans, messages int             // by the screen's events; by the items
	calls            map[string]bool // ids of calls and of outputs
	searches         int
	talk             bool // somebody said something
	said             map[string]bool
}

func tallyCodex(data []byte) codexTally {
	n := codexTally{calls: map[string]bool{}, said: map[string]bool{}}
	type content []struct{ Text string }
	type item struct {
		Type, Role, Message, Kind string
		CallID                    string `json:"call_id"`
		Content                   json.RawMessage
		ToolCalls                 []struct{ ID string } `json:"tool_calls"`
	}
	one := func(kind string, it item) {
		var parts content
		json.Unmarshal(it.Content, &parts)
		text := ""
		for _, p := range parts {
			text += p.Text
		}
		switch {
		case kind == "event_msg":
			if it.Type == "user_message" && it.Kind != "user_instructions" && it.Kind != "environment_context" {
				n.humans++
				n.talk = true
				n.said[strings.TrimSpace(it.Message)] = true
			}
		case it.Type == "web_search_call":
			n.searches++
		case it.CallID != "":
			n.calls[it.CallID] = true
			n.talk = true
		case it.Role == "assistant":
			if text != "" {
				n.messages++
				n.talk = true
			}
		case it.Role == "user" && !injectedByShape.MatchString(text):
			n.talk = true
			n.said[strings.TrimSpace(text)] = true
		}
	}
	var doc struct{ Items []item }
	if json.Unmarshal(data, &doc) == nil && doc.Items != nil {
		for _, it := range doc.Items {
			one("", it)
		}
		n.messages, n.calls = 0, nil // chat completions: other fields
		return n
	}
	for line := range bytes.Lines(data) {
		var rec struct {
			Type    string
			Payload *item
		}
		var bare item
		if json.Unmarshal(line, &rec) != nil {
			continue
		}
		if rec.Payload != nil {
			one(rec.Type, *rec.Payload)
		} else if json.Unmarshal(line, &bare) == nil {
			one("", bare)
		}
	}
	return n
}

// injectedByShape is a rule for injected text that knows no list: a tag or a label
// of the harness at the very beginning.
var injectedByShape = regexp.MustCompile(`^\s*(<[a-z]+[_ -][a-z_ -]+[ >]|<skill>|# AGENTS\.md instructions|Warning: )`)

func TestCodexCorpus(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder with real transcripts")
	}
	files, _ := filepath.Glob(filepath.Join(root, "codex-cli", "*"))
	if len(files) == 0 {
		t.Skip("no codex-cli folder in SESSDEX_CORPUS")
	}
	var sum session.Counts
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src, err := FileSource(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := src.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			r.Close()
			if err != nil {
				t.Fatal(err)
			}
			if !CodexCLI.Detect(newHead(data[:min(len(data), HeadBytes)])) {
				t.Error("not taken for a rollout")
			}
			meta, turns := parseSource(t, CodexCLI, src)
			want := tallyCodex(data)
			if meta.NativeID == "" || meta.Start.IsZero() {
				t.Errorf("id %q, start %v", meta.NativeID, meta.Start)
			}
			if meta.BadLines != 0 || len(meta.Unknown) != 0 {
				t.Errorf("%d bad lines, unknown %v", meta.BadLines, meta.Unknown)
			}
			if got := meta.Turns.Total() > 0; got != want.talk {
				t.Errorf("turns %+v; somebody spoke: %v", meta.Turns, want.talk)
			}
			if injectedByShape.MatchString(meta.Opening) {
				t.Error("the opening is injected text")
			}
			if meta.Opening != "" && !want.said[meta.Opening] {
				t.Error("nobody said the opening")
			}
			if want.humans > 0 && meta.Turns.User != want.humans {
				t.Errorf("%d user turns, %d messages of the person", meta.Turns.User, want.humans)
			}
			if want.messages > 0 && meta.Turns.Assistant != want.messages {
				t.Errorf("%d assistant turns, %d messages of the model", meta.Turns.Assistant, want.messages)
			}
			if want.calls != nil && meta.Turns.Tool != len(want.calls)+want.searches {
				t.Errorf("%d tool turns, %d calls and %d searches", meta.Turns.Tool, len(want.calls), want.searches)
			}
			for _, turn := range turns {
				sum.Add(turn.Role)
			}
		})
	}
	t.Logf("%d files: %+v", len(files), sum)
}
