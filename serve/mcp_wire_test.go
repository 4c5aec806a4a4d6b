package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Conversations as files: each testdata/wire/*.txtar holds the lines that a
// client sends and, after them, what it gets: texts as a model sees them, other
// results as JSON. A new case is new text; -update writes the answers.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	s := sharedShop(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			talk, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: talk.Comment}
			for _, f := range talk.Files {
				if strings.HasPrefix(f.Name, "answer") {
					continue
				}
				got.Files = append(got.Files, f, txtar.File{Name: "answer to " + f.Name, Data: exchange(t, s, f.Data)})
			}
			golden(t, file, txtar.Format(got))
		})
	}
}

// exchange sends one message on a connection of its own.
func exchange(t *testing.T, s *Service, message []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), bytes.NewReader(bytes.ReplaceAll(message, []byte("\n"), nil)), &out); err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(out.Bytes(), &reply); err == nil && len(reply.Result.Content) == 1 {
		text := reply.Result.Content[0].Text
		if reply.Result.IsError {
			text = "error: " + text
		}
		return []byte(strings.TrimSuffix(text, "\n") + "\n")
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, out.Bytes(), "", "  "); err != nil {
		return fmt.Appendf(nil, "no JSON: %q\n", out.String())
	}
	return append(bytes.TrimSpace(pretty.Bytes()), '\n')
}
