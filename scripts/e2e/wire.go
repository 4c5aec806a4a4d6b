package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// An object is JSON of a vendor's protocol.
type object = map[string]any

// encode is an object's JSON. Ours hold strings, numbers, lists and objects only,
// so it cannot fail.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// A stream sends server-sent events, each named by the "type" of its data.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return stream{w}
}

func (s stream) send(o object) {
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", o["type"], encode(o))
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// arguments is a call's arguments as JSON; an object also where there are none.
func arguments(c Call) json.RawMessage {
	if c.Args == nil {
		return json.RawMessage("{}")
	}
	return encode(c.Args)
}

// texts joins what is text in a content, which is a string or a list of parts.
func texts(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var parts []string
	for _, p := range content.Array() {
		if t := p.Get("text"); t.Exists() {
			parts = append(parts, t.String())
		}
	}
	return strings.Join(parts, "\n")
}

// tokens is a count of tokens that looks like one.
func tokens(b []byte) int { return len(b)/4 + 1 }
