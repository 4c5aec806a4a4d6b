package harness

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/tidwall/gjson"
)

// MaxLine is the longest line that reaches a parser, in bytes. Longer ones are
// passed over and reported.
const MaxLine = 64 << 20

// ErrLongLine reports a line above MaxLine.
var ErrLongLine = errors.New("line longer than 64 MiB")

// bom is the byte order mark that some writers put before UTF-8.
var bom = []byte("\xef\xbb\xbf")

// Lines reads r line by line, newline included where there is one, in memory
// bounded by the longest line allowed. The bytes are valid until the next step.
// A line above MaxLine comes as (nil, ErrLongLine) and reading goes on; any
// other error ends the sequence.
func Lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		br := bufio.NewReaderSize(r, 256<<10)
		var long []byte
		for {
			long = long[:0]
			chunk, err := br.ReadSlice('\n')
			skip := false
			for errors.Is(err, bufio.ErrBufferFull) {
				if len(long)+len(chunk) > MaxLine {
					skip, long = true, nil
				}
				if !skip {
					long = append(long, chunk...)
				}
				chunk, err = br.ReadSlice('\n')
			}
			if len(long)+len(chunk) > MaxLine {
				skip, long = true, nil
			}
			line := chunk
			if len(long) > 0 {
				long = append(long, chunk...)
				line = long
			}
			switch {
			case skip:
				if !yield(nil, ErrLongLine) {
					return
				}
			case len(line) > 0:
				if !yield(line, nil) {
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// Values yields the JSON objects on a line: usually one, but writers that were
// interrupted have glued several together. What is not a whole, valid object
// is passed over, and so is a line that nests deeper than maxDepth.
func Values(line []byte) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) { eachValue(line, yield) }
}

// eachValue is Values for parsers that count what they lose: it reports whether
// the line held nothing but whole, valid objects.
func eachValue(line []byte, take func(gjson.Result) bool) bool {
	clean := true
	line = bytes.TrimSpace(line)
	if tooDeep(line) {
		return false
	}
	for len(line) > 0 {
		if line[0] != '{' {
			return false
		}
		if gjson.ValidBytes(line) { // the common case, checked first
			take(gjson.ParseBytes(line))
			return clean
		}
		end := objectEnd(line)
		if end < 0 {
			return false
		}
		if gjson.ValidBytes(line[:end]) {
			if !take(gjson.ParseBytes(line[:end])) {
				return clean
			}
		} else {
			clean = false
		}
		line = bytes.TrimSpace(line[end:])
	}
	return clean
}

// maxDepth is how deep objects and arrays may nest. The validator recurses: some
// megabytes of brackets would overflow its stack, which ends the process.
const maxDepth = 10_000

// tooDeep reports nesting beyond maxDepth. It looks at long lines only, since
// every level takes a byte and the stack holds far more than those of a short line.
func tooDeep[T string | []byte](line T) bool {
	if len(line) < 128<<10 {
		return false
	}
	for _, depth := range brackets(line) {
		if depth > maxDepth {
			return true
		}
	}
	return false
}

// validJSON reports whether a text, such as the string in which a tool's arguments
// stand, is JSON of a depth that can be read.
func validJSON(s string) bool { return !tooDeep(s) && gjson.Valid(s) }

// objectEnd is the offset just after the object that b begins with, or -1.
func objectEnd(b []byte) int {
	for i, depth := range brackets(b) {
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}

// brackets yields where JSON opens and closes objects and arrays, and how many are
// open just after. The JSON need not be valid.
func brackets[T string | []byte](text T) iter.Seq2[int, int] {
	return func(yield func(at, depth int) bool) {
		depth, inString := 0, false
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case inString && c == '\\':
				i++
				continue
			case c == '"':
				inString = !inString
				continue
			case inString:
				continue
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				depth--
			default:
				continue
			}
			if !yield(i, depth) {
				return
			}
		}
	}
}
