package install

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// A jsonFile is a JSON text, possibly with comments and trailing commas, whose values
// are found by hujson and whose edits are splices of the text itself.
//
// Edits can be undone from the text alone. What we add to an object or array that has
// items begins on a line of its own or after a space, and so does what we put into
// objects that we add to hold it; in an object that was there and empty it follows
// the brace at once. So a removal knows which emptied objects to take along.
type jsonFile struct {
	text   []byte // without byte order mark
	absent bool   // there is no file; after a removal: there was none before us
	root   *hujson.Value
	eol    string
	indent string // one step
}

var bom = []byte("\xef\xbb\xbf")

// editJSON parses text, lets edit work on it, and checks what came out. Nil text and
// white space are an empty object that is not there yet.
func editJSON(text []byte, edit func(*jsonFile) (Outcome, error)) ([]byte, Outcome, error) {
	d := &jsonFile{text: bytes.TrimPrefix(text, bom), absent: text == nil, eol: lineEnd(text), indent: "  "}
	if err := d.parse(); err != nil {
		return nil, "", fmt.Errorf("%w (%s)", ErrUnreadable, err)
	}
	outcome, err := edit(d)
	if err != nil {
		return nil, "", err
	}
	if outcome == Kept {
		return text, Kept, nil
	}
	if err := d.parse(); err != nil {
		return nil, "", fmt.Errorf("edit: %w", err) // ours, and not for writing
	}
	if d.root == nil && d.absent {
		return nil, outcome, nil
	}
	if bytes.HasPrefix(text, bom) {
		return slices.Concat(bom, d.text), outcome, nil
	}
	return append([]byte{}, d.text...), outcome, nil // never nil
}

// lineEnd is how a text ends its lines.
func lineEnd(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func (d *jsonFile) parse() error {
	if d.root = nil; len(bytes.TrimSpace(d.text)) == 0 {
		return nil
	}
	if tooDeep(d.text) {
		return fmt.Errorf("it nests deeper than %d levels", maxDepth)
	}
	root, err := hujson.Parse(slices.Clone(d.text)) // it keeps parts of what it is given
	if err != nil {
		return err
	}
	d.root = &root
	if items := itemsOf(d.root); len(items) > 0 && d.startsLine(items[0].start) {
		d.indent = cmp.Or(d.indentation(items[0].start), d.indent)
	}
	return nil
}

// maxDepth is how deep a text may nest, as in the standard library: hujson goes down
// by recursion, and without a limit that ends the process.
const maxDepth = 10_000

// tooDeep reports nesting beyond maxDepth, outside of strings and comments.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := ""
			switch {
			case bytes.HasPrefix(text[i:], []byte("//")):
				end = "\n"
			case bytes.HasPrefix(text[i:], []byte("/*")):
				end = "*/"
			default:
				continue
			}
			n := bytes.Index(text[i+2:], []byte(end))
			if n < 0 {
				return false
			}
			i += 2 + n + len(end) - 1
		}
	}
	return false
}

// An item is a member of an object or an element of an array.
type item struct {
	name       string // of a member
	start, end int    // in the text, with a member's name
	value      *hujson.Value
}

// itemsOf lists the items of an object or array; other values have none.
func itemsOf(v *hujson.Value) []item {
	var list []item
	switch v := v.Value.(type) {
	case *hujson.Object:
		for i := range v.Members {
			m := &v.Members[i]
			list = append(list, item{m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, m.Value.EndOffset, &m.Value})
		}
	case *hujson.Array:
		for i := range v.Elements {
			e := &v.Elements[i]
			list = append(list, item{"", e.StartOffset, e.EndOffset, e})
		}
	}
	return list
}

// last finds the member that counts: readers take the last of several.
func last(items []item, name string) int {
	for i := len(items) - 1; i >= 0; i-- {
		if items[i].name == name {
			return i
		}
	}
	return -1
}
