package scrub

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// A mark stands where a secret stood: [REDACTED:rule:hhhhhh]. The six hex digits
// are the head of a keyed hash of the secret, so that the same secret has the
// same mark throughout a library, and no one without the key can try guesses.

var markHead = []byte("[REDACTED:")

var markExpr = regexp.MustCompile(`\[REDACTED:[a-z0-9-]{1,64}:[0-9a-f]{6}\]`)

func (s *Scrubber) mark(r *rule, secret []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(secret)
	out := append(bytes.Clone(markHead), r.id...)
	out = append(out, ':')
	out = hex.AppendEncode(out, h.Sum(nil)[:3])
	return append(out, ']')
}

// shortest is the length of the shortest piece of a finding beside a mark that
// is masked by itself.
const shortest = 6

// withoutMarks takes marks, which are never masked again, out of spans, which
// are sorted and apart. A span of which only scraps remain is dropped.
func withoutMarks(t []byte, spans []span) []span {
	if !bytes.Contains(t, markHead) {
		return spans
	}
	var out []span
	marks := markExpr.FindAllIndex(t, -1)
	for _, f := range spans {
		for len(marks) > 0 && marks[0][1] <= f.lo {
			marks = marks[1:]
		}
		if len(marks) == 0 || marks[0][0] >= f.hi {
			out = append(out, f)
			continue
		}
		lo := f.lo
		for _, m := range marks {
			if m[0] >= f.hi {
				break
			}
			out = appendPiece(out, t, span{lo: lo, hi: m[0], rule: f.rule})
			lo = m[1]
		}
		out = appendPiece(out, t, span{lo: lo, hi: f.hi, rule: f.rule})
	}
	return out
}

func appendPiece(out []span, t []byte, f span) []span {
	for f.lo < f.hi && delimiter[t[f.lo]] {
		f.lo++
	}
	for f.lo < f.hi && delimiter[t[f.hi-1]] {
		f.hi--
	}
	if f.hi-f.lo < shortest {
		return out
	}
	return append(out, f)
}
