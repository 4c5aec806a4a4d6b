package e2e

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Anthropic is the Messages protocol, which Claude Code speaks: events where the
// request asks for a stream, else one object.
var Anthropic = Dialect{
	Name:   "anthropic",
	Serves: func(path string) bool { return path == messagesPath || path == messagesPath+countTokens },
	Read:   readAnthropic,
	Write:  writeAnthropic,
}

const (
	messagesPath = "/v1/messages"
	countTokens  = "/count_tokens"
)

func readAnthropic(r *Request) {
	if strings.HasSuffix(r.Path, countTokens) {
		return // outside the conversation
	}
	body := gjson.ParseBytes(r.Body)
	for _, t := range body.Get("tools").Array() {
		r.Tools = append(r.Tools, t.Get("name").String())
	}
	for _, m := range body.Get("messages").Array() {
		said := Input
		if m.Get("role").String() == "assistant" {
			said = Output
		}
		content := m.Get("content")
		if content.Type == gjson.String {
			r.Messages = append(r.Messages, Message{said, content.String()})
			continue
		}
		for _, block := range content.Array() {
			switch block.Get("type").String() {
			case "text":
				r.Messages = append(r.Messages, Message{said, block.Get("text").String()})
			case "tool_use":
				r.Messages = append(r.Messages, Message{Kind: Called})
			case "tool_result":
				r.Messages = append(r.Messages, Message{Result, texts(block.Get("content"))})
			}
		}
	}
}

func writeAnthropic(w http.ResponseWriter, r *Request, reply Reply) {
	if strings.HasSuffix(r.Path, countTokens) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(object{"input_tokens": tokens(r.Body)}))
		return
	}
	content, stop := anthropicContent(r, reply)
	message := object{
		"id": "msg_" + r.id, "type": "message", "role": "assistant",
		"model": gjson.GetBytes(r.Body, "model").String(), "content": []object{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": tokens(r.Body), "output_tokens": 1},
	}
	w.Header().Set("request-id", "req_"+r.id) // requestId in Claude Code's transcripts
	if !gjson.GetBytes(r.Body, "stream").Bool() {
		message["content"], message["stop_reason"] = content, stop
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(message))
		return
	}
	s := newStream(w)
	s.send(object{"type": "message_start", "message": message})
	for i, block := range content {
		start, deltas := anthropicDeltas(block)
		s.send(object{"type": "content_block_start", "index": i, "content_block": start})
		for _, d := range deltas {
			s.send(object{"type": "content_block_delta", "index": i, "delta": d})
		}
		s.send(object{"type": "content_block_stop", "index": i})
	}
	s.send(object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": tokens([]byte(reply.Text))}})
	s.send(object{"type": "message_stop"})
}

// anthropicContent is a reply as content blocks, and why the message ends.
func anthropicContent(r *Request, reply Reply) (content []object, stop string) {
	stop = "end_turn"
	if reply.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": reply.Thinking, "signature": "c2lnbmVk"})
	}
	if reply.Text != "" {
		content = append(content, object{"type": "text", "text": reply.Text})
	}
	for i, c := range reply.Calls {
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", r.id, i), "name": c.Tool, "input": arguments(c)})
		stop = "tool_use"
	}
	return content, stop
}

// anthropicDeltas is a content block as it is streamed: empty first, then filled.
func anthropicDeltas(block object) (start object, deltas []object) {
	switch block["type"] {
	case "thinking":
		return object{"type": "thinking", "thinking": "", "signature": ""}, []object{
			{"type": "thinking_delta", "thinking": block["thinking"]},
			{"type": "signature_delta", "signature": block["signature"]},
		}
	case "tool_use":
		return object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}, []object{
			{"type": "input_json_delta", "partial_json": string(encode(block["input"]))},
		}
	}
	return object{"type": "text", "text": ""}, []object{{"type": "text_delta", "text": block["text"]}}
}
