package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sessdex/session"
)

// claudeCorpus are the real transcripts that SESSDEX_CORPUS points to.
func claudeCorpus(t testing.TB) []string {
	dir := os.Getenv("SESSDEX_CORPUS")
	if dir == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	files, err := filepath.Glob(filepath.Join(dir, "claude-code", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	return files
}

// notSaid is a second opinion on what a person cannot have typed, by other means
// than the parser's.
var notSaid = regexp.MustCompile(`^\s*(<[a-z]|Caveat:|\[Request interrupted|\[Image: source|This session is being continued|Base directory for this skill|Stop hook feedback|Warmup$|\{"task_id)`)

func TestClaudeCorpus(t *testing.T) {
	for _, file := range claudeCorpus(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := FileSource(file)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !ClaudeCode.Detect(newHead(data[:min(len(data), HeadBytes)])) {
				t.Error("not taken for Claude Code")
			}
			m, turns := parseSource(t, ClaudeCode, src)
			talk := userRole.Match(data)
			switch {
			case !talk && len(turns) != 0:
				t.Errorf("%d turns where nobody talked", len(turns))
			case talk && (m.Turns.User == 0 || m.Turns.Assistant == 0 || m.Opening == "" || m.Title == ""):
				t.Errorf("a conversation without %+v, opening %q, title %q", m.Turns, m.Opening, m.Title)
			case talk && (m.NativeID == "" || m.Dir == "" || m.Version == "" || m.LastActive.IsZero() || m.LastActive.Before(m.Start)):
				t.Errorf("incomplete: %+v", m)
			}
			if notSaid.MatchString(m.Opening) {
				t.Errorf("injected opening %.80q", m.Opening)
			}
			if len(m.Unknown) > 0 {
				t.Errorf("unknown records: %v", m.Unknown)
			}
			if lines := bytes.Count(data, []byte("\n")); m.BadLines > 1+lines/100 {
				t.Errorf("%d bad lines", m.BadLines)
			}
			for _, turn := range turns {
				if turn.Role == session.User && notSaid.MatchString(turn.Text) {
					t.Errorf("turn %d was not typed: %.80q", turn.N, turn.Text)
				}
				if turn.Undone {
					t.Errorf("turn %d is undone; no one rewound in this corpus", turn.N)
				}
			}
			// Each call is one turn: an independent count of distinct ids.
			calls := map[string]bool{}
			for _, id := range toolUse.FindAllSubmatch(data, -1) {
				calls[string(id[1])] = true
			}
			named := 0
			for _, turn := range turns {
				if turn.Role == session.Tool && turn.Tool != "" && turn.Tool != "bash-input" {
					named++
				}
			}
			// Progress records repeat the calls of sub-agents that have their own
			// file, so the raw bytes may hold more.
			if named > len(calls) || len(calls) > 0 && named == 0 {
				t.Errorf("%d tool turns, %d calls in the bytes", named, len(calls))
			}
		})
	}
}

var (
	userRole = regexp.MustCompile(`"role": ?"user"`)
	toolUse  = regexp.MustCompile(`"type": ?"tool_use", ?"id": ?"([^"]+)"`)
)
