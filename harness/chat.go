package harness

import (
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// A chat is a message in one of the shapes that programs write who wrote it, and what.
type chat struct {
	role session.Role // of who said it; "" for a system's text, [session.Tool] for a tool's result
	raw  gjson.Result
}

// chatRoles are the names of the sides, in lower case.
var chatRoles = map[string]session.Role{
	"user": session.User, "human": session.User, "user_message": session.User,
	"assistant": session.Assistant, "model": session.Assistant, "ai": session.Assistant, "gpt": session.Assistant,
	"bot": session.Assistant, "gemini": session.Assistant, "agent": session.Assistant, "assistant_message": session.Assistant,
	"tool": session.Tool, "function": session.Tool, "toolresult": session.Tool, "tool_result": session.Tool,
	"system": "", "developer": "",
}

// chatMessage takes a record that is a message: {role, content}, {role, parts}, {role,
// message}, {type, text}, {type, content}, {type, message}, {from, value}, {author: {role}}.
func chatMessage(r gjson.Result) (m chat, ok bool) {
	if !r.IsObject() || !chatContent(r).Exists() && !r.Get("tool_calls").IsArray() {
		return m, false
	}
	for _, key := range []string{"role", "message.role", "type", "from", "author.role", "author", "sender", "speaker"} {
		if v := r.Get(key); v.Type == gjson.String {
			if role, known := chatRoles[strings.ToLower(v.Str)]; known {
				return chat{role, r}, true
			}
		}
	}
	return m, false
}

// chatContent is what a message says.
func chatContent(r gjson.Result) gjson.Result {
	return first(r, "message.content", "message.parts", "content", "parts", "message", "text", "value")
}

// words are what a person or a model said in it.
func (m chat) words() string {
	return strings.TrimSpace(strings.Join(readContent(chatContent(m.raw)).texts, "\n"))
}

// messageLists are the members in which a document keeps its messages. Where a program
// keeps them for the screen and for the model, the model's come first.
var messageLists = []string{"messages", "clientHistory", "history", "conversation", "conversations", "chat", "turns", "transcript", "chatMessages", "chat_history"}

// messageList is the list of messages that r is or has. It may be no list at all.
func messageList(r gjson.Result) gjson.Result {
	if r.IsArray() {
		return r
	}
	for _, key := range messageLists {
		if list := r.Get(key); list.IsArray() {
			if _, ok := chatMessage(list.Get("0")); ok {
				return list
			}
		}
	}
	return gjson.Result{}
}

// row adds a message: blocks of any kind in its content, and calls and results as rows
// of chat completions have them, beside it. spoken takes a person's words.
func (d *dialog) row(r gjson.Result, at time.Time, ref string, spoken func(text string)) {
	m, ok := chatMessage(r)
	if !ok {
		return
	}
	c := readContent(chatContent(r))
	switch m.role {
	case session.Tool:
		out := outputText(chatContent(r))
		if len(c.results) == 0 {
			id := first(r, "tool_call_id", "toolCallId", "tool_use_id", "message.toolCallId").String()
			c.results = []contentResult{{id, first(r, "name", "toolName").String(), out, r.Get("is_error").Bool() || r.Get("isError").Bool()}}
		}
		c.texts, c.images = nil, 0
	case session.Assistant:
		if t := first(r, "reasoning_content", "reasoning", "thinking"); t.Type == gjson.String && len(c.thoughts) == 0 {
			c.thought(t.Str)
		}
		r.Get("tool_calls").ForEach(func(_, call gjson.Result) bool {
			c.calls = append(c.calls, contentCall{
				id:    call.Get("id").String(),
				tool:  first(call, "function.name", "name").String(),
				input: first(call, "function.arguments", "arguments", "args", "input"),
			})
			return true
		})
		if call := r.Get("function_call"); call.IsObject() {
			c.calls = append(c.calls, contentCall{tool: call.Get("name").String(), input: call.Get("arguments")})
		}
	}
	d.message(m.role, c, at, ref, spoken)
}
