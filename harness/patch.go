package harness

import (
	"strings"

	"github.com/tidwall/gjson"
)

// patchFiles lists the files named in the apply_patch envelopes in text, where
// a patch stands as itself, in a here-document, or in a literal of JSON or JavaScript
// with its line ends escaped.
func patchFiles(text string) []string {
	var files []string
	for {
		_, rest, ok := strings.Cut(text, "*** Begin Patch")
		if !ok {
			return files
		}
		patch, after, _ := strings.Cut(rest, "*** End Patch")
		text = after
		if strings.HasPrefix(patch, `\n`) || strings.HasPrefix(patch, `\r\n`) {
			patch = unquoteJS(`"` + patch + `"`)
		}
		for line := range strings.SplitSeq(patch, "\n") {
			for _, verb := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if name, ok := strings.CutPrefix(line, verb); ok {
					files = appendNew(files, strings.TrimSpace(name))
				}
			}
		}
	}
}

// patchedFiles are the files in the apply_patch envelopes of any argument.
func patchedFiles(input gjson.Result) (files []string) {
	take := func(s string) {
		for _, f := range patchFiles(s) {
			files = appendNew(files, keep(f))
		}
	}
	if !input.IsObject() {
		take(input.String())
		return files
	}
	input.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			take(v.Str)
		}
		return true
	})
	return files
}

// unquoteJS reads a string literal of any of JavaScript's quotes.
func unquoteJS(s string) string {
	var b strings.Builder
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r', '\n':
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
