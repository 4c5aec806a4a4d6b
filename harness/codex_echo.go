package harness

import (
	"hash/maphash"
	"strings"
)

// codexSource is one of the two streams that a rollout interleaves.
type codexSource uint8

const (
	codexItem  codexSource = iota // response items, for the model
	codexEvent                    // events and finished items, for the screen
)

// codexVoice keeps what different speakers say apart.
type codexVoice uint8

const (
	codexUser codexVoice = iota
	codexModel
	codexThought
	codexSearch
)

// codexEchoes tells what is said anew from the echo of the other stream. The
// streams agree on what was said and how often, but not always on the order, and
// either may be missing from a version, a fork or a torn file. So words are new
// when one stream has said them more often than they were taken so far.
type codexEchoes struct {
	seed  maphash.Seed
	heard map[codexEcho]*codexHeard
}

type codexEcho struct {
	voice codexVoice
	hash  uint64
}

type codexHeard struct {
	by    [2]int
	taken int
}

// fresh counts words heard from a stream and reports whether they are new, with a
// hash of them that leaves out white space.
func (e *codexEchoes) fresh(v codexVoice, s codexSource, words string) (uint64, bool) {
	if e.heard == nil {
		e.heard, e.seed = map[codexEcho]*codexHeard{}, maphash.MakeSeed()
	}
	var h maphash.Hash
	h.SetSeed(e.seed)
	for f := range strings.FieldsSeq(words) {
		h.WriteString(f)
	}
	key := codexEcho{v, h.Sum64()}
	x := e.heard[key]
	if x == nil {
		x = &codexHeard{}
		e.heard[key] = x
	}
	if x.by[s]++; x.by[s] <= x.taken {
		return key.hash, false
	}
	x.taken = x.by[s]
	return key.hash, true
}
