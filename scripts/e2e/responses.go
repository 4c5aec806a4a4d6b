package e2e

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Responses is OpenAI's Responses protocol, which Codex speaks; always a stream.
var Responses = Dialect{
	Name:   "responses",
	Serves: func(path string) bool { return path == "/v1/responses" },
	Read:   readResponses,
	Write:  writeResponses,
}

func readResponses(r *Request) {
	body := gjson.ParseBytes(r.Body)
	r.Tools = appendTools(nil, "", body.Get("tools"))
	for _, item := range body.Get("input").Array() {
		switch kind := item.Get("type").String(); {
		case kind == "additional_tools": // where newer models get their tools
			r.Tools = appendTools(r.Tools, "", item.Get("tools"))
		case kind == "message" && item.Get("role").String() == "assistant":
			r.Messages = append(r.Messages, Message{Output, texts(item.Get("content"))})
		case kind == "message":
			r.Messages = append(r.Messages, Message{Input, texts(item.Get("content"))})
		case strings.HasSuffix(kind, "_call"):
			r.Messages = append(r.Messages, Message{Kind: Called})
		case strings.HasSuffix(kind, "_call_output"):
			r.Messages = append(r.Messages, Message{Result, texts(item.Get("output"))})
		}
	}
}

// appendTools lists tools by name, those inside a namespace as "namespace/name".
func appendTools(names []string, space string, tools gjson.Result) []string {
	for _, t := range tools.Array() {
		name := t.Get("name").String()
		switch {
		case t.Get("type").String() == "namespace":
			names = appendTools(names, space+name+"/", t.Get("tools"))
		case name != "": // built-in ones have none
			names = append(names, space+name)
		}
	}
	return names
}

func writeResponses(w http.ResponseWriter, r *Request, reply Reply) {
	id := "resp_" + r.id
	s := newStream(w)
	s.send(object{"type": "response.created", "response": object{"id": id}})
	for i, item := range responsesItems(r, reply) {
		s.send(object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	in, out := tokens(r.Body), tokens([]byte(reply.Text))
	s.send(object{"type": "response.completed", "response": object{"id": id, "usage": object{
		"input_tokens": in, "input_tokens_details": nil,
		"output_tokens": out, "output_tokens_details": nil, "total_tokens": in + out,
	}}})
}

// responsesItems is a reply as output items.
func responsesItems(r *Request, reply Reply) (items []object) {
	if reply.Thinking != "" {
		items = append(items, object{"type": "reasoning", "id": "rs_" + r.id, "encrypted_content": "c2VhbGVk",
			"summary": []object{{"type": "summary_text", "text": reply.Thinking}}})
	}
	if reply.Text != "" {
		items = append(items, object{"type": "message", "role": "assistant", "id": "msg_" + r.id,
			"content": []object{{"type": "output_text", "text": reply.Text}}})
	}
	for i, c := range reply.Calls {
		item := object{"id": fmt.Sprintf("fc_%s_%d", r.id, i), "call_id": callID(r, i), "name": c.Tool}
		if space, name, ok := strings.Cut(c.Tool, "/"); ok {
			item["namespace"], item["name"] = space, name
		}
		if c.Raw != "" {
			item["type"], item["input"] = "custom_tool_call", c.Raw
		} else {
			item["type"], item["arguments"] = "function_call", string(arguments(c))
		}
		items = append(items, item)
	}
	return items
}
