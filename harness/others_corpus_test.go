package harness

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Real conversations of programs that have no harness here are imported, or refused
// with a reason; none fails, and none is another harness's.
func TestUnknownCorpus(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "fixtures", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", root, err)
	}
	for _, file := range files {
		src, err := FileSource(file)
		if err != nil {
			continue // a folder
		}
		h, err := Identify(src)
		if err != nil {
			t.Logf("%s: %v", filepath.Base(file), err)
			continue
		}
		meta, turns := parseSource(t, h, src)
		t.Logf("%s: %s, %d turns", filepath.Base(file), meta.Harness, len(turns))
		if h == Unknown && (meta.Turns.User == 0 || meta.Turns.Assistant == 0 || meta.NativeID == "") {
			t.Errorf("%s: %+v named %q", filepath.Base(file), meta.Turns, meta.NativeID)
		}
	}
}

// What one of the five harnesses above these in All takes without them, it takes with
// them: over every real file.
func TestOthersTakeNothing(t *testing.T) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	five := []*Harness{CodexCLI, GeminiCLI, ClaudeCode, GrokBuild, OpenCode}
	files := 0
	w := Walk{File: func(path, rel string) {
		src, err := FileSource(path)
		if err != nil {
			return
		}
		r, err := src.Open()
		if err != nil {
			t.Errorf("%s: %v", rel, err)
			return
		}
		defer r.Close()
		data, _ := io.ReadAll(io.LimitReader(r, HeadBytes))
		head := newHead(data)
		for _, h := range five {
			if h.Detect(head) {
				if got, err := Detect(data); got != h {
					t.Errorf("%s of %s: %v, %v", rel, h.Name, got, err)
				}
				files++
				return
			}
		}
	}}
	w.Folder(root)
	if files < 50 {
		t.Errorf("%d files of the five", files)
	}
	t.Logf("%d files", files)
}
