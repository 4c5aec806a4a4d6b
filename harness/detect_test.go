package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDetect(t *testing.T) {
	claude := `{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","message":{"role":"user","content":"hi"},"uuid":"u"}`
	codex := `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/d","cli_version":"0.100.0"}}`
	for _, c := range []struct {
		name, head string
		want       *Harness
	}{
		{"claude", claude + "\n", ClaudeCode},
		{"codex", codex + "\n", CodexCLI},
		{"claude that quotes codex", `{"type":"summary","summary":"s","leafUuid":"u"}` + "\n" + claude, ClaudeCode},
		{"grok's log", grokLine, GrokBuild},
		{"grok's log that begins with a line longer than the head", strings.Replace(grokLine, "hi", strings.Repeat("hi", HeadBytes), 1), GrokBuild},
		{"grok's folder whose first line is longer than the head", string(partHead{Harness: grokName, Name: grokUpdates}.line()) + strings.Repeat("x", HeadBytes), GrokBuild},
		{"a folder of a harness to come", string(partHead{Harness: "some-other", Name: "log.jsonl"}.line()) + "{}\n", nil},
		{"empty", "", nil},
		{"binary", "\x00\x01\x02\n\xff", nil},
		{"json of another kind", `{"name":"shop","version":"1.0.0"}`, nil},
		{"text", "# Notes\n\n{ not json", nil},
	} {
		got, err := Detect([]byte(c.head))
		if got != c.want || (c.want == nil) != errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if c.want == nil {
			continue
		}
		// The name and a byte order mark play no part.
		path := filepath.Join(t.TempDir(), "notes.txt")
		if err := os.WriteFile(path, []byte("\xef\xbb\xbf"+c.head), 0o644); err != nil {
			t.Fatal(err)
		}
		src, err := FileSource(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Identify(src); got != c.want || err != nil {
			t.Errorf("%s from a file: %v, %v", c.name, got, err)
		}
	}
}

// Every real transcript is taken for what its folder says, and those of harnesses
// without a parser for nothing.
func TestDetectCorpus(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", root, err)
	}
	for _, file := range files {
		src, err := FileSource(file)
		if err != nil {
			t.Fatal(err)
		}
		want := filepath.Base(filepath.Dir(file))
		got, err := Identify(src)
		switch {
		case ByName(want) == nil && !errors.Is(err, ErrUnknown):
			t.Errorf("%s/%s is taken for %v: %v", want, filepath.Base(file), got, err)
		case ByName(want) != nil && (err != nil || got.Name != want):
			t.Errorf("%s/%s: %v, %v", want, filepath.Base(file), got, err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte(`{"parentUuid":null,"sessionId":"s","message":{"role":"user","content":[{"type":"te`))
	f.Add([]byte("[{\"role\":\"user\",\"parts\":[]}]\n{\"loglines\":[{}"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if h, err := Detect(head); (h == nil) != errors.Is(err, ErrUnknown) {
			t.Fatalf("%v, %v", h, err)
		}
	})
}
