package harness

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sessdex/session"
)

// A geminiTalk is a made-up conversation: messages as the harness records them.
type geminiTalk []map[string]any

func drawGeminiTalk(t *rapid.T) geminiTalk {
	said := rapid.SampledFrom([]string{"yes", "no", "paint it", "why?", "a <b>bold</b> word"})
	talk := geminiTalk{}
	for i := range rapid.IntRange(1, 6).Draw(t, "exchanges") {
		at := func(step int) string { return fmt.Sprintf("2026-03-01T09:%02d:%02d.000Z", i, step) }
		talk = append(talk, map[string]any{"id": fmt.Sprintf("u%d", i), "timestamp": at(0), "type": "user",
			"content": []any{map[string]any{"text": said.Draw(t, "said")}}})
		answer := map[string]any{"id": fmt.Sprintf("g%d", i), "timestamp": at(1), "type": "gemini",
			"content": rapid.SampledFrom([]string{"", "Yes.", "Done."}).Draw(t, "answer"), "model": "gemini-3-pro"}
		var calls []any
		for c := range rapid.IntRange(0, 3).Draw(t, "calls") {
			id := fmt.Sprintf("c%d_%d", i, c)
			calls = append(calls, map[string]any{"id": id, "name": "write_file", "args": map[string]any{"file_path": "f" + id, "content": "x"},
				"status": "success", "timestamp": at(2 + c), "result": []any{geminiTestResponse(id, "wrote "+id)}})
		}
		if calls != nil {
			answer["toolCalls"] = calls
		}
		talk = append(talk, answer)
	}
	return talk
}

func geminiTestResponse(id, output string) map[string]any {
	return map[string]any{"functionResponse": map[string]any{"id": id, "name": "write_file", "response": map[string]any{"output": output}}}
}

// history is the talk as the harness passes it on: the model's view of each message.
// Ids begin with prefix; outputs are masked.
func (talk geminiTalk) history(prefix string) (list []any) {
	for _, m := range talk {
		id := prefix + m["id"].(string)
		calls, _ := m["toolCalls"].([]any)
		parts, results := []any{}, []any{}
		if text, _ := m["content"].(string); text != "" {
			parts = append(parts, map[string]any{"text": text})
		}
		if m["type"] == "user" {
			parts = m["content"].([]any)
		}
		for _, c := range calls {
			c := c.(map[string]any)
			parts = append(parts, map[string]any{"functionCall": map[string]any{"id": c["id"], "name": c["name"], "args": c["args"]}})
			results = append(results, geminiTestResponse(c["id"].(string), "<tool_output_masked>\nx\n</tool_output_masked>"))
		}
		list = append(list, map[string]any{"id": id, "timestamp": "2026-03-01T10:00:00.000Z", "type": m["type"], "content": parts})
		if len(results) > 0 {
			list = append(list, map[string]any{"id": id + "_response", "timestamp": "2026-03-01T10:00:00.000Z", "type": "user", "content": results})
		}
	}
	return list
}

func geminiTestJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func geminiTestTurns(lines string) (session.Meta, []session.Turn) {
	p := GeminiCLI.New(Source{})
	for line := range strings.Lines(lines) {
		p.Line([]byte(strings.TrimSuffix(line, "\n")))
	}
	m, turns := p.Finish()
	var all []session.Turn
	for turn := range turns {
		all = append(all, turn)
	}
	return m, all
}

// A conversation is the same in every shape it can be written in.
func TestGeminiShapesLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		talk := drawGeminiTalk(t)
		facts := map[string]any{"sessionId": "s", "projectHash": "h", "startTime": "2026-03-01T08:59:00.000Z"}
		log := geminiTestJSON(facts) + "\n"
		twice := log
		for _, m := range talk {
			log += geminiTestJSON(m) + "\n"
			if calls, ok := m["toolCalls"]; ok { // first without its calls
				bare := map[string]any{}
				for k, v := range m {
					bare[k] = v
				}
				delete(bare, "toolCalls")
				twice += geminiTestJSON(bare) + "\n" + geminiTestJSON(m) + "\n"
				var results []any
				for _, c := range calls.([]any) {
					results = append(results, c.(map[string]any)["result"].([]any)...)
				}
				twice += geminiTestJSON(map[string]any{"id": m["id"].(string) + "_r", "timestamp": m["timestamp"], "type": "user", "content": results}) + "\n"
			} else {
				twice += geminiTestJSON(m) + "\n" + geminiTestJSON(m) + "\n"
			}
		}
		facts["messages"] = talk
		printed, _ := json.MarshalIndent(facts, "", "  ")
		want, wantTurns := geminiTestTurns(log)
		for name, data := range map[string]string{
			"one line": geminiTestJSON(facts), "printed": string(printed), "printed, ended": string(printed) + "\n",
			"written again": twice, "the document, then the log": string(printed) + "\n" + log,
		} {
			got, turns := geminiTestTurns(data)
			if diff := cmp.Diff(want, got) + cmp.Diff(wantTurns, turns); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
		}
	})
}

// However a history is passed on, under the same ids or new ones, as a list alone or
// as records and a list, once or more often: each word is said once, as it was said
// first, and what the history leaves out at the end was taken back.
func TestGeminiHistoryLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		talk := drawGeminiTalk(t)
		log := `{"sessionId":"s","projectHash":"h","startTime":"2026-03-01T08:59:00.000Z"}` + "\n"
		for _, m := range talk {
			log += geminiTestJSON(m) + "\n"
		}
		_, want := geminiTestTurns(log)
		kept := len(talk)
		for i := range rapid.IntRange(1, 3).Draw(t, "times") {
			kept = rapid.IntRange(1, kept).Draw(t, "kept")
			prefix := rapid.SampledFrom([]string{"", fmt.Sprintf("n%d", i)}).Draw(t, "prefix")
			list := talk[:kept].history(prefix)
			if prefix != "" && rapid.Bool().Draw(t, "as records") {
				for _, m := range list {
					log += geminiTestJSON(m) + "\n"
				}
			}
			log += geminiTestJSON(map[string]any{"$set": map[string]any{"messages": list}}) + "\n"
		}
		_, got := geminiTestTurns(log)
		cut := 0
		for i := range want {
			if want[i].Ref == talk[kept-1]["id"] || kept == len(talk) {
				cut = i + 1
			}
			if calls, _ := talk[kept-1]["toolCalls"].([]any); len(calls) > 0 && want[i].Ref == calls[len(calls)-1].(map[string]any)["id"] {
				cut = i + 1
			}
		}
		// A message that says nothing gives no turn to cut at.
		if m := talk[kept-1]; m["type"] == "gemini" && m["content"] == "" && m["toolCalls"] == nil {
			for i := range want {
				if want[i].Ref == talk[kept-2]["id"] {
					cut = i + 1
				}
			}
		}
		for i := cut; i < len(want); i++ {
			want[i].Undone = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("kept %d of %d messages: %s\n%s", kept, len(talk), diff, log)
		}
	})
}
