package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sessdex/search"
)

// arguments are a tool call's arguments, read leniently: models send "42" for 42,
// one string where a list is asked for, null for nothing, maxTokens for
// max_tokens, and arguments that do not exist. What cannot be understood at all
// is kept in err, as one sentence for the model; the first one wins.
type arguments struct {
	values map[string]any
	read   map[string]bool // values that the tool looked at
	err    error
}

// otherNames are names that models use for an argument, after fold.
var otherNames = map[string]string{
	"sessionid": "id", "session": "id", "q": "query", "text": "query",
	"tag": "tags", "harnesses": "harness", "path": "file", "files": "file",
	"repository": "repo", "project": "repo", "owner": "author", "n": "limit",
	"turn": "around", "includetools": "includetoolcalls", "budget": "maxtokens",
	"content": "transcript", "sha256": "contentsha256",
}

// fold makes an argument's name comparable: max_tokens, maxTokens and max-tokens
// are one.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// decodeArguments reads what a client sent: JSON, a decoded object, or an object
// that was encoded twice.
func decodeArguments(raw any) *arguments {
	a := &arguments{values: map[string]any{}, read: map[string]bool{}}
	object, ok := asObject(raw)
	if !ok {
		a.err = errNotObject
		return a
	}
	for name, v := range object {
		if v == nil {
			continue
		}
		key := fold(name)
		if other, ok := otherNames[key]; ok {
			if _, taken := a.values[other]; !taken {
				a.values[other] = v
			}
			continue
		}
		a.values[key] = v
	}
	return a
}

var errNotObject = &kindError{ErrUsage, "the arguments are not a JSON object; send them by name, for example {\"query\": \"retry loop\"}"}

func asObject(raw any) (map[string]any, bool) {
	switch v := raw.(type) {
	case nil:
		return nil, true
	case map[string]any:
		return v, true
	case json.RawMessage:
		var decoded any
		dec := json.NewDecoder(bytes.NewReader(v))
		dec.UseNumber() // an id may be all digits
		if err := dec.Decode(&decoded); err != nil {
			return nil, false
		}
		return asObject(decoded)
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, true
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return asObject(json.RawMessage(v))
		}
	}
	return nil, false
}

// get is an argument as it was sent, and whether it was.
func (a *arguments) get(name string) (any, bool) {
	key := fold(name)
	a.read[key] = true
	v, ok := a.values[key]
	return v, ok
}

// unread lists, in order, what was sent and the tool does not know: a model that
// thinks it filtered should hear that it did not.
func (a *arguments) unread() []string {
	var out []string
	for key := range a.values {
		if !a.read[key] {
			out = append(out, oneLine(key, 40))
		}
	}
	slices.Sort(out)
	return out
}

func (a *arguments) fail(format string, args ...any) {
	if a.err == nil {
		a.err = usage(format, args...)
	}
}

// text is a string argument, trimmed; "" where it is missing.
func (a *arguments) text(name string) string { return strings.TrimSpace(a.verbatim(name)) }

// verbatim is a string argument as it was sent.
func (a *arguments) verbatim(name string) string {
	v, ok := a.get(name)
	if list, isList := v.([]any); isList && len(list) == 1 {
		v = list[0]
	}
	s, isText := scalar(v)
	if ok && !isText {
		a.fail("%s must be a string", name)
	}
	return s
}

// need is a string argument that the tool cannot do without.
func (a *arguments) need(name, hint string) string {
	s := a.text(name)
	if s == "" {
		a.fail("%s is missing: %s", name, hint)
	}
	return s
}

// list is a list argument; one string may hold several, as JSON or with commas.
func (a *arguments) list(name string) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	v, _ := a.get(name)
	if s, ok := v.(string); ok {
		var inner []any
		if strings.HasPrefix(strings.TrimSpace(s), "[") && json.Unmarshal([]byte(s), &inner) == nil {
			v = inner
		}
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if s, ok := scalar(item); ok {
				add(s)
			} else if item != nil {
				a.fail("%s must be a list of strings", name)
			}
		}
	default:
		s, ok := scalar(v)
		if !ok && v != nil {
			a.fail("%s must be a list of strings", name)
		}
		for part := range strings.SplitSeq(s, ",") {
			add(part)
		}
	}
	return out
}

// number is an integer argument within lo..hi; def where it is missing. A value
// outside is moved to the nearest limit.
func (a *arguments) number(name string, def, lo, hi int) int {
	n, ok := a.integer(name)
	if !ok {
		return def
	}
	return min(max(n, lo), hi)
}

// integer is an integer argument as it was sent, and whether it was.
func (a *arguments) integer(name string) (int, bool) {
	v, ok := a.get(name)
	if !ok {
		return 0, false
	}
	s, isText := scalar(v)
	s = strings.Trim(strings.TrimSpace(s), "#+")
	if s == "" && isText {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // ±Inf, which is cut below
	}
	if !isText || err != nil || math.IsNaN(f) {
		a.fail("%s must be a whole number", name)
		return 0, false
	}
	return int(math.Trunc(min(max(f, math.MinInt32), math.MaxInt32))), true
}

// flag is a boolean argument; false where it is missing.
func (a *arguments) flag(name string) bool {
	v, ok := a.get(name)
	if !ok {
		return false
	}
	if b, ok := v.(bool); ok {
		return b
	}
	s, _ := scalar(v)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0", "":
		return false
	}
	a.fail("%s must be true or false", name)
	return false
}

// date is a date argument; the zero time where it is missing. A span that the
// words name (a day, a month) is meant from its start, or with end to its end.
func (a *arguments) date(name string, end bool) time.Time {
	s := a.text(name)
	if s == "" {
		return time.Time{}
	}
	from, to, ok := search.ParseDate(s, time.Now())
	if !ok {
		a.fail("%s is no date: write 2026-01-31, 2026-01, 7d, 2w or yesterday", name)
	}
	if end {
		return to
	}
	return from
}

// choice is an argument that is one of a few words, in any case.
func (a *arguments) choice(name string, words ...string) string {
	s := strings.ToLower(a.text(name))
	if s != "" && !slices.Contains(words, s) {
		a.fail("%s must be one of: %s", name, strings.Join(words, ", "))
	}
	return s
}

// scalar is the text of a string, number or boolean; nil is the empty text.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
