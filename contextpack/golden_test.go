package contextpack

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"sessdex/session"
)

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// Each testdata/*.txtar holds options, the turns of a session (a JSON object a
// line, "repeat" says how often the text is written) and the pack that must come of
// them, with what is said of it beside its text.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			part := map[string][]byte{}
			for _, f := range archive.Files {
				part[f.Name] = f.Data
			}
			var opts Options
			if err := json.Unmarshal(part["options.json"], &opts); err != nil {
				t.Fatal(err)
			}
			p := newRecorded(goldenTurns(t, part["turns.jsonl"])).pack(t, opts)
			if n := referenceCount(p.Encoding, p.Text); n != p.Tokens {
				t.Errorf("says %d tokens, tiktoken-go %d", p.Tokens, n)
			}
			got := fmt.Sprintf("%d of %d tokens, %d of %d turns, elided %v\nnext: %s\n", p.Tokens, p.MaxTokens, p.TurnsIncluded, p.TurnsTotal, p.Elided, p.Next)
			if *update {
				for i := range archive.Files {
					switch archive.Files[i].Name {
					case "says":
						archive.Files[i].Data = []byte(got)
					case "pack":
						archive.Files[i].Data = []byte(p.Text)
					}
				}
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(part["says"]), got); diff != "" {
				t.Errorf("what is said of the pack (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(string(part["pack"]), p.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func goldenTurns(t *testing.T, lines []byte) []session.Turn {
	var turns []session.Turn
	for line := range strings.Lines(string(lines)) {
		var turn struct {
			session.Turn
			Repeat int `json:"repeat"`
		}
		if err := json.Unmarshal([]byte(line), &turn); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if turn.Repeat > 0 {
			turn.Text = strings.Repeat(turn.Text, turn.Repeat)
		}
		turns = append(turns, turn.Turn)
	}
	return turns
}
