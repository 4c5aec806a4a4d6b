package scrub

import "bytes"

// A memory holds secrets that a pass has found, so that they are masked where
// nothing gives them away: a key that was read from a configuration file is
// typed as a bare argument ten lines on. What stood before the first find with
// context, in an earlier line, is out of its reach.
type memory struct {
	known []known
	have  map[string]bool
}

type known struct {
	secret []byte
	rule   *rule
}

// maxKnown bounds how many secrets are remembered: each costs every later line
// one search.
const maxKnown = 64

// keep remembers a secret, unless the same bytes may well be something else: a
// word, a number, a hash that a rule took for a key.
func (m *memory) keep(r *rule, secret []byte) {
	if len(m.known) == maxKnown || len(secret) > 512 || m.have[string(secret)] ||
		!strong(secret, 12) || has(secret, isSpace) || isHash(secret) {
		return
	}
	if m.have == nil {
		m.have = map[string]bool{}
	}
	m.have[string(secret)] = true
	m.known = append(m.known, known{bytes.Clone(secret), r})
}

// find calls found with the bounds of all that is remembered and stands in t.
func (m *memory) find(t []byte, found func(r *rule, lo, hi int)) {
	for _, k := range m.known {
		for at := 0; ; {
			i := bytes.Index(t[at:], k.secret)
			if i < 0 {
				break
			}
			found(k.rule, at+i, at+i+len(k.secret))
			at += i + len(k.secret)
		}
	}
}

// isHash reports whether b has the form of an MD5, SHA-1 or SHA-256 in hex.
func isHash(b []byte) bool {
	return (len(b) == 32 || len(b) == 40 || len(b) == 64) &&
		!has(b, func(c byte) bool { return !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') })
}
