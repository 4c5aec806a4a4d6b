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

// A stream sends server-sent events, each named by the "type" of its data where
// that has one.
type stream struct{ w http.ResponseWriter }

func newStream(w http.ResponseWriter) stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	return stream{w}
}

func (s stream) send(o object) {
	if kind, ok := o["type"]; ok {
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	s.data(encode(o))
}

// end says that the stream is over, where the protocol has a word for it.
func (s stream) end() { s.data([]byte("[DONE]")) }

func (s stream) data(line []byte) {
	fmt.Fprintf(s.w, "data: %s\n\n", line)
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// callID names the request's i-th call.
func callID(r *Request, i int) string { return fmt.Sprintf("call_%s_%d", r.id, i) }

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
