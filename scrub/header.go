package scrub

import (
	"bytes"
	"encoding/base64"
	"regexp"
)

// Credentials on the wire and on command lines: HTTP headers, as they are sent
// and as curl is told them, and the user that curl logs in as.

// findBearer is called for "bearer" and masks the token after it.
func findBearer(s *scan, r *rule, start, end int) {
	if lo, hi := s.credential(end); lo >= 0 && strong(s.t[lo:hi], 16) {
		s.add(r, lo, hi)
	}
}

// findBasic is called for "basic" and masks base64 that decodes to user:password.
func findBasic(s *scan, r *rule, start, end int) {
	lo, hi := s.credential(end)
	if lo < 0 || hi-lo < 8 || hi-lo > 1024 {
		return
	}
	enc := base64.StdEncoding
	if s.t[hi-1] != '=' {
		enc = base64.RawStdEncoding
	}
	plain, err := enc.DecodeString(string(s.t[lo:hi]))
	if err != nil || bytes.IndexByte(plain, ':') < 0 || has(plain, func(c byte) bool { return c < ' ' || c == 0x7f }) {
		return
	}
	s.add(r, lo, hi)
}

// findAuthorization is called for "authorization" and masks a token without a
// scheme, or behind a scheme that has no rule of its own.
func findAuthorization(s *scan, r *rule, start, end int) {
	v := s.assignment(start, end)
	if v.lo < 0 || s.t[v.op] != ':' && s.t[v.op] != '=' {
		return
	}
	lo, hi := v.lo, v.hi
	if hi < len(s.t) && s.t[hi] == ' ' && hi-lo <= 16 {
		if lo, hi = s.credential(hi); lo < 0 {
			return
		}
	}
	if strong(s.t[lo:hi], 16) {
		s.add(r, lo, hi)
	}
}

// credential returns the bounds of the token after blanks from i on; lo is -1
// if there is none.
func (s *scan) credential(i int) (lo, hi int) {
	t := s.t
	lo = i
	for lo < len(t) && lo-i < 4 && (t[lo] == ' ' || t[lo] == '\t') {
		lo++
	}
	if lo == i {
		return -1, -1
	}
	hi = lo
	for hi < len(t) && hi-lo <= maxToken && (isName(t[hi]) || isBase64(t[hi]) || t[hi] == '~' || t[hi] == ':') {
		hi++
	}
	if hi == lo || hi-lo > maxToken {
		return -1, -1
	}
	return lo, hi
}

// strong reports whether b has the length and mixture of a random token.
func strong(b []byte, least int) bool {
	return len(b) >= least && has(b, isDigit) && has(b, isLetter) && entropy(b) > 3 &&
		!isPlaceholder(b) && !isUUID(b) && !reference.Match(b)
}

// maxCookies bounds how far a cookie header is read.
const maxCookies = 4 << 10

// findCookie is called for "cookie:" and masks the strong values of the pairs
// that follow on the line.
func findCookie(s *scan, r *rule, start, end int) {
	t := s.t
	for i, limit := end, min(len(t), end+maxCookies); i < limit; {
		for i < limit && (t[i] == ' ' || t[i] == ';' || t[i] == '"') {
			i++
		}
		name := i
		for i < limit && isName(t[i]) {
			i++
		}
		if i == name || i == limit || t[i] != '=' {
			return
		}
		lo := i + 1
		for i = lo; i < limit && t[i] > ' ' && t[i] != ';' && !isQuote(t[i]); i++ {
		}
		if strong(t[lo:i], 16) {
			s.add(r, lo, i)
		}
		if i < limit && t[i] != ';' {
			return
		}
	}
}

// secretHeader is what the names of headers that carry credentials end in.
var secretHeader = regexp.MustCompile(`(?i)(?:token|key|auth|authorization|secret|session|password|jwt)$`)

// maxFlag bounds the argument of a command line flag.
const maxFlag = 1024

// findHeaderFlag is called for curl's "-H " and "--header" and masks the value
// of a header that carries a credential, whatever it looks like.
func findHeaderFlag(s *scan, r *rule, start, end int) {
	lo, hi := s.argument(end)
	if lo < 0 {
		return
	}
	name, _, ok := bytes.Cut(s.t[lo:hi], []byte(":"))
	if !ok || !secretHeader.Match(name) {
		return
	}
	lo += len(name) + 1
	for lo < hi && s.t[lo] == ' ' {
		lo++
	}
	if scheme := bytes.IndexByte(s.t[lo:hi], ' '); scheme > 0 && scheme <= 16 {
		lo += scheme + 1
	}
	if v := s.t[lo:hi]; len(v) >= 8 && has(v, isDigit) && !has(v, isSpace) && !isPlaceholder(v) {
		s.add(r, lo, hi)
	}
}

// findCurlUser is called for "-u" and "--user" and masks the password that
// follows the user's name, or the name where a token stands in for both.
func findCurlUser(s *scan, r *rule, start, end int) {
	if !isSpace(s.t[max(0, start-1)]) || !bytes.Contains(s.t[max(0, start-maxFlag):start], []byte("curl")) {
		return
	}
	lo, hi := s.argument(end)
	if lo < 0 {
		return
	}
	user, password, ok := bytes.Cut(s.t[lo:hi], []byte(":"))
	switch {
	case !ok || isPlaceholder(s.t[lo:hi]):
	case len(password) >= 3 && !isPlaceholder(password) && !isPasswordWord(password):
		s.add(r, lo+len(user)+1, hi)
	case len(password) == 0 && len(user) >= 8 && has(user, isDigit) && !isPlaceholder(user):
		s.add(r, lo, lo+len(user))
	}
}

// argument returns the bounds of a shell word, without the quotes around it,
// that follows a flag ending at i; lo is -1 if there is none.
func (s *scan) argument(i int) (lo, hi int) {
	t := s.t
	for from := i; i < len(t) && i-from < 4 && (t[i] == ' ' || t[i] == '='); i++ {
	}
	if i == len(t) {
		return -1, -1
	}
	quote := byte(0)
	lo, hi = i, i
	if isQuote(t[i]) {
		quote = t[i]
		lo, hi = i+1, i+1
	}
	for ; hi < len(t) && hi-lo < maxFlag && t[hi] != '\n'; hi++ {
		if quote != 0 && t[hi] == quote || quote == 0 && t[hi] <= ' ' {
			break
		}
	}
	if quote != 0 && (hi == len(t) || t[hi] != quote) || hi-lo == maxFlag {
		return -1, -1
	}
	if quote != 0 && hi+2 < len(t) && t[hi+1] == ':' { // "user":"password"
		rest, end := s.argument(hi + 2)
		if rest >= 0 {
			return lo, end
		}
	}
	for hi > lo && isQuote(t[hi-1]) { // user:"password"
		hi--
	}
	return lo, hi
}
