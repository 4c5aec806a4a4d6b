package scrub

import (
	"bytes"
	"regexp"
)

// Rules that know a secret by what stands around it: no two passwords look the
// same, but "password=" and "://user:…@" do.

// findURLPassword is called for "://" and masks the password of the user part.
func findURLPassword(s *scan, r *rule, start, end int) {
	t := s.t
	colon, at := -1, -1
	for i := end; i < len(t) && i < end+512; i++ {
		switch c := t[i]; {
		case c == '@':
			at = i
		case c == ':' && colon < 0:
			colon = i
		case c == '/' || c == '?' || c == '#':
			// Passwords with these in them exist, but an "@" after a slash is
			// far more often part of a path.
			i = len(t)
		case c <= ' ' || isQuote(c) || c == '<' || c == '>' || c == ',' || c == ')' || c == ']' && at > 0:
			i = len(t)
		}
	}
	if colon < 0 || at <= colon+1 || at+1 >= len(t) || !isWord(t[at+1]) && t[at+1] != '[' && t[at+1] != '$' && t[at+1] != '{' {
		return
	}
	secret := t[colon+1 : at]
	if !isPlaceholder(secret) && !isPasswordWord(secret) && !bytes.Equal(secret, t[end:colon]) {
		s.add(r, colon+1, at)
	}
}

// passwordName is what the name in front of a password ends in.
var passwordName = regexp.MustCompile(`(?i)(?:pass(?:word|wd|phrase|wort)?|pwd|[a-z_.-]secret|^secret|mysql_pwd|pgpassword)[_.-]?(?:value|\d{0,2})$`)

// findPassword is called for the words that name passwords and masks the value
// assigned to them. Its entropy says nothing; its shape says whether it is a
// value at all or code.
func findPassword(s *scan, r *rule, start, end int) {
	t := s.t
	if v := s.flagValue(start, end); v.lo >= 0 {
		if s.first(r, v.lo) && literalValue(t[v.lo:v.hi]) {
			s.add(r, v.lo, v.hi)
		}
		return
	}
	v := s.assignment(start, end)
	if v.lo < 0 || !tight(t, v) || !passwordName.Match(t[v.name:v.nameEnd]) || !s.first(r, v.lo) {
		return
	}
	if t[v.op] == ':' && v.quote == 0 && bytes.EqualFold(t[v.name:v.nameEnd], []byte("pass")) {
		return // the verdict of a test
	}
	hi := v.lo
	switch {
	case v.quote != 0 && t[v.lo-1] == v.quote:
		for hi < len(t) && hi-v.lo <= 128 && t[hi] != v.quote && t[hi] != '\n' {
			hi++
		}
		if hi == len(t) || t[hi] != v.quote || !quotedValue(t[v.lo:hi]) {
			return
		}
	case t[v.op] == '>':
		for hi < len(t) && hi-v.lo <= 128 && t[hi] != '<' && t[hi] > ' ' {
			hi++
		}
		if hi == len(t) || t[hi] != '<' || !quotedValue(t[v.lo:hi]) {
			return
		}
	default:
		for hi < len(t) && hi-v.lo <= 128 && t[hi] > ' ' && !isQuote(t[hi]) &&
			bytes.IndexByte([]byte(",;()[]{}<>|"), t[hi]) < 0 {
			hi++
		}
		if hi < len(t) && bytes.IndexByte([]byte("([{"), t[hi]) >= 0 || !literalValue(t[v.lo:hi]) {
			return
		}
	}
	s.add(r, v.lo, hi)
}

// tight reports whether an assignment is one on a single line, with nothing but
// blanks and the name's closing quote before the operator.
func tight(t []byte, v assignment) bool {
	if t[v.op] == ',' || t[v.op] == '|' || t[v.op] == '?' || v.op-v.nameEnd > 3 {
		return false
	}
	for _, c := range t[v.nameEnd:v.op] {
		if c != ' ' && c != '\t' && c != '"' && c != '\'' {
			return false
		}
	}
	return bytes.IndexByte(t[v.op:v.lo], '\n') < 0
}

// flagValue reads "--password VALUE", which has no operator. lo is -1 for none.
func (s *scan) flagValue(start, end int) assignment {
	t, v := s.t, assignment{lo: -1}
	name := start
	for name > 0 && start-name < 24 && (isWord(t[name-1]) || t[name-1] == '-') {
		name--
	}
	for end < len(t) && isName(t[end]) {
		end++
	}
	if !bytes.HasPrefix(t[name:], []byte("--")) || end+1 >= len(t) || t[end] != ' ' {
		return v
	}
	i := end + 1
	if isQuote(t[i]) {
		i++
	}
	hi := i
	for hi < len(t) && hi-i <= 128 && t[hi] > ' ' && !isQuote(t[hi]) {
		hi++
	}
	if i < len(t) && (t[i] == '-' || hi == i) {
		return v
	}
	v.lo, v.hi = i, hi
	return v
}

// quotedValue reports whether the text between quotes after a password's name
// is a password, and not a message, a type, a reference or a stand-in.
func quotedValue(b []byte) bool {
	return len(b) >= 5 && has(b, unlikeWord) && !has(b, isSpace) && !isPlaceholder(b)
}

// unlikeWord reports whether c sets a password apart from a word.
func unlikeWord(c byte) bool {
	return isDigit(c) || c == '!' || c == '@' || c == '#' || c == '%' || c == '*'
}

var (
	reference = regexp.MustCompile(`^(?:[A-Za-z_]\w*(?:\.|->|::))+[A-Za-z_]\w*$`)
	number    = regexp.MustCompile(`^[\d.,:_-]+$`)
)

// literalValue is quotedValue for values without quotes, which in code are
// mostly names.
func literalValue(b []byte) bool {
	if len(b) < 6 || b[0] == '/' || b[0] == '.' || b[0] == '~' || b[0] == '$' || b[0] == '%' {
		return false
	}
	return has(b, isLetter) && quotedValue(b) && !reference.Match(b) && !number.Match(b)
}

var placeholder = regexp.MustCompile(`(?i)\$\{|\{\{|\$\(|%\(|%[sdv]|^[<{%$].*[>}%]?$|^\$[A-Z_]|\*\*\*|xxx|\.\.\.|redacted|example|placeholder|your[-_]|change[-_]?me|process\.env|os\.environ|getenv|secrets\.|<[a-z_-]+>`)

// isPlaceholder reports whether b stands in for a secret.
func isPlaceholder(b []byte) bool {
	if placeholder.Match(b) {
		return true
	}
	for _, c := range b[1:] {
		if c != b[0] {
			return false
		}
	}
	return true
}

// isPasswordWord reports whether b only says "password".
func isPasswordWord(b []byte) bool {
	switch string(bytes.ToLower(b)) {
	case "password", "pass", "passwd", "pwd", "secret", "pw":
		return true
	}
	return false
}
