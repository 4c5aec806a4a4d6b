package scrub

import "bytes"

// An assignment is a name that holds a keyword, an operator, and a value, in
// any of the spellings of source code, configuration and JSON: API_KEY=x,
// "apiKey": "x", api-key := 'x', <apiKey>x.
type assignment struct {
	keyword int // where the keyword that led here ends; -1: none
	name    int // where the name starts
	nameEnd int
	op      int  // where the operator is
	quote   byte // the quote in front of the value; 0: none
	lo, hi  int  // the value, up to the first delimiter; lo is -1: no assignment
}

// How much may stand around a keyword, no less than in gitleaks' expressions.
const (
	maxName  = 50 // name before the keyword
	maxAfter = 40 // rest of the name, blanks, quotes
	maxOpen  = 6  // quotes, blanks and "=" after the operator
)

// assignment reads what follows the keyword at t[start:end]. Rules that share a
// keyword share the reading.
func (s *scan) assignment(start, end int) assignment {
	if s.value.keyword != end {
		s.value = s.readAssignment(start, end)
	}
	return s.value
}

func (s *scan) readAssignment(start, end int) assignment {
	t := s.t
	v := assignment{keyword: end, lo: -1}
	i, limit := end, min(len(t), end+maxAfter)
	for i < limit && isName(t[i]) {
		i++
	}
	v.nameEnd = i
	for i < limit && (isName(t[i]) || isSpace(t[i]) || t[i] == '"' || t[i] == '\'') {
		i++
	}
	v.op = i
	switch rest := t[i:]; {
	case bytes.HasPrefix(rest, []byte(":::=")):
		i += 4
	case bytes.HasPrefix(rest, []byte("::=")):
		i += 3
	case bytes.HasPrefix(rest, []byte(":=")), bytes.HasPrefix(rest, []byte("=>")),
		bytes.HasPrefix(rest, []byte("?=")), bytes.HasPrefix(rest, []byte("||")):
		i += 2
	case len(rest) > 0 && (rest[0] == '=' || rest[0] == ':' || rest[0] == '>' || rest[0] == ','):
		i++
	default:
		return v
	}
	for n := 0; n < maxOpen && i < len(t) && (isSpace(t[i]) || t[i] == '=' || isQuote(t[i])); n++ {
		if isQuote(t[i]) {
			v.quote = t[i]
		}
		i++
	}
	v.name = start
	for v.name > 0 && start-v.name < maxName && isName(t[v.name-1]) {
		v.name--
	}
	v.lo, v.hi = i, s.runAt(i).hi
	if v.hi-i > maxToken {
		v.lo = -1 // a blob, not a value
	}
	return v
}

// plausible is what any value that the generic rule accepts fulfils, read off
// its entropy limit and allow-lists: cheap to test, and false for most code.
func plausible(t []byte, v assignment) bool {
	value := t[v.lo:v.hi]
	if len(value) < 10 || !has(value, isDigit) || !has(value, isLetter) {
		return false
	}
	if v.hi < len(t) && (t[v.hi] == '(' || t[v.hi] == '[' || t[v.hi] == '{') {
		return false // a call, an index, a literal
	}
	if t[v.op] == ',' && v.quote == 0 {
		return false // a list of names
	}
	if v.quote == 0 && bytes.IndexByte(t[v.op:v.lo], '\n') >= 0 {
		return false // the value is empty, and the next line another name
	}
	return !isUUID(value)
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// isUUID reports whether b is a UUID, with or without a short prefix and a
// separator ("agent-", "req_").
func isUUID(b []byte) bool {
	if len(b) < 36 || len(b) > 52 {
		return false
	}
	if n := len(b) - 36; n > 0 && isWord(b[n-1]) && b[n-1] != '_' {
		return false
	}
	for i, c := range b[len(b)-36:] {
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return false
			}
		}
	}
	return true
}
