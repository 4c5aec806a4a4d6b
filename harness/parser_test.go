package harness

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"sessdex/session"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// parserPaths are paths of files as the harnesses name them, from which some parsers
// take what no record tells.
var parserPaths = map[*Harness]string{
	ClaudeCode:  "/x/projects/-d/11111111-2222-4333-8444-555555555555.jsonl",
	CodexCLI:    "/x/rollout-a.jsonl",
	GeminiCLI:   "/x/chats/p/a.jsonl",
	GrokBuild:   "/x/sessions/%2Fd/id/updates.jsonl",
	CursorAgent: "/home/x/projects/p-q/agent-transcripts/a/a.jsonl",
}

// hostileSeeds are what broke a parser once, or looks as if it could.
var hostileSeeds = []string{
	"{\n{}\n",
	"{\n{}\n}\n",
	"{\"info\":\n}\n{]\n[[}}",
	"[1]\n{\"type\":\"message\"}\n",
	`[[{"role":"user","content":[[["x"]]]}]]`,
	`{"$set":{"messages":[{"id":"a"},{"id":"a"},7,{"id":"b","type":"user","content":{"text":"x"}}]}}` + "\n" + `{"$rewindTo":"b"}`,
	`{"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"a"}]}]}` + "\n" + `{"info":{"role":"assistant"},"parts":[{"type":"patch","files":["a"]}]}`,
}

// FuzzParsers holds every parser to what it promises of any bytes: see checkParsed. The
// seeds are long, so run it with -fuzzminimizetime 5x or it will do little else than
// shorten them.
func FuzzParsers(f *testing.F) {
	for i, h := range All {
		for _, e := range examples {
			if e.harness != h {
				continue
			}
			for name, data := range goldenFiles(f, e.dir) {
				f.Add(i, data)
				f.Add(i, bytes.ReplaceAll(data, []byte("-"), []byte("\xff"))) // in most ids, branches, folders
				if e.trees {                                                  // as in the document of several files
					f.Add(i, append(partHead{Harness: h.Name, Name: path.Base(name)}.line(), data...))
				}
			}
		}
		for _, seed := range hostileSeeds {
			f.Add(i, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		h := All[uint(which)%uint(len(All))]
		h.Detect(newHead(data))
		p := h.New(Source{Path: parserPaths[h]})
		for line, err := range Lines(bytes.NewReader(data)) {
			if err != nil {
				t.Fatal(err)
			}
			p.Line(line)
		}
		meta, turns := p.Finish()
		checkParsed(t, h, meta, collectTwice(t, turns))
	})
}

// checkParsed holds a transcript to what holds of all: numbers without gaps, counts
// that agree with the turns, leading turns inherited from somebody, text that is valid,
// no turn of words without any, and nothing in a person's name that is known to be the
// harness's.
func checkParsed(t *testing.T, h *Harness, meta session.Meta, turns []session.Turn) {
	t.Helper()
	var counts, inherited session.Counts
	for i, turn := range turns {
		counts.Add(turn.Role)
		if i < meta.Inherited.Total() {
			inherited.Add(turn.Role)
		}
		if turn.N != i+1 {
			t.Fatalf("turn %d is numbered %d", i+1, turn.N)
		}
		for _, s := range slices.Concat([]string{turn.Text, turn.Thinking, turn.Tool, turn.Input, turn.Output, turn.Ref, turn.Branch}, turn.Edits, turn.Reads) {
			if !utf8.ValidString(s) {
				t.Fatalf("turn %d holds invalid UTF-8: %q", turn.N, s)
			}
		}
		switch {
		case turn.Role == session.User && strings.TrimSpace(turn.Text) == "", turn.Words() && turn.Text == "" && turn.Thinking == "":
			t.Fatalf("turn %d says nothing: %+v", turn.N, turn)
		case turn.Role == session.User && injected(h, turn.Text):
			t.Fatalf("turn %d is no person's: %q", turn.N, turn.Text)
		case turn.Failed && len(turn.Edits) > 0 && !failedMayEdit[h]:
			t.Fatalf("turn %d failed and edited %v", turn.N, turn.Edits)
		}
	}
	if counts != meta.Turns || inherited != meta.Inherited || meta.Harness != h.Name {
		t.Fatalf("counted %+v and %+v, meta says %+v and %+v of %s", counts, inherited, meta.Turns, meta.Inherited, meta.Harness)
	}
	if meta.ForkedFrom == "" && inherited != (session.Counts{}) {
		t.Fatalf("inherited %+v from nobody", inherited)
	}
	if h == ClaudeCode && meta.Subagent && meta.ForkedFrom != "" {
		t.Fatalf("a sub-agent forked from %q", meta.ForkedFrom)
	}
	if strings.ContainsAny(meta.Title, "\n\x00") {
		t.Fatalf("title %q", meta.Title)
	}
	facts := []string{meta.NativeID, meta.Title, meta.Opening, meta.Parent, meta.ForkedFrom, meta.Agent, meta.Dir, meta.Repo, meta.Branch, meta.Commit, meta.Version}
	for _, s := range slices.Concat(facts, slices.Collect(maps.Keys(meta.Unknown)), meta.Dirs, meta.Branches, meta.Models, meta.PRs, meta.Tags) {
		if !utf8.ValidString(s) {
			t.Fatalf("facts hold invalid UTF-8: %q", s)
		}
	}
}

// failedMayEdit are the harnesses that tell a command which ended badly, and may have
// written before, from a call that did not run.
var failedMayEdit = map[*Harness]bool{CodexCLI: true, GeminiCLI: true, GrokBuild: true, OpenCode: true}

// injected knows what a harness says in a person's name, as far as its beginning tells.
func injected(h *Harness, text string) bool {
	switch h {
	case CodexCLI:
		return codexIsInjected(text)
	case GeminiCLI:
		return strings.HasPrefix(text, "System: Please continue.")
	}
	return false
}

// BenchmarkParsers parses the real transcripts in $SESSDEX_CORPUS/<harness>, without
// reading or decompressing them.
func BenchmarkParsers(b *testing.B) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		b.Skip("SESSDEX_CORPUS names no folder of real transcripts")
	}
	for _, h := range All {
		type transcript struct {
			src   Source
			lines [][]byte
		}
		var all []transcript
		size := 0
		w := Walk{File: func(path, _ string) {
			srcs, carrier, err := Sources(path)
			if err != nil || carrier != path {
				return // what cannot be read is another test's concern
			}
			for _, src := range srcs {
				if by, err := Identify(src); err != nil || by != h {
					continue
				}
				r, err := src.Open()
				if err != nil {
					b.Fatal(err)
				}
				data, err := io.ReadAll(r)
				r.Close()
				if err != nil {
					b.Fatal(err)
				}
				size += len(data)
				all = append(all, transcript{src, bytes.SplitAfter(data, []byte("\n"))})
			}
		}}
		if dir := filepath.Join(root, h.Name); isFolder(dir) {
			w.Folder(dir)
		}
		if len(all) == 0 {
			continue
		}
		b.Run(h.Name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, t := range all {
					p := h.New(t.src)
					for _, line := range t.lines {
						p.Line(line)
					}
					p.Finish()
				}
			}
		})
	}
}
