package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// A step is a value on the way down from the root, and which item of the one before
// it is.
type step struct {
	value *hujson.Value
	index int // -1: the root
}

// walk goes down the objects that path names, as far as there are any. What is not
// the end of the path has to be an object.
func (d *jsonFile) walk(path ...string) ([]step, error) {
	if d.root == nil {
		return nil, nil
	}
	steps := []step{{d.root, -1}}
	for i, name := range path {
		if _, ok := steps[i].value.Value.(*hujson.Object); !ok {
			return nil, shapeError(path[:i], "an object")
		}
		items := itemsOf(steps[i].value)
		n := last(items, name)
		if n < 0 {
			break
		}
		steps = append(steps, step{items[n].value, n})
	}
	return steps, nil
}

func shapeError(path []string, want string) error {
	what := "it"
	if len(path) > 0 {
		what = strings.Join(path, ".") + " in it"
	}
	return fmt.Errorf("%w: %s is not %s", ErrShape, what, want)
}

// set gives the member at path a value, and makes the objects on the way.
func (d *jsonFile) set(path []string, value any) (Outcome, error) {
	steps, err := d.walk(path...)
	if err != nil {
		return "", err
	}
	if len(steps) <= len(path) {
		d.insert(steps, path, value)
		return Added, nil
	}
	return d.replace(steps[len(path)].value, value), nil
}

// replace puts a value in the place of another, unless they mean the same.
func (d *jsonFile) replace(old *hujson.Value, value any) Outcome {
	was, err := hujson.Standardize(bytes.Clone(d.text[old.StartOffset:old.EndOffset]))
	if err == nil && sameJSON(was, renderJSON(value, "", "")) {
		return Kept
	}
	d.splice(old.StartOffset, old.EndOffset, d.render(value, d.indentation(old.StartOffset)))
	return Replaced
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// insert adds the part of path that is not there below the last of steps, with value
// at its end.
func (d *jsonFile) insert(steps []step, path []string, value any) {
	missing := path[max(len(steps)-1, 0):]
	for i := len(missing) - 1; i > 0; i-- {
		value = member{missing[i], value}
	}
	if len(steps) > 0 {
		d.add(steps[len(steps)-1].value, member{missing[0], value})
		return
	}
	d.splice(len(d.text), len(d.text), d.render(member{missing[0], value}, ""))
	if d.absent {
		d.text = append(d.text, d.eol...)
	}
}

// A member is an object with one member.
type member struct {
	name  string
	value any
}

func (m member) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "{%s:%s}", renderJSON(m.name, "", ""), renderJSON(m.value, "", "")), nil
}

// add puts an item at the end of an object, where it is a member, or of an array.
func (d *jsonFile) add(into *hujson.Value, what any) {
	items := itemsOf(into)
	open := into.StartOffset
	if len(items) == 0 {
		// Right behind the brace: see jsonFile.
		d.splice(open+1, open+1, d.renderItem(what, d.indentation(open)+d.indent))
		return
	}
	end := items[len(items)-1]
	lead, base := " ", d.indentation(end.start)
	comma := d.skip(end.end) // where one stands behind the last item
	trailing := d.text[comma] == ','
	at := end.end
	if trailing {
		at = comma + 1
	}
	at, lineComment := d.skipComments(at)
	if lineComment || d.startsLine(end.start) {
		lead = d.eol + base
	}
	fresh := append([]byte(lead), d.renderItem(what, base)...)
	if trailing {
		d.splice(at, at, append(fresh, ','))
		return
	}
	d.splice(at, at, fresh)
	d.splice(end.end, end.end, []byte{','})
}

// remove takes the members at path away, and the objects that were made for them.
func (d *jsonFile) remove(path []string) (Outcome, error) {
	outcome := Kept
	for {
		steps, err := d.walk(path...)
		if err != nil || len(steps) <= len(path) {
			return outcome, err
		}
		d.drop(steps)
		outcome = Removed
		if err := d.parse(); err != nil {
			return "", fmt.Errorf("edit: %w", err)
		}
	}
}

// drop removes the last of steps from the text, and with it what it leaves empty
// unless that was there before us: see jsonFile.
func (d *jsonFile) drop(steps []step) {
	i := len(steps) - 1
	for ; i > 0; i-- {
		in := steps[i-1].value
		if items := itemsOf(in); len(items) > 1 || items[0].start == in.StartOffset+1 {
			break
		}
	}
	if i == 0 {
		rest := d.text[d.root.EndOffset:]
		d.absent = d.root.StartOffset == 0 && string(rest) == d.eol
		d.splice(d.root.StartOffset, d.root.EndOffset, nil)
		return
	}
	items, n := itemsOf(steps[i-1].value), steps[i].index
	it := items[n]
	from := d.leadOf(it.start)
	if len(items) == 1 {
		from = it.start
	}
	switch comma := d.skip(it.end); {
	case d.text[comma] == ',' && n < len(items)-1:
		d.splice(from, comma+1, nil)
	case d.text[comma] == ',': // a trailing one: the one before becomes it
		d.splice(comma, comma+1, nil)
		d.splice(from, it.end, nil)
	default:
		d.splice(from, it.end, nil)
		if n > 0 {
			before := d.skip(items[n-1].end)
			d.splice(before, before+1, nil)
		}
	}
}

// splice replaces text[from:to].
func (d *jsonFile) splice(from, to int, with []byte) {
	d.text = append(append(bytes.Clone(d.text[:from]), with...), d.text[to:]...)
}

// leadOf is where the white space begins that we would put before an item at i: its
// indentation and one line end, or the spaces behind a comma.
func (d *jsonFile) leadOf(i int) int {
	for i > 0 && (d.text[i-1] == ' ' || d.text[i-1] == '\t') {
		i--
	}
	if i > 0 && d.text[i-1] == '\n' {
		i--
		if i > 0 && d.text[i-1] == '\r' && d.eol == "\r\n" {
			i--
		}
	}
	return i
}

// skip goes over white space and comments. It ends at the latest before the bracket
// that closes what i is in.
func (d *jsonFile) skip(i int) int {
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '/':
			i, _ = d.comment(i)
		default:
			return i
		}
	}
	return i
}

// comment gives where the comment at i ends, a line's before its line end, and which
// kind it is.
func (d *jsonFile) comment(i int) (end int, line bool) {
	if bytes.HasPrefix(d.text[i:], []byte("//")) {
		end := len(d.text)
		if n := bytes.IndexByte(d.text[i:], '\n'); n >= 0 {
			end = i + n
		}
		for d.text[end-1] == '\r' {
			end--
		}
		return end, true
	}
	return i + 2 + bytes.Index(d.text[i+2:], []byte("*/")) + 2, false
}

// skipComments goes over the comments that follow on the same line, which belong to
// what they follow, and reports whether one of them needs a line end.
func (d *jsonFile) skipComments(i int) (end int, lineComment bool) {
	end = i
	for i < len(d.text) {
		switch c := d.text[i]; {
		case c == ' ' || c == '\t':
			i++
		case c == '/':
			var line bool
			if i, line = d.comment(i); line {
				return i, true
			}
			if bytes.IndexByte(d.text[end:i], '\n') >= 0 {
				return end, false // it belongs to the next line
			}
			end = i
		default:
			return end, false
		}
	}
	return end, false
}

// startsLine reports whether only white space stands before i in its line, and a line
// before that.
func (d *jsonFile) startsLine(i int) bool {
	line := bytes.LastIndexByte(d.text[:i], '\n')
	return line >= 0 && len(bytes.TrimLeft(d.text[line+1:i], " \t")) == 0
}

// indentation is the white space that the line of i begins with.
func (d *jsonFile) indentation(i int) string {
	line := d.text[bytes.LastIndexByte(d.text[:i], '\n')+1 : i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render writes a value as it stands in a line that begins with base.
func (d *jsonFile) render(value any, base string) []byte {
	return bytes.ReplaceAll(renderJSON(value, base, d.indent), []byte("\n"), []byte(d.eol))
}

// renderItem writes a member without its braces, or a value.
func (d *jsonFile) renderItem(what any, base string) []byte {
	m, ok := what.(member)
	if !ok {
		return d.render(what, base)
	}
	return fmt.Appendf(nil, "%s: %s", renderJSON(m.name, "", ""), d.render(m.value, base))
}

// renderJSON writes a value with the indentation step indent, in one line without.
func renderJSON(value any, base, indent string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent != "" {
		e.SetIndent(base, indent)
	}
	if err := e.Encode(value); err != nil {
		panic(fmt.Sprintf("install: render %T: %v", value, err)) // our own types all can be
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
