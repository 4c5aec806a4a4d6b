package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"sessdex/session"
)

// geminiNotSaid is a second opinion on what a person cannot have typed.
var geminiNotSaid = regexp.MustCompile(`^\s*(<[a-z]+_[a-z]|System:|This is the Gemini CLI|---)`)

// TestGeminiCorpus compares the parser with an independent reading of the real
// documents that SESSDEX_CORPUS points to.
func TestGeminiCorpus(t *testing.T) {
	dir := os.Getenv("SESSDEX_CORPUS")
	if dir == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	files, err := filepath.Glob(filepath.Join(dir, geminiName, "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				SessionID string
				Messages  []struct {
					Type      string
					Content   any
					Thoughts  []any
					ToolCalls []struct{ Status string }
				}
			}
			if err := json.Unmarshal(data, &doc); err != nil {
				t.Skip("no document:", err)
			}
			src, err := FileSource(file)
			if err != nil {
				t.Fatal(err)
			}
			if h, err := Identify(src); h != GeminiCLI {
				t.Errorf("taken for %v: %v", h, err)
			}
			m, turns := parseSource(t, GeminiCLI, src)
			t.Logf("%+v opening %q title %q edits %v", m.Turns, m.Opening, m.Title, touched(turns, func(t session.Turn) []string { return t.Edits }))
			var want session.Counts
			failed := 0
			for _, msg := range doc.Messages {
				switch text, _ := msg.Content.(string); msg.Type {
				case "user":
					if text != "System: Please continue." {
						want.User++
					}
				case "gemini":
					if text != "" || len(msg.Thoughts) > 0 && len(msg.ToolCalls) == 0 {
						want.Assistant++
					}
					want.Tool += len(msg.ToolCalls)
					for _, c := range msg.ToolCalls {
						if c.Status != "success" {
							failed++
						}
					}
				}
			}
			if m.Turns != want {
				t.Errorf("turns %+v, in the document %+v", m.Turns, want)
			}
			for _, turn := range turns {
				if turn.Failed {
					failed--
				}
				if turn.Role == session.User && geminiNotSaid.MatchString(turn.Text) {
					t.Errorf("turn %d was not typed: %.80q", turn.N, turn.Text)
				}
			}
			if failed > 0 {
				t.Errorf("%d failed calls are not shown as such", failed)
			}
			if m.NativeID != doc.SessionID || m.BadLines != 0 || m.Unknown != nil || m.LastActive.Before(m.Start) {
				t.Errorf("incomplete: %+v", m)
			}
			if len(turns) > 0 && m.Opening == "" || geminiNotSaid.MatchString(m.Opening) {
				t.Errorf("opening %q", m.Opening)
			}
		})
	}
}
