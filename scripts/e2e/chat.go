package e2e

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

// Chat is OpenAI's chat completions protocol, which OpenCode speaks with every
// provider that is "compatible": chunks where the request asks for a stream.
var Chat = Dialect{
	Name:   "chat",
	Serves: func(path string) bool { return path == "/v1/chat/completions" },
	Read:   readChat,
	Write:  writeChat,
}

func readChat(r *Request) {
	body := gjson.ParseBytes(r.Body)
	for _, t := range body.Get("tools.#.function.name").Array() {
		r.Tools = append(r.Tools, t.String())
	}
	for _, m := range body.Get("messages").Array() {
		text := texts(m.Get("content"))
		switch m.Get("role").String() {
		case "user":
			r.Messages = append(r.Messages, Message{Input, text})
		case "tool":
			r.Messages = append(r.Messages, Message{Result, text})
		case "assistant":
			if text != "" {
				r.Messages = append(r.Messages, Message{Output, text})
			}
			for range m.Get("tool_calls").Array() {
				r.Messages = append(r.Messages, Message{Kind: Called})
			}
		}
	}
}

func writeChat(w http.ResponseWriter, r *Request, reply Reply) {
	body := gjson.ParseBytes(r.Body)
	in, out := tokens(r.Body), tokens([]byte(reply.Text))
	usage := object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
	answer := object{"id": "chatcmpl-" + r.id, "created": 1, "model": body.Get("model").String()}
	calls, finish := []object{}, "stop"
	for i, c := range reply.Calls {
		calls = append(calls, object{"index": i, "id": callID(r, i), "type": "function",
			"function": object{"name": c.Tool, "arguments": string(arguments(c))}})
		finish = "tool_calls"
	}
	if !body.Get("stream").Bool() {
		answer["object"], answer["usage"] = "chat.completion", usage
		answer["choices"] = []object{{"index": 0, "finish_reason": finish, "message": object{
			"role": "assistant", "content": reply.Text, "reasoning_content": reply.Thinking, "tool_calls": calls}}}
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(answer))
		return
	}
	s := newStream(w)
	answer["object"] = "chat.completion.chunk"
	chunk := func(delta object, finish any) {
		answer["choices"] = []object{{"index": 0, "delta": delta, "finish_reason": finish}}
		s.send(answer)
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if reply.Thinking != "" {
		chunk(object{"reasoning_content": reply.Thinking}, nil)
	}
	for word := range strings.SplitAfterSeq(reply.Text, " ") { // words of their own, as real ones come
		if word != "" {
			chunk(object{"content": word}, nil)
		}
	}
	if len(calls) > 0 {
		chunk(object{"tool_calls": calls}, nil)
	}
	answer["usage"] = usage
	chunk(object{}, finish)
	s.end()
}
