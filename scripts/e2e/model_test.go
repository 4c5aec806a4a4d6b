package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// Requests as the agents send them, cut to what the dialects read.
const (
	claudeRequest = `{"model":"m","stream":true,
		"tools":[{"name":"Bash"},{"name":"mcp__sessdex__search_sessions"}],
		"messages":[
			{"role":"user","content":"count the otters"},
			{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"seven"},{"type":"text","text":"otters"}]},{"type":"text","text":"<reminder>"}]}]}`

	codexRequest = `{"model":"m","stream":true,"tools":[{"type":"function","name":"exec_command"},{"type":"web_search"},
			{"type":"namespace","name":"mcp__sessdex","tools":[{"type":"function","name":"search_sessions"}]}],
		"input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"count the otters"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","name":"exec_command","arguments":"{}","call_id":"a"},
			{"type":"function_call_output","call_id":"a","output":"seven"},
			{"type":"custom_tool_call","name":"exec","input":"text(1)","call_id":"b"},
			{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"Done:"},{"type":"input_text","text":"otters"}]}]}`

	codeModeRequest = `{"model":"m","stream":true,"input":[
			{"type":"additional_tools","tools":[{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"count the otters"}]}]}`

	geminiRequest = `{"tools":[{"functionDeclarations":[{"name":"read_file"},{"name":"mcp_sessdex_search_sessions"}]}],
		"contents":[
			{"role":"user","parts":[{"text":"count the otters"}]},
			{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"a","name":"read_file","args":{}}},{"functionCall":{"id":"b","name":"read_file","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"seven"}}},
				{"functionResponse":{"id":"b","name":"read_file","response":{"error":"no otters"}}}]}]}`

	chatRequest = `{"model":"m","stream":true,"tools":[{"type":"function","function":{"name":"read"}},{"type":"function","function":{"name":"sessdex_search_sessions"}}],
		"messages":[
			{"role":"system","content":"be brief"},
			{"role":"user","content":[{"type":"text","text":"count the otters"}]},
			{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"seven"}]}`
)

func TestDialectsRead(t *testing.T) {
	for _, c := range []struct {
		name     string
		dialect  Dialect
		body     string
		tools    []string
		messages []Message
		rounds   int
	}{
		{"claude", Anthropic, claudeRequest,
			[]string{"Bash", "mcp__sessdex__search_sessions"},
			[]Message{{Input, "count the otters"}, {Output, "I look."}, {Called, ""}, {Result, "seven\notters"}, {Input, "<reminder>"}}, 1},
		{"codex", Responses, codexRequest,
			[]string{"exec_command", "mcp__sessdex/search_sessions"},
			[]Message{{Input, "count the otters"}, {Output, "I look."}, {Called, ""}, {Result, "seven"}, {Called, ""}, {Result, "Done:\notters"}}, 2},
		{"codex in code mode", Responses, codeModeRequest,
			[]string{"functions/exec"}, []Message{{Input, "count the otters"}}, 0},
		{"gemini", Gemini, geminiRequest,
			[]string{"read_file", "mcp_sessdex_search_sessions"},
			[]Message{{Input, "count the otters"}, {Output, "I look."}, {Called, ""}, {Called, ""}, {Result, "seven"}, {Result, "no otters"}}, 1},
		{"opencode", Chat, chatRequest,
			[]string{"read", "sessdex_search_sessions"},
			[]Message{{Input, "count the otters"}, {Output, "I look."}, {Called, ""}, {Result, "seven"}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Request{Body: []byte(c.body)}
			c.dialect.Read(r)
			if diff := cmp.Diff(c.tools, r.Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.messages, r.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if got := r.rounds(); got != c.rounds {
				t.Errorf("%d rounds, want %d", got, c.rounds)
			}
		})
	}
}

func TestToolFindsMCPToolsOfEveryAgent(t *testing.T) {
	for offered, ask := range map[string]string{
		"Bash":                          "Bash",
		"mcp__sessdex__search_sessions": "search_sessions",
		"mcp__sessdex/search_sessions":  "search_sessions",
		"mcp_sessdex_search_sessions":   "search_sessions",
		"sessdex_search_sessions":       "search_sessions",
	} {
		r := &Request{Tools: []string{"Other", offered}}
		if got, err := r.Tool(ask); err != nil || got != offered {
			t.Errorf("Tool(%q) = %q, %v; want %q", ask, got, err, offered)
		}
	}
	if got, err := (&Request{Tools: []string{"research_sessions"}}).Tool("search_sessions"); err == nil {
		t.Errorf("Tool found %q, which only ends in the same letters", got)
	}
}

// post sends a request to the model and gives the data of each event of the answer.
func post(t *testing.T, url, body string) []gjson.Result {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return []gjson.Result{gjson.ParseBytes(answer)}
	}
	var events []gjson.Result
	for line := range strings.Lines(string(answer)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			events = append(events, gjson.Parse(strings.TrimSpace(data)))
		}
	}
	return events
}

var full = Script{func(*Request) (Reply, error) {
	return Reply{Thinking: "hm", Text: "I call.", Calls: []Call{{Tool: "space/look", Args: map[string]any{"at": "otters"}}, {Tool: "free", Raw: "text(1)"}}}, nil
}}

func TestAnthropicStreams(t *testing.T) {
	m := Start(full)
	defer m.Close()
	body := `{"stream":true,"model":"m","tools":[{"name":"x"}],"messages":[{"role":"user","content":"go"}]}`
	var got []string
	for _, e := range post(t, m.URL+"/v1/messages?beta=true", body) {
		switch e.Get("type").String() {
		case "content_block_start":
			got = append(got, e.Get("content_block.type").String()+" "+e.Get("content_block.name").String())
		case "content_block_delta":
			d := e.Get("delta")
			got = append(got, "  "+d.Get("thinking").String()+d.Get("text").String()+d.Get("partial_json").String())
		case "message_delta":
			got = append(got, e.Get("delta.stop_reason").String())
		}
	}
	want := []string{"thinking ", "  hm", "  ", "text ", "  I call.", "tool_use space/look", `  {"at":"otters"}`, "tool_use free", "  {}", "tool_use"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	whole := post(t, m.URL+"/v1/messages", strings.Replace(body, `"stream":true,`, "", 1))[0]
	if got := whole.Get("content.1.text").String(); got != "I call." {
		t.Errorf("without a stream the text is %q: %s", got, whole)
	}
	if n := post(t, m.URL+"/v1/messages/count_tokens", body)[0].Get("input_tokens").Int(); n <= 0 {
		t.Errorf("count_tokens says %d", n)
	}
	if problems := m.Problems(); problems != nil {
		t.Error(problems)
	}
}

func TestResponsesStreams(t *testing.T) {
	m := Start(full)
	defer m.Close()
	events := post(t, m.URL+"/v1/responses", codeModeRequest)
	var types, items []string
	for _, e := range events {
		types = append(types, e.Get("type").String())
		if item := e.Get("item"); item.Exists() {
			var parts []string
			for _, field := range []string{"type", "namespace", "name", "arguments", "input", "content.0.text"} {
				if v := item.Get(field); v.Exists() {
					parts = append(parts, v.String())
				}
			}
			items = append(items, strings.Join(parts, " "))
		}
	}
	if types[0] != "response.created" || types[len(types)-1] != "response.completed" {
		t.Errorf("the events are %v", types)
	}
	want := []string{"reasoning", "message I call.", `function_call space look {"at":"otters"}`, `custom_tool_call free text(1)`}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGeminiStreams(t *testing.T) {
	m := Start(full)
	defer m.Close()
	const path = "/v1beta/models/m:"
	body := `{"tools":[{"functionDeclarations":[{"name":"x"}]}],"contents":[{"role":"user","parts":[{"text":"go"}]}]}`
	want := []string{`{"text":"hm","thought":true}`, `{"text":"I call."}`, `space/look {"at":"otters"}`, `free {}`}
	for _, method := range []string{"streamGenerateContent?alt=sse", "generateContent"} {
		var got []string
		for _, e := range post(t, m.URL+path+method, body) {
			for _, part := range e.Get("candidates.0.content.parts").Array() {
				if call := part.Get("functionCall"); call.Exists() {
					got = append(got, call.Get("name").String()+" "+call.Get("args").Raw)
				} else {
					got = append(got, part.Raw)
				}
			}
			if reason := e.Get("candidates.0.finishReason").String(); reason != "STOP" {
				t.Errorf("%s: the answer ends by %q", method, reason)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
	if n := post(t, m.URL+path+"countTokens", body)[0].Get("totalTokens").Int(); n <= 0 {
		t.Errorf("countTokens says %d", n)
	}
	side := `{"contents":[],"generationConfig":{"responseJsonSchema":{"type":"OBJECT","properties":{
		"why":{"type":"STRING"},"score":{"type":"INTEGER"},"who":{"type":"STRING","enum":["user","model"]},"more":{"type":"BOOLEAN"},"files":{"type":"ARRAY"}}}}}`
	answer := post(t, m.URL+path+"generateContent", side)[0].Get("candidates.0.content.parts.0.text").String()
	if want := `{"files":[],"more":false,"score":1,"who":"user","why":"ok"}`; answer != want {
		t.Errorf("a side question is answered with %s, want %s", answer, want)
	}
	if problems := m.Problems(); problems != nil {
		t.Error(problems)
	}
}

func TestChatStreams(t *testing.T) {
	m := Start(full)
	defer m.Close()
	body := `{"stream":true,"model":"m","tools":[{"function":{"name":"x"}}],"messages":[{"role":"user","content":"go"}]}`
	var said, calls []string
	events := post(t, m.URL+"/v1/chat/completions", body)
	for _, e := range events {
		delta := e.Get("choices.0.delta")
		for _, field := range []string{"reasoning_content", "content"} {
			if v := delta.Get(field).String(); v != "" {
				said = append(said, v)
			}
		}
		for _, call := range delta.Get("tool_calls").Array() {
			calls = append(calls, call.Get("index").Raw+" "+call.Get("function.name").String()+" "+call.Get("function.arguments").String())
		}
	}
	if diff := cmp.Diff([]string{"hm", "I ", "call."}, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`0 space/look {"at":"otters"}`, `1 free {}`}, calls); diff != "" {
		t.Errorf("called (-want +got):\n%s", diff)
	}
	if last := events[len(events)-1]; last.Raw != "[DONE]" {
		t.Errorf("the stream ends with %s", last.Raw)
	}
	if reason := events[len(events)-2].Get("choices.0.finish_reason").String(); reason != "tool_calls" {
		t.Errorf("the message ends by %q", reason)
	}

	whole := post(t, m.URL+"/v1/chat/completions", strings.Replace(body, `"stream":true,`, "", 1))[0].Get("choices.0.message")
	if whole.Get("content").String() != "I call." || len(whole.Get("tool_calls").Array()) != 2 {
		t.Errorf("without a stream the message is %s", whole)
	}
	if problems := m.Problems(); problems != nil {
		t.Error(problems)
	}
}

func TestModelFollowsItsScript(t *testing.T) {
	history := func(answers int) string {
		var b strings.Builder
		b.WriteString(`{"tools":[{"name":"x"}],"messages":[{"role":"user","content":"go"}`)
		for range answers {
			b.WriteString(`,{"role":"assistant","content":"said"},{"role":"user","content":"on"}`)
		}
		return b.String() + "]}"
	}
	for _, c := range []struct {
		name     string
		requests []string
		want     []string
		problem  string
	}{
		{"in order", []string{history(0), history(1)}, []string{"one", "two"}, ""},
		{"a request sent again gets the same answer", []string{history(0), history(0), history(1)}, []string{"one", "one", "two"}, ""},
		{"a session that goes on begins with the first step", []string{history(5), history(6)}, []string{"one", "two"}, ""},
		{"side requests are no steps", []string{`{"messages":[]}`, history(0), history(1)}, []string{"ok", "one", "two"}, ""},
		{"steps left", []string{history(0)}, []string{"one"}, "asked for 1 of 2 steps"},
		{"steps exceeded", []string{history(0), history(1), history(2)}, []string{"one", "two", "The script has no such step."}, "asked for step 3 of 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Start(Script{Say("one"), Say("two")})
			defer m.Close()
			var got []string
			for _, body := range c.requests {
				got = append(got, post(t, m.URL+"/v1/messages", body)[0].Get("content.0.text").String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("answers %q, want %q", got, c.want)
			}
			if problem := fmt.Sprint(errors.Join(m.Problems()...)); c.problem == "" && problem != "<nil>" || !strings.Contains(problem, c.problem) {
				t.Errorf("problems: %s; want %q", problem, c.problem)
			}
		})
	}
}

func TestModelReportsFailedSteps(t *testing.T) {
	m := Start(Script{func(r *Request) (Reply, error) { _, err := r.LastResult(); return Reply{}, err }})
	defer m.Close()
	post(t, m.URL+"/v1/responses", codeModeRequest)
	if problem := fmt.Sprint(errors.Join(m.Problems()...)); !strings.Contains(problem, "step 1: read tool result") {
		t.Errorf("problems: %s", problem)
	}
}
