package search

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sessdex/session"
)

func TestTurnsSurviveStorage(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 3*pieceBytes), func(n int) string {
		return strings.Repeat("wörter und so\n", n/14)
	}))
	rapid.Check(t, func(t *rapid.T) {
		turn := session.Turn{
			N: rapid.IntRange(1, 1<<20).Draw(t, "n"), Role: session.Tool, Ref: "r", Branch: "b",
			Text: text.Draw(t, "text"), Thinking: text.Draw(t, "thinking"),
			Tool: "Bash", Input: text.Draw(t, "input"), Output: text.Draw(t, "output"),
			Failed: rapid.Bool().Draw(t, "failed"), Undone: rapid.Bool().Draw(t, "undone"),
			Edits: []string{"a.go", "b c.go"}, Reads: []string{"x"},
		}
		if rapid.Bool().Draw(t, "timed") {
			turn.Time = time.Unix(rapid.Int64Range(-1<<31, 1<<32).Draw(t, "s"), 5).UTC()
		}
		var stored []byte
		if err := pieces(turn, func(p piece) error {
			if n := size(&p.Turn); n > pieceBytes {
				t.Fatalf("a piece of %d bytes", n)
			}
			for _, s := range texts(&p.Turn) {
				if !utf8.ValidString(*s) {
					t.Fatal("a rune was cut")
				}
			}
			stored = appendPiece(stored, p)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var got joiner
		if err := decodeBlock(blockEncoder.EncodeAll(stored, nil), func(p piece) bool {
			got.add(p)
			return true
		}); err != nil {
			t.Fatal(err)
		}
		got.close()
		if d := cmp.Diff([]session.Turn{turn}, got.turns); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	f.Add(appendPiece(nil, piece{Turn: session.Turn{N: 3, Role: session.User, Text: "hello", Edits: []string{"a"}}, K: 1}))
	f.Add([]byte{1, 2, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		decodeBlock(raw, func(piece) bool { return true })
		d := decoder{b: string(raw)}
		for len(d.b) > 0 && !d.bad {
			d.piece()
		}
		parsePlaces(raw)
		parseRow(raw)
	})
}

func TestPieceID(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want string
	}{{1, 0, "abc/1"}, {12, 3, "abc/12.3"}} {
		got := pieceID("abc", c.n, c.k)
		id, at := parsePieceID(got)
		if got != c.want || id != "abc" || at != (place{c.n, c.k}) {
			t.Errorf("%v: %s, back %s %v", c, got, id, at)
		}
	}
}
