package contextpack

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sessdex/harness"
	"sessdex/session"
)

// corpus calls use for each session of the folder SESSDEX_CORPUS that a parser
// of package harness reads.
func corpus(t *testing.T, use func(path string, r *recorded)) {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real sessions")
	}
	if len(harness.All) == 0 {
		t.Skip("no harness is known yet")
	}
	sessions := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := harness.FileSource(path)
		if err != nil {
			return nil
		}
		h, err := harness.Identify(src)
		if err != nil {
			return nil
		}
		r, err := src.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		parser := h.New(src)
		for line, err := range harness.Lines(r) {
			if err == nil {
				parser.Line(line)
			}
		}
		meta, seq := parser.Finish()
		turns := slices.Collect(seq)
		if len(turns) == 0 {
			return nil
		}
		sessions++
		rec := &recorded{turns: turns, card: &session.Card{ID: "0123456789ab", Version: "0123456789ab", Owner: "ann", Meta: meta}}
		use(path, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if sessions == 0 {
		t.Fatalf("no session in %s could be read", root)
	}
	t.Logf("%d sessions", sessions)
}

func TestCorpusPacks(t *testing.T) {
	var took, full []time.Duration
	var slowest time.Duration
	corpus(t, func(path string, r *recorded) {
		for _, enc := range Encodings {
			for _, budget := range []int{500, 2000, 8000, MaxTokens} {
				for _, opts := range []Options{{}, {ToolCalls: true}, {Around: (len(r.turns) + 1) / 2}} {
					opts.MaxTokens, opts.Encoding = budget, enc
					start := time.Now()
					p := r.pack(t, opts)
					spent := time.Since(start)
					if budget == 8000 {
						took = append(took, spent)
					}
					if budget == 8000 && p.Next != "" {
						full = append(full, spent)
					}
					if budget == MaxTokens && spent > slowest {
						slowest = spent
					}
					want := p.Tokens
					if budget < MaxTokens || opts.ToolCalls { // counting takes longer than packing
						want = referenceCount(enc, p.Text)
					}
					if p.Tokens != want || p.Tokens > budget || p.Next != "" && p.Tokens < budget*9/10 {
						t.Errorf("%s %+v: %d tokens, tiktoken-go %d; next %q", path, opts, p.Tokens, want, p.Next)
					}
					checkFrame(t, p)
				}
			}
		}
	})
	slices.Sort(took)
	slices.Sort(full)
	t.Logf("8,000 tokens: p50 %v, p95 %v; of those that are full: p50 %v, p95 %v; 100,000 tokens: at most %v",
		took[len(took)/2], took[len(took)*95/100], full[len(full)/2], full[len(full)*95/100], slowest)
}

// The law that packing is built on: what ends in a newline and what begins with
// neither white space nor "/" count on their own.
func TestCorpusCountsAddUp(t *testing.T) {
	corpus(t, func(path string, r *recorded) {
		last := ""
		for _, turn := range r.turns[:min(len(r.turns), 60)] {
			for _, text := range []string{turn.Text, turn.Output} {
				text = strings.ToValidUTF8(text[:min(len(text), 2000)], "\ufffd")
				next := strings.TrimLeft(text, "/ \t\r\n\v\f\u00a0\u0085\u2028\u3000")
				for _, enc := range Encodings {
					a, b := referenceCount(enc, last+"\n"), referenceCount(enc, next)
					if sum := referenceCount(enc, last+"\n"+next); sum != a+b {
						t.Errorf("%s turn %d: %d + %d tokens are %d together in %s", path, turn.N, a, b, sum, enc)
					}
				}
				last = text
			}
		}
	})
}
