package scrub

import (
	"bytes"
	"maps"
)

// A Pass scrubs one transcript. It belongs to one goroutine. It remembers the
// strongest of what it found, and masks that in later lines without context too.
type Pass struct {
	scrubber *Scrubber
	scan     scan
	flat     []byte // the flat text of the line at hand
	out      []byte // the line with marks
	spare    []byte
	counts   map[string]int
}

// keep is how much buffer a Pass holds on to between lines, so that one giant
// line does not stay in memory for the rest of a transcript.
const keep = 4 << 20

// maxRounds bounds how often a line with findings is looked at again for what
// only shows once its neighbour is masked. Two rounds do for all but texts
// made for it, which are masked as a whole.
const maxRounds = 16

// NewPass starts the scrubbing of one transcript.
func (s *Scrubber) NewPass() *Pass {
	set := rules()
	return &Pass{
		scrubber: s,
		scan: scan{
			rules: set.byWord, words: set.words,
			seen: make([]int, len(set.rules)),
			open: make([]window, len(set.rules)),
		},
		counts: map[string]int{},
	}
}

// Line scrubs one line of JSON: a record of a JSONL file, or one line of a
// document printed over several. Only what stands in string literals is masked.
// A name and its value are seen together ("password": "…"), but it is the value
// that is masked. Names, structure, numbers, and the bytes between literals
// stay as they are, so valid JSON stays valid; a torn or foreign line is masked
// wherever JSON could not hold the bytes anyway.
//
// The result aliases b if nothing was found, and otherwise holds until the next
// call of Line.
func (p *Pass) Line(b []byte) Scrubbed {
	return Scrubbed{b: p.run(b, true)}
}

// Text scrubs plain text: a title, a path, a branch, a tag.
func (p *Pass) Text(s string) string {
	in := []byte(s)
	out := p.run(in, false)
	if len(out) == len(in) && bytes.Equal(in, out) {
		return s
	}
	return string(out)
}

// Counts returns how many masks the pass has set so far, by rule id.
func (p *Pass) Counts() map[string]int { return maps.Clone(p.counts) }

func (p *Pass) run(b []byte, isJSON bool) []byte {
	in := b
	for round := 0; ; round++ {
		t := in
		if nextEscape(in, isJSON) >= 0 {
			p.flat = flatten(p.flat[:0], in, isJSON)
			t = p.flat
		}
		spans := p.scan.secrets(t)
		if len(spans) == 0 || round > maxRounds {
			break
		}
		if round == maxRounds {
			spans = withoutMarks(t, []span{{hi: len(t), rule: tooComplex}})
		}
		for i := range spans {
			f := &spans[i]
			f.mark = p.scrubber.mark(f.rule, t[f.lo:f.hi])
			p.scan.memory.keep(f.rule, t[f.lo:f.hi])
		}
		p.out = splice(p.out[:0], in, isJSON, spans)
		if bytes.Equal(p.out, in) {
			break // all of it outside of literals
		}
		for _, f := range spans {
			p.counts[f.rule.id] += f.marks
		}
		in, p.out, p.spare = p.out, p.spare, p.out
	}
	p.scan.release()
	if cap(p.flat) > keep {
		p.flat = nil
	}
	if cap(p.out) > keep {
		p.out = nil
	}
	if cap(p.spare) > keep {
		p.spare = nil
	}
	return in
}
