package harness

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// A document collects a transcript that is one JSON value over any number of lines,
// as long as one line may be.
type document struct {
	text []byte
	cut  bool
}

func (d *document) add(line []byte) {
	if len(d.text)+len(line) >= MaxLine {
		d.cut = true
		return
	}
	d.text = append(append(d.text, line...), '\n')
}

// value is the document, and whether it was whole. Of one that is cut off or damaged
// only what stands before the damage can be relied on: check each member.
func (d *document) value() (v gjson.Result, whole bool) {
	text := bytes.TrimSpace(bytes.TrimPrefix(d.text, bom))
	if len(text) == 0 || tooDeep(text) {
		return gjson.Result{}, len(text) == 0
	}
	return gjson.ParseBytes(text), !d.cut && gjson.ValidBytes(text)
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
