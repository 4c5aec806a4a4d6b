package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"sessdex/session"
)

// FuzzCodex holds the parser to what it promises of any bytes: no panic, counts
// that agree with the turns, numbers without gaps, text that is valid, and nothing
// in a person's name that the harness is known to inject. The seeds are long, so run
// it with -fuzzminimizetime 5x or it will do little else than shorten them.
func FuzzCodex(f *testing.F) {
	names, _ := filepath.Glob("testdata/codex/*.txtar")
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range ar.Files {
			if file.Name != "want" {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte("{\n{}\n"))
	f.Add([]byte("[1]\n{\"type\":\"message\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newCodexParser(Source{Path: "/x/rollout-a.jsonl"})
		for line := range bytes.Lines(data) {
			p.Line(line)
		}
		meta, turns := p.Finish()
		var counts session.Counts
		n := 0
		for turn := range turns {
			n++
			counts.Add(turn.Role)
			if turn.N != n {
				t.Fatalf("turn %d is numbered %d", n, turn.N)
			}
			for _, s := range []string{turn.Text, turn.Thinking, turn.Tool, turn.Input, turn.Output} {
				if !utf8.ValidString(s) {
					t.Fatalf("turn %d holds invalid UTF-8: %q", n, s)
				}
			}
			if turn.Role == session.User && (turn.Text == "" || codexIsInjected(turn.Text)) {
				t.Fatalf("turn %d is no person's: %q", n, turn.Text)
			}
		}
		if counts != meta.Turns {
			t.Fatalf("counted %+v, meta says %+v", counts, meta.Turns)
		}
		if strings.ContainsRune(meta.Title, '\n') {
			t.Fatalf("title of several lines: %q", meta.Title)
		}
	})
}

// BenchmarkCodex parses the real rollouts in $SESSDEX_CORPUS/codex-cli, without
// reading or decompressing them.
func BenchmarkCodex(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(os.Getenv("SESSDEX_CORPUS"), "codex-cli", "*.jsonl"))
	if os.Getenv("SESSDEX_CORPUS") == "" || len(files) == 0 {
		b.Skip("SESSDEX_CORPUS names no folder with real transcripts")
	}
	var all [][][]byte
	var size int64
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		size += int64(len(data))
		all = append(all, bytes.SplitAfter(data, []byte("\n")))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, lines := range all {
			p := newCodexParser(Source{})
			for _, line := range lines {
				p.Line(line)
			}
			p.Finish()
		}
	}
}
