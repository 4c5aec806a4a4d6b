package scrub

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// corpus returns the transcripts below $SESSDEX_CORPUS, line by line.
func corpus(tb testing.TB) (lines [][]byte, size int) {
	tb.Helper()
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		tb.Skip("SESSDEX_CORPUS names no folder of transcripts")
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var b []byte
		switch filepath.Ext(path) {
		case ".json", ".jsonl":
			b, err = os.ReadFile(path)
		case ".zst":
			if b, err = os.ReadFile(path); err == nil {
				dec, _ := zstd.NewReader(nil)
				b, err = dec.DecodeAll(b, nil)
			}
		}
		size += len(b)
		for line := range bytes.Lines(b) {
			lines = append(lines, line)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return lines, size
}

func BenchmarkCorpus(b *testing.B) {
	lines, size := corpus(b)
	s, _ := newPass(b)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		p := s.NewPass()
		for _, l := range lines {
			p.Line(l)
		}
	}
}

// TestCorpus scrubs real transcripts: JSON stays JSON, a second pass finds
// nothing, the budget of work is never nearly spent, and masks are rare.
func TestCorpus(t *testing.T) {
	lines, size := corpus(t)
	s, p := newPass(t)
	again := s.NewPass()
	changed := 0
	for _, l := range lines {
		out := p.Line(l).Bytes()
		if p.scan.budget < work(len(l))/2 {
			t.Errorf("a line of %d bytes left %d of its work", len(l), p.scan.budget)
		}
		if bytes.Equal(out, l) {
			continue
		}
		changed++
		if json.Valid(l) && !json.Valid(out) {
			t.Errorf("a line of %d bytes is no JSON any more", len(l))
		}
		if twice := again.Line(out).Bytes(); !bytes.Equal(twice, out) {
			t.Errorf("a line of %d bytes changes again", len(l))
		}
	}
	masks := 0
	for _, n := range p.Counts() {
		masks += n
	}
	t.Logf("%d MB, %d lines, %d changed, masks %v", size/1e6, len(lines), changed, p.Counts())
	if perMB := float64(masks) / (float64(size) / 1e6); perMB > 1 {
		t.Errorf("%.1f masks a MB: too many of them are no secrets", perMB)
	}
}
