// Package scrub takes secrets out of bytes before anything else sees them.
//
// A [Scrubber] holds the compiled rules and may be shared. A [Pass] is the
// scrubbing of one transcript: it remembers what it found, counts by rule, and
// belongs to one goroutine. The only way to make a [Scrubbed] is through one, and a
// [Scrubbed] is the only thing that the library stores.
//
// A secret is replaced by a mark that names the rule and tells equal secrets
// apart from different ones, [REDACTED:github-pat:3fa2c1]. Scrubbing twice is
// scrubbing once, JSON stays JSON, and a line without a finding comes back as
// the same bytes.
//
// The rules are those of gitleaks and a table of our own ([Scrubber.Rules] is
// their version). All of them hang off one scan for keywords, so that the cost
// of a transcript is that scan plus a little work around each keyword; what is
// no secret costs about the same whether there are ten rules or a thousand.
//
// What it does not see: a secret split over two lines of a transcript, one
// that is encoded in base64, compressed or encrypted, and one without a known
// prefix and without any context there or in an earlier line.
package scrub

import (
	"bytes"
	"sync"
)

// Scrubbed is bytes that have been through a Pass. The zero value is empty.
type Scrubbed struct{ b []byte }

// Bytes returns the clean bytes. They must not be changed.
func (s Scrubbed) Bytes() []byte { return s.b }

// Len is their number.
func (s Scrubbed) Len() int { return len(s.b) }

// A Scrubber is a set of rules and a key. It is safe for concurrent use.
type Scrubber struct{ key []byte }

// An Option changes how New makes a Scrubber.
type Option func(*Scrubber)

// WithKey sets the key of the hashes in marks; a library gives its own. Without
// it the key is a constant, and someone who holds a mark can test a guess at a
// weak password against its 24 bits.
func WithKey(key []byte) Option {
	return func(s *Scrubber) { s.key = bytes.Clone(key) }
}

// New returns a scrubber with all rules. It costs next to nothing: the rules are
// made by the first [Scrubber.NewPass] of a process, which takes some milliseconds
// that a program with nothing to scrub does not have to wait for.
func New(options ...Option) *Scrubber {
	s := &Scrubber{key: []byte("sessdex: marks without a key")}
	for _, o := range options {
		o(s)
	}
	return s
}

// ruleSet is all rules and the automaton over their keywords.
type ruleSet struct {
	rules  []*rule
	words  *automaton
	byWord [][]*rule
}

// rules are the same in every process, so that they either can be made or never
// can, like an expression of regexp.MustCompile.
var rules = sync.OnceValue(func() *ruleSet {
	set, err := newRuleSet()
	if err != nil {
		panic("scrub: the built-in rules are not right: " + err.Error())
	}
	return set
})

func newRuleSet() (*ruleSet, error) {
	leaks, err := leaksRules()
	if err != nil {
		return nil, err
	}
	set := &ruleSet{}
	// Ours first: they say more exactly what was found. The generic one last.
	for _, r := range append(ourRules(), leaks...) {
		if err := r.prepare(); err != nil {
			return nil, err
		}
		r.index = len(set.rules)
		set.rules = append(set.rules, r)
	}
	ids, words := map[string]int{}, []string(nil)
	for _, r := range set.rules {
		for _, k := range r.keywords {
			id, ok := ids[k]
			if !ok {
				id = len(words)
				ids[k], words = id, append(words, k)
				set.byWord = append(set.byWord, nil)
			}
			set.byWord[id] = append(set.byWord[id], r)
		}
	}
	set.words = newAutomaton(words)
	return set, nil
}
