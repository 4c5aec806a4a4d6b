package harness

import (
	"strings"

	"github.com/tidwall/gjson"
)

// content is what one message holds, whichever way its harness writes it.
type content struct {
	texts, thoughts []string
	calls           []contentCall
	results         []contentResult
	images          int
	unknown         []string // types of blocks that nobody knows
}

type contentCall struct {
	id, tool string
	input    gjson.Result

	done   bool // the result stands with the call
	output string
	failed bool
}

type contentResult struct {
	id, tool, output string
	failed           bool
}

// readContent takes a message's content: a string, or a list of blocks as the
// interfaces of Anthropic, OpenAI, Google and Vercel's AI SDK have them.
func readContent(v gjson.Result) (c content) {
	eachOf(v, c.block)
	return c
}

// readParts takes a message's content as Google's interface has it, whose parts have no
// types: a string, a part, or a list of them.
func readParts(v gjson.Result) (c content) {
	eachOf(v, c.part)
	return c
}

// eachOf calls take with the members of a list, or with what is no list.
func eachOf(v gjson.Result, take func(gjson.Result)) {
	if !v.IsArray() {
		take(v)
		return
	}
	v.ForEach(func(_, member gjson.Result) bool { take(member); return true })
}

func (c *content) block(b gjson.Result) {
	switch kind := b.Get("type").Str; kind {
	case "":
		c.part(b)
	case "text", "input_text", "output_text":
		text := b.Get("text").String()
		if b.Get("thought").Bool() {
			c.thought(text)
		} else {
			c.texts = append(c.texts, text)
		}
	case "thinking", "reasoning":
		c.thought(first(b, "thinking", "text", "reasoning", "summary").String())
	case "tool_use", "server_tool_use", "mcp_tool_use", "toolCall", "tool-call", "function_call", "action":
		c.calls = append(c.calls, contentCall{
			id:    first(b, "id", "toolCallId", "call_id", "toolUseID").String(),
			tool:  first(b, "name", "toolName", "tool").String(),
			input: first(b, "input", "arguments", "args"),
		})
	case "dynamic-tool", "tool-invocation":
		c.sdkTool(b, b.Get("toolName").String())
	case "tool_result", "tool-result", "toolResult", "function_call_output":
		c.results = append(c.results, blockResult(b))
	case "image", "image_url", "input_image", "file", "document", "input_file":
		c.images++
	case "redacted_thinking", "step-start", "step-finish", "manual_bash_invocation":
	default:
		switch name, sdk := strings.CutPrefix(kind, "tool-"); {
		case sdk && b.Get("toolCallId").Exists(): // the AI SDK's parts carry the name in their type
			c.sdkTool(b, name)
		case strings.HasSuffix(kind, "tool_result"):
			c.results = append(c.results, blockResult(b))
		default:
			c.unknown = append(c.unknown, kind)
		}
	}
}

// part takes a string, or a part as Google's interface has them: a member tells what
// it is.
func (c *content) part(b gjson.Result) {
	if b.Type == gjson.String {
		c.texts = append(c.texts, b.Str)
		return
	}
	text := b.Get("text").String()
	switch call, result := b.Get("functionCall"), b.Get("functionResponse"); {
	case call.IsObject():
		c.calls = append(c.calls, contentCall{id: call.Get("id").String(), tool: call.Get("name").String(), input: call.Get("args")})
	case result.IsObject():
		out, failed := geminiOutput(result)
		c.results = append(c.results, contentResult{result.Get("id").String(), result.Get("name").String(), out, failed})
	case b.Get("inlineData").Exists() || b.Get("fileData").Exists():
		c.images++
	case b.Get("thought").Bool():
		c.thought(text)
	case text != "":
		c.texts = append(c.texts, text)
	}
}

func (c *content) thought(text string) {
	if text != "" {
		c.thoughts = append(c.thoughts, text)
	}
}

// sdkTool takes a call that is written again, with its result, when it has one.
func (c *content) sdkTool(b gjson.Result, tool string) {
	state := b.Get("state").Str
	call := contentCall{id: b.Get("toolCallId").String(), tool: tool, input: first(b, "input", "args")}
	if out := first(b, "output", "result"); out.Exists() || strings.HasPrefix(state, "output-") {
		call.done, call.output = true, outputText(out)
	}
	if e := b.Get("errorText").String(); e != "" || state == "output-error" {
		call.failed = true
		call.output = e
	}
	c.calls = append(c.calls, call)
}

// blockResult takes a result in a block of its own. Amp's stands in "run".
func blockResult(b gjson.Result) contentResult {
	r := contentResult{
		id:   first(b, "tool_use_id", "toolUseID", "toolUseId", "toolCallId", "tool_call_id", "call_id").String(),
		tool: b.Get("toolName").String(),
	}
	if run := b.Get("run"); run.IsObject() {
		status := run.Get("status").Str
		out := first(run, "result", "error", "reason")
		r.output = outputText(out)
		r.failed = status != "done" && status != "in-progress" && status != "" || out.Get("success").Type == gjson.False ||
			out.Get("exitCode").Int() != 0
		return r
	}
	r.output = outputText(first(b, "content", "output", "result"))
	r.failed = b.Get("is_error").Bool() || b.Get("isError").Bool()
	return r
}

// first is the first of the members of r that is there.
func first(r gjson.Result, keys ...string) gjson.Result {
	for _, k := range keys {
		if v := r.Get(k); v.Exists() && v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// outputText is a tool's result as text: a string, blocks of text, or an object in
// which one member is the text. Images are left out.
func outputText(v gjson.Result) string { return outputAt(v, 4) }

// outputAt is outputText for a value in which others may stand so many levels deep.
func outputAt(v gjson.Result, depth int) string {
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		return ""
	case v.IsArray() && depth > 0:
		var parts []string
		v.ForEach(func(_, item gjson.Result) bool {
			if kind := item.Get("type").Str; !strings.Contains(kind, "image") {
				if s := outputAt(item, depth-1); s != "" {
					parts = append(parts, s)
				}
			}
			return true
		})
		return strings.Join(parts, "\n")
	case v.IsObject() && depth > 0:
		for _, key := range []string{"content", "output", "text", "value", "message", "diff"} {
			if inner := v.Get(key); inner.Exists() {
				return outputAt(inner, depth-1)
			}
		}
		return RenderInput(plainInput(v))
	}
	return v.String()
}

// textParts are the texts of a message's or an output's content: an array of typed
// parts, of which images are counted and not read, or a plain string.
func textParts(content gjson.Result) (texts []string, images int) {
	if content.Type == gjson.String {
		return []string{content.Str}, 0
	}
	content.ForEach(func(_, part gjson.Result) bool {
		switch kind := part.Get("type").Str; {
		case strings.Contains(kind, "image"):
			images++
		case strings.Contains(kind, "audio"):
		case part.Type == gjson.String:
			texts = append(texts, part.Str)
		default:
			if t := part.Get("text"); t.Type == gjson.String {
				texts = append(texts, t.Str)
			} else if t := part.Get("refusal"); t.Type == gjson.String {
				texts = append(texts, t.Str)
			}
		}
		return true
	})
	return texts, images
}
