package e2e

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// Gemini is Google's generateContent protocol, which Gemini CLI speaks: the
// method stands in the path, and a stream is of the same objects as a whole answer.
var Gemini = Dialect{
	Name:   "gemini",
	Serves: func(path string) bool { return geminiPath.MatchString(path) },
	Read:   readGemini,
	Write:  writeGemini,
}

var geminiPath = regexp.MustCompile(`^/v1(beta)?/models/[^/:]+:(generateContent|streamGenerateContent|countTokens)$`)

func readGemini(r *Request) {
	if strings.HasSuffix(r.Path, ":countTokens") {
		return // outside the conversation
	}
	body := gjson.ParseBytes(r.Body)
	for _, t := range body.Get("tools.#.functionDeclarations.#.name|@flatten").Array() {
		r.Tools = append(r.Tools, t.String())
	}
	for _, content := range body.Get("contents").Array() {
		said := Input
		if content.Get("role").String() == "model" {
			said = Output
		}
		for _, part := range content.Get("parts").Array() {
			switch {
			case part.Get("functionCall").Exists():
				r.Messages = append(r.Messages, Message{Kind: Called})
			case part.Get("functionResponse").Exists():
				r.Messages = append(r.Messages, Message{Result, geminiResult(part.Get("functionResponse.response"))})
			case part.Get("text").Exists():
				r.Messages = append(r.Messages, Message{said, part.Get("text").String()})
			}
		}
	}
}

// geminiResult is what a tool returned: its output or its error.
func geminiResult(response gjson.Result) string {
	for _, field := range []string{"output", "error"} {
		if v := response.Get(field); v.Exists() {
			return v.String()
		}
	}
	return response.Raw
}

func writeGemini(w http.ResponseWriter, r *Request, reply Reply) {
	if strings.HasSuffix(r.Path, ":countTokens") {
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(object{"totalTokens": tokens(r.Body)}))
		return
	}
	// Side questions (how hard is the task? who speaks next?) want an object, and are
	// asked again and again until they get one.
	if schema := gjson.GetBytes(r.Body, "generationConfig.responseJsonSchema"); schema.Exists() {
		reply = Reply{Text: string(encode(sample(schema)))}
	}
	in, out := tokens(r.Body), tokens([]byte(reply.Text))
	answer := object{
		"candidates": []object{{"index": 0, "finishReason": "STOP",
			"content": object{"role": "model", "parts": geminiParts(r, reply)}}},
		"usageMetadata": object{"promptTokenCount": in, "candidatesTokenCount": out, "totalTokenCount": in + out},
		"modelVersion":  "scripted",
		"responseId":    "resp_" + r.id,
	}
	if !strings.HasSuffix(r.Path, ":streamGenerateContent") {
		w.Header().Set("Content-Type", "application/json")
		w.Write(encode(answer))
		return
	}
	newStream(w).send(answer)
}

// geminiParts is a reply as the parts of one content.
func geminiParts(r *Request, reply Reply) (parts []object) {
	if reply.Thinking != "" {
		parts = append(parts, object{"thought": true, "text": reply.Thinking})
	}
	if reply.Text != "" {
		parts = append(parts, object{"text": reply.Text})
	}
	for i, c := range reply.Calls {
		parts = append(parts, object{"functionCall": object{"id": callID(r, i), "name": c.Tool, "args": arguments(c)}})
	}
	return parts
}

// sample is the plainest value of a JSON schema, whose types Google writes in
// capitals.
func sample(schema gjson.Result) any {
	if choices := schema.Get("enum").Array(); len(choices) > 0 {
		return choices[0].Value()
	}
	switch strings.ToLower(schema.Get("type").String()) {
	case "object":
		fields := object{}
		schema.Get("properties").ForEach(func(name, of gjson.Result) bool {
			fields[name.String()] = sample(of)
			return true
		})
		return fields
	case "array":
		return []any{}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	}
	return "ok"
}
