package scrub

import "bytes"

// pem finds private keys between their BEGIN and END lines, also when the END
// was cut off, and PuTTY's. Only the body is masked: that a key stood here is
// worth knowing.

const maxPEM = 64 << 10

var (
	fence    = []byte("-----")
	pemBegin = []byte("-----BEGIN")
)

// findPEM is called for "private key" and looks for the header that it is in.
func findPEM(s *scan, r *rule, start, end int) {
	t := s.t
	head := bytes.LastIndex(t[max(0, start-110):start], pemBegin)
	if head < 0 || end-start > 0 && bytes.ContainsAny(t[max(0, start-110)+head:start], "\n\"") {
		return
	}
	after := bytes.Index(t[end:min(len(t), end+16)], fence)
	if after < 0 {
		return
	}
	lo := end + after + len(fence)
	if !s.first(r, lo) {
		return
	}
	limit := min(len(t), lo+maxPEM)
	if next := bytes.Index(t[lo:limit], fence); next >= 0 {
		if hi := lo + next; bytes.HasPrefix(t[hi:], []byte("-----END")) {
			if key := longestRun(t[lo:hi]); key >= 16 {
				s.add(r, lo, hi)
			}
			return
		}
		limit = lo + next
	}
	s.add(r, lo, keyLines(t, lo, limit)) // the end was cut off
}

// findPuTTY is called for "private-lines:" and masks the lines that follow.
func findPuTTY(s *scan, r *rule, start, end int) {
	lo := end
	for lo < len(s.t) && (s.t[lo] == ' ' || isDigit(s.t[lo])) {
		lo++
	}
	s.add(r, lo, keyLines(s.t, lo, min(len(s.t), lo+maxPEM)))
}

// keyLines returns where the lines of base64 from lo on end: lo if there are
// none of the length that keys have.
func keyLines(t []byte, lo, limit int) int {
	last := lo
	for i := lo; i < limit; {
		for i < limit && !isBase64(t[i]) {
			if c := t[i]; !isSpace(c) && c != '"' && c != '\'' && c != ',' && c != '\\' && c != '+' {
				return last
			}
			i++
		}
		from := i
		for i < limit && isBase64(t[i]) {
			i++
		}
		if i-from < 16 && last == lo || i-from < 4 {
			return last
		}
		if i < limit && !isSpace(t[i]) && t[i] != '"' && t[i] != '\'' && t[i] != '\\' {
			return last
		}
		last = i
		if i-from < 16 {
			return last // a short line is the last
		}
	}
	return last
}

// longestRun is the length of the longest run of base64 in b.
func longestRun(b []byte) int {
	longest, run := 0, 0
	for _, c := range b {
		if isBase64(c) {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

func isBase64(c byte) bool { return isDigit(c) || isLetter(c) || c == '+' || c == '/' || c == '=' }
