package contextpack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sessdex/session"
)

// maxRun is the length in bytes above which a run is broken up in which no piece of
// the encodings need end: they merge a piece in time that grows with its square.
const maxRun = 1000

// runBreak stands where a run was broken. A bare newline would not do: white space
// and slashes go on past it in the encodings' expressions.
const runBreak = "\n[unbroken run, goes on]\n"

// maskOpen begins every mark that the scrubber leaves: [REDACTED:rule:abcdef].
const (
	maskOpen = "[REDACTED:"
	maxMask  = 120
)

// clean makes quoted text safe to hand to an agent: nothing that session.Strip
// takes out, and no special tokens of chat templates. It says how many characters
// and sequences it took out or broke up.
func clean(s string) (string, int) {
	s, removed := session.Strip(s)
	var b strings.Builder
	copied := 0
	for i := 0; ; i += len("<|") {
		at := strings.Index(s[i:], "<|")
		if at < 0 {
			break
		}
		i += at
		if isSpecial(s[i+len("<|"):]) {
			b.WriteString(s[copied:i] + "<| ")
			copied = i + len("<|")
			removed++
		}
	}
	if copied == 0 {
		return s, removed
	}
	b.WriteString(s[copied:])
	return b.String(), removed
}

// oneLine is s, clean, on one line and cut to at most n runes, outside a mask.
func oneLine(s string, n int) string {
	s, _ = clean(s)
	s = session.OneLine(s, n)
	whole, cut := strings.CutSuffix(s, "…")
	if i := strings.LastIndexByte(whole, '['); cut && i >= 0 {
		if last := whole[i:]; strings.HasPrefix(maskOpen, last) || strings.HasPrefix(last, maskOpen) && !strings.Contains(last, "]") {
			return strings.TrimRight(whole[:i], " ") + "…"
		}
	}
	return s
}

// isSpecial reports whether s, which comes after "<|", goes on as a special token
// does, such as <|endoftext|>. A service that encodes special tokens would take one
// in a quoted text for its own; broken up it is text, and counts the same everywhere.
func isSpecial(s string) bool {
	const longest = 40
	name, _, ok := strings.Cut(s[:min(len(s), longest)], "|>")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// breakRuns puts runBreak into what is longer than maxRun without a place where
// it can be divided.
func breakRuns(s string) string {
	var b strings.Builder
	copied := 0
	for start := 0; len(s)-start > maxRun; {
		end := runeStart(s, start+maxRun)
		if at := lastBreak(s, start, end); at > start {
			start = at
			continue
		}
		b.WriteString(s[copied:end])
		b.WriteString(runBreak)
		copied, start = end, end
	}
	if copied == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

// frameWords begin the lines that make the frame of a pack, after a "[".
var frameWords = []string{"turn", "gap", "cut", "quoted", "end of", "more"}

// escapeFrame puts a backslash before a "[" with which a line of quoted text
// would look like one of the frame's own.
func escapeFrame(s string) string {
	var b strings.Builder
	copied := 0
	for i := 0; ; i++ {
		at := strings.IndexByte(s[i:], '[')
		if at < 0 {
			break
		}
		i += at
		if startsLine(s, i) && looksLikeFrame(s[i+1:]) {
			b.WriteString(s[copied:i])
			b.WriteByte('\\')
			copied = i
		}
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s[copied:])
	return b.String()
}

func startsLine(s string, i int) bool {
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if r == '\n' {
			return true
		}
		if !unicode.IsSpace(r) {
			return false
		}
		i -= size
	}
	return true
}

func looksLikeFrame(s string) bool {
	s = strings.TrimLeft(s[:min(len(s), 40)], " \t")
	for _, w := range frameWords {
		if len(s) >= len(w) && strings.EqualFold(s[:len(w)], w) {
			return true
		}
	}
	return false
}
