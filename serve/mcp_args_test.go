package serve

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestArguments(t *testing.T) {
	text := func(a *arguments) any { return a.text("id") }
	list := func(a *arguments) any { return a.list("tags") }
	num := func(a *arguments) any { return a.number("limit", 10, 1, 50) }
	flag := func(a *arguments) any { return a.flag("include_tool_calls") }
	mode := func(a *arguments) any { return a.choice("mode", "summary", "tail") }
	for _, test := range []struct {
		in   string
		read func(*arguments) any
		want any
		err  string
	}{
		{`{"id": "abc"}`, text, "abc", ""},
		{`{"id": " abc\n"}`, text, "abc", ""},
		{`{"id": 123456789012}`, text, "123456789012", ""},
		{`{"id": 000}`, text, "", errNotObject.text},
		{`{"id": ["abc"]}`, text, "abc", ""},
		{`{"id": ["abc", "def"]}`, text, "", "id must be a string"},
		{`{"id": {"a": 1}}`, text, "", "id must be a string"},
		{`{"id": null}`, text, "", ""},
		{`{"session_id": "abc"}`, text, "abc", ""},
		{`{"sessionId": "abc", "id": "def"}`, text, "def", ""},
		{`{"ID": "abc"}`, text, "abc", ""},
		{`{}`, text, "", ""},
		{`null`, text, "", ""},
		{`"{\"id\": \"abc\"}"`, text, "abc", ""},
		{`""`, text, "", ""},
		{`[]`, text, "", errNotObject.text},
		{`"abc"`, text, "", errNotObject.text},

		{`{"tags": ["a", "b"]}`, list, []string{"a", "b"}, ""},
		{`{"tags": "a"}`, list, []string{"a"}, ""},
		{`{"tags": "a, b,,a"}`, list, []string{"a", "b"}, ""},
		{`{"tags": "[\"a\", \"b\"]"}`, list, []string{"a", "b"}, ""},
		{`{"tags": "[a"}`, list, []string{"[a"}, ""},
		{`{"tag": ["a", null, 7, ""]}`, list, []string{"a", "7"}, ""},
		{`{"tags": [{"a": 1}]}`, list, []string(nil), "tags must be a list of strings"},
		{`{"tags": {"a": 1}}`, list, []string(nil), "tags must be a list of strings"},
		{`{"tags": null}`, list, []string(nil), ""},

		{`{"limit": 7}`, num, 7, ""},
		{`{"limit": 7.0}`, num, 7, ""},
		{`{"limit": "42"}`, num, 42, ""},
		{`{"limit": " #7 "}`, num, 7, ""},
		{`{"limit": ""}`, num, 10, ""},
		{`{"limit": 0}`, num, 1, ""},
		{`{"limit": -3}`, num, 1, ""},
		{`{"limit": 1e999}`, num, 50, ""},
		{`{"limit": "NaN"}`, num, 10, "limit must be a whole number"},
		{`{"limit": "many"}`, num, 10, "limit must be a whole number"},
		{`{"limit": [7, 8]}`, num, 10, "limit must be a whole number"},
		{`{"Limit": 7, "nonsense": {"a": [1]}}`, num, 7, ""},

		{`{"include_tool_calls": true}`, flag, true, ""},
		{`{"includeToolCalls": "True"}`, flag, true, ""},
		{`{"include-tool-calls": 1}`, flag, true, ""},
		{`{"include_tool_calls": "no"}`, flag, false, ""},
		{`{"include_tool_calls": "perhaps"}`, flag, false, "include_tool_calls must be true or false"},

		{`{"mode": "Tail"}`, mode, "tail", ""},
		{`{"mode": "all"}`, mode, "all", "mode must be one of: summary, tail"},
	} {
		a := decodeArguments(json.RawMessage(test.in))
		got := test.read(a)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %#v, want %#v", test.in, got, test.want)
		}
		switch {
		case a.err == nil && test.err != "", a.err != nil && a.err.Error() != test.err:
			t.Errorf("%s: error %v, want %q", test.in, a.err, test.err)
		case a.err != nil && !errors.Is(a.err, ErrUsage):
			t.Errorf("%s: error %v is no usage error", test.in, a.err)
		}
	}
}

// Arguments come from outside: whatever they are, reading them ends and does not
// panic, and an error is a usage error.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"id": 1}`, `{"tags": "a,b"}`, `{"limit": 1e400}`, `"{\"id\": null}"`, `[[[`, "{\"\xff\": 1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a := decodeArguments(json.RawMessage(raw))
		for _, tool := range mcpTools {
			for _, p := range tool.params {
				switch p.kind {
				case "strings":
					a.list(p.name)
				case "integer":
					if n := a.number(p.name, 5, 1, 9); n < 1 || n > 9 {
						t.Errorf("%s is %d", p.name, n)
					}
				case "boolean":
					a.flag(p.name)
				default:
					a.text(p.name)
				}
			}
		}
		if a.err != nil && !errors.Is(a.err, ErrUsage) {
			t.Errorf("%q: %v", raw, a.err)
		}
	})
}
