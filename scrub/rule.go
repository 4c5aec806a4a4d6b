package scrub

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// A rule finds one kind of secret. Nothing of it runs before one of its
// keywords was seen, and then only over a window around that keyword.
type rule struct {
	id       string
	keywords []string // lower case; any of them wakes the rule

	// A rule is either an expression, looked for in a window of its shape …
	expr    string
	shape   shape
	group   int       // the capture that is the secret; 0: the first that matched, or all
	entropy float64   // bits a byte that the secret must exceed; 0: any
	allow   []allowed // what is no secret although it matches
	// … or a function, called for each keyword at t[start:end].
	find func(s *scan, r *rule, start, end int)

	index   int // rank: lower wins where findings overlap
	re      func() *regexp.Regexp
	literal []byte // each match holds it; nil if unknown
	minLen  int    // bytes of the shortest match
	reach   int    // bytes of the longest match, capped at maxReach
	cost    int    // of letting the expression read a byte; see work
}

// shape is the window in which a rule's expression is looked for.
type shape uint8

const (
	// token: the run of bytes without a delimiter that holds the keyword.
	token shape = iota
	// assign: keyword, the rest of a name, an operator, quotes, then the value.
	// The window is the name to the end of the value.
	assign
	// near: as far as the longest match reaches to both sides of the keyword.
	near
)

const maxReach = 1024

// delimiter marks the bytes that end a token: a secret of the usual alphabets
// holds none of them, and expressions may take the end of the window for the
// end of the secret.
var delimiter = func() (set [256]bool) {
	for c := range set {
		set[c] = c <= ' ' || c >= 0x7f || strings.IndexByte("\"'`;,()<>{}[]|&*^!$\\#?", byte(c)) >= 0
	}
	return set
}()

// prepare checks a rule and derives what its expression says about its matches.
// The expression itself is compiled when first needed: most never are.
func (r *rule) prepare() error {
	if r.find != nil {
		return nil
	}
	tree, err := syntax.Parse(r.expr, syntax.Perl)
	if err != nil {
		return fmt.Errorf("read expression of rule %s: %w", r.id, err)
	}
	if tree.MaxCap() < r.group {
		return fmt.Errorf("read rule %s: no group %d", r.id, r.group)
	}
	r.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.expr) })
	r.cost = 1 + len(r.expr)/128
	minLen, maxLen := matchLen(tree)
	r.minLen, r.reach = minLen, min(maxLen, maxReach)
	r.literal = leadingLiteral(tree)
	return nil
}

// matchLen returns the shortest and longest match of an expression in bytes,
// taking a rune class for one byte; both stop growing at 1<<20.
func matchLen(re *syntax.Regexp) (lo, hi int) {
	const limit = 1 << 20
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune)), len(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			l, h := matchLen(sub)
			lo, hi = lo+l, hi+h
		}
	case syntax.OpAlternate:
		lo = limit
		for _, sub := range re.Sub {
			l, h := matchLen(sub)
			lo, hi = min(lo, l), max(hi, h)
		}
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		l, h := matchLen(re.Sub[0])
		from, to := 0, limit
		switch re.Op {
		case syntax.OpPlus:
			from = 1
		case syntax.OpQuest:
			to = 1
		case syntax.OpRepeat:
			from = re.Min
			if re.Max >= 0 {
				to = re.Max
			}
		}
		lo, hi = l*from, h*to
	}
	return min(lo, limit), min(hi, limit)
}

// leadingLiteral returns text that every match starts with, give or take
// assertions; nil where case is folded or an alternative comes first.
func leadingLiteral(re *syntax.Regexp) []byte {
	for {
		switch re.Op {
		case syntax.OpCapture:
			re = re.Sub[0]
			continue
		case syntax.OpConcat:
			i := 0
			for i < len(re.Sub)-1 && re.Sub[i].Op == syntax.OpWordBoundary {
				i++
			}
			re = re.Sub[i]
			continue
		case syntax.OpLiteral:
			if re.Flags&syntax.FoldCase == 0 {
				return []byte(string(re.Rune))
			}
		}
		return nil
	}
}

// consumesDelimiter reports whether a match may hold a delimiter, so that a
// token is too small a window.
func consumesDelimiter(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			if c > 0xff || delimiter[c] {
				return true
			}
		}
	case syntax.OpCharClass:
		for c, is := range delimiter[:0x80] {
			if !is {
				continue
			}
			for i := 0; i < len(re.Rune); i += 2 {
				if re.Rune[i] <= rune(c) && rune(c) <= re.Rune[i+1] {
					return true
				}
			}
		}
	}
	for _, sub := range re.Sub {
		if consumesDelimiter(sub) {
			return true
		}
	}
	return false
}

// secret returns the bounds of the secret in a match's indices.
func (r *rule) secret(m []int) (lo, hi int) {
	if g := 2 * r.group; g > 0 {
		return m[g], m[g+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i+1] > m[i] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// accepts applies the rule's entropy and allow-lists to a secret in its match.
func (r *rule) accepts(match, secret []byte) bool {
	if r.entropy > 0 && entropy(secret) <= r.entropy {
		return false
	}
	for i := range r.allow {
		if r.allow[i].holds(match, secret) {
			return false
		}
	}
	return true
}

// allowed is one allow-list of a rule. Path, commit and line conditions do not
// exist here: a transcript must not be able to name itself out of scrubbing.
type allowed struct {
	all       bool // both conditions, not just one
	onMatch   bool // the expressions look at the match, not at the secret
	exprs     []func() *regexp.Regexp
	stopWords func() *automaton // nil: none
}

func (a *allowed) holds(match, secret []byte) bool {
	target := secret
	if a.onMatch {
		target = match
	}
	byExpr, byWord := false, a.stopWords != nil && a.stopWords().in(secret)
	for _, re := range a.exprs {
		if byExpr = re().Match(target); byExpr {
			break
		}
	}
	if a.all {
		return (byExpr || len(a.exprs) == 0) && (byWord || a.stopWords == nil)
	}
	return byExpr || byWord
}

// entropy is Shannon's, in bits a byte.
func entropy(b []byte) float64 {
	var count [256]int
	for _, c := range b {
		count[c]++
	}
	bits, n := 0.0, float64(len(b))
	for _, k := range count {
		if k > 0 {
			p := float64(k) / n
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// has reports whether b holds a byte for which is returns true.
func has(b []byte, is func(byte) bool) bool {
	return bytes.ContainsFunc(b, func(r rune) bool { return r < 0x80 && is(byte(r)) })
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isWord(c byte) bool   { return isDigit(c) || isLetter(c) || c == '_' }
func isName(c byte) bool   { return isWord(c) || c == '-' || c == '.' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
