package harness

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A document collects a transcript that is one JSON value over any number of lines,
// as long as one line may be.
type document struct {
	text strings.Builder
	cut  bool
}

func (d *document) add(line []byte) {
	if d.text.Len()+len(line) >= MaxLine {
		d.cut = true
		return
	}
	d.text.Write(line)
	d.text.WriteByte('\n')
}

// value is the document, and whether it was whole. Of one that is cut off or damaged
// only what stands before the damage can be relied on: check each member.
func (d *document) value() (v gjson.Result, whole bool) {
	text := strings.TrimSpace(strings.TrimPrefix(d.text.String(), string(bom)))
	if len(text) == 0 || tooDeep(text) {
		return gjson.Result{}, len(text) == 0
	}
	return gjson.Parse(text), !d.cut && gjson.Valid(text)
}

// eachMember calls take with the members of a list that are whole.
func eachMember(list gjson.Result, take func(gjson.Result)) {
	list.ForEach(func(_, v gjson.Result) bool {
		if !gjson.Valid(v.Raw) {
			return false
		}
		take(v)
		return true
	})
}
