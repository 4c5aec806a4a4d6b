package harness

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"sessdex/session"
)

// FuzzOthers holds these parsers to what they promise of any bytes: no panic, counts
// that agree with the turns, numbers without gaps, text that is valid.
func FuzzOthers(f *testing.F) {
	for i, o := range others {
		for _, data := range goldenFiles(f, o.dir) {
			f.Add(i, data)
		}
	}
	f.Add(6, []byte(`[[{"role":"user","content":[[["x"]]]}]]`))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		h := others[uint(which)%uint(len(others))].harness
		p := h.New(Source{Path: "/home/x/projects/p-q/agent-transcripts/a/a.jsonl"})
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
			for _, s := range []string{turn.Text, turn.Thinking, turn.Tool, turn.Input, turn.Output, turn.Ref} {
				if !utf8.ValidString(s) {
					t.Fatalf("turn %d holds invalid UTF-8: %q", n, s)
				}
			}
			if turn.Words() && turn.Text == "" && turn.Thinking == "" {
				t.Fatalf("turn %d says nothing", n)
			}
			if turn.Failed && len(turn.Edits) > 0 {
				t.Fatalf("turn %d failed and edited %v", n, turn.Edits)
			}
		}
		if counts != meta.Turns || meta.Harness != h.Name {
			t.Fatalf("counted %+v, meta says %+v of %s", counts, meta.Turns, meta.Harness)
		}
		for _, s := range []string{meta.NativeID, meta.Title, meta.Opening, meta.Parent, meta.Dir} {
			if !utf8.ValidString(s) {
				t.Fatalf("facts hold invalid UTF-8: %q", s)
			}
		}
	})
}
