package harness

import (
	"strings"
	"unicode/utf8"
)

// keep copies a string out of the line it was found in, which would otherwise stay
// in memory as long as the string, and makes it valid UTF-8.
func keep(s string) string {
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.Clone(s)
}

// joinLines is the parts of a message or an output as one text, each on lines of its own.
func joinLines(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 && !strings.HasSuffix(texts[i-1], "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String()
}

// imageOnly stands for a message that is nothing but images.
const imageOnly = "[image]"

// words is the set of the words in s.
func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}
