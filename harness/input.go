package harness

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// RenderInput turns a tool call's arguments into text that people and the index
// can read: the bare value where there is only one string, else a "key: value"
// line for each, strings unescaped, the rest as JSON.
func RenderInput(args gjson.Result) string {
	if !args.IsObject() {
		return args.String()
	}
	var b strings.Builder
	n, last := 0, gjson.Result{}
	args.ForEach(func(k, v gjson.Result) bool {
		if n++; n > 1 {
			b.WriteByte('\n')
		}
		last = v
		b.WriteString(k.String())
		b.WriteString(": ")
		b.WriteString(v.String()) // strings unescaped, everything else raw
		return true
	})
	if n == 1 && last.Type == gjson.String {
		return last.String()
	}
	return b.String()
}

// plainInput is a call's arguments as a value: they may stand in a string as JSON, and
// are the same however the document around them is printed.
func plainInput(v gjson.Result) gjson.Result {
	v = unquoted(v)
	if v.IsObject() {
		v = v.Get("@ugly")
	}
	return v
}

// unquoted is the object that stands as JSON in a string. Anything else is itself.
func unquoted(v gjson.Result) gjson.Result {
	if v.Type == gjson.String && strings.HasPrefix(strings.TrimSpace(v.Str), "{") && validJSON(v.Str) {
		return gjson.Parse(v.Str)
	}
	return v
}

// compact is a value without the white space of a document that is printed for people,
// the same however the document around it is printed.
func compact(v gjson.Result) gjson.Result {
	if strings.Contains(v.Raw, "\n") {
		v = v.Get("@ugly")
	}
	return v
}

// inputOf is a value as the arguments of a call that has one of that name.
func inputOf(name, value string) gjson.Result {
	raw, _ := json.Marshal(map[string]string{name: value})
	return gjson.ParseBytes(raw)
}
