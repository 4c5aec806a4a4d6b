package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"sessdex/contextpack"
	"sessdex/session"
)

// listedTools is the answer to tools/list, as a client gets it.
func listedTools(t *testing.T) []json.RawMessage {
	t.Helper()
	reply, err := json.Marshal(new(Service).MCP().HandleMessage(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	if err := json.Unmarshal(reply, &list); err != nil {
		t.Fatal(err)
	}
	return list.Result.Tools
}

// Every model reads the tools before its first word: they are a golden file, so
// that a change is seen, and have a ceiling, so that they stay cheap.
func TestToolsList(t *testing.T) {
	const most, mostTogether = 380, 1600
	var file bytes.Buffer
	total := 0
	for _, tool := range listedTools(t) {
		n, err := contextpack.Count(contextpack.Encodings[0], string(tool))
		if err != nil {
			t.Fatal(err)
		}
		if n > most {
			t.Errorf("a tool has %d tokens, more than %d: %s", n, most, tool)
		}
		total += n
		if err := json.Indent(&file, tool, "", "  "); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&file, "\n%d tokens\n\n", n)
	}
	if total > mostTogether {
		t.Errorf("the tools have %d tokens, more than %d", total, mostTogether)
	}
	fmt.Fprintf(&file, "%d tokens together\n", total)
	golden(t, "testdata/tools.golden", file.Bytes())
}

// Words that scanners of tool descriptions take for an attempt to steer a model.
var steering = regexp.MustCompile(`(?i)\b(important|ignore|override|must always|always call|call this first|before anything)\b`)

func TestToolsLint(t *testing.T) {
	tools := listedTools(t)
	if len(tools) != len(mcpTools) {
		t.Fatalf("%d tools are listed, want %d", len(tools), len(mcpTools))
	}
	for _, raw := range tools {
		var tool struct {
			Name, Description string
			InputSchema       struct {
				Type       string
				Properties map[string]map[string]any
				Required   []string
			}
			OutputSchema any
			Annotations  map[string]any
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if steering.Match(raw) {
			t.Errorf("%s: %q sounds like steering", tool.Name, steering.Find(raw))
		}
		if session.Plain(string(raw)) != string(raw) {
			t.Errorf("%s holds invisible characters", tool.Name)
		}
		if bytes.Contains(raw, []byte("null")) {
			t.Errorf("%s holds null, which strict clients refuse: %s", tool.Name, raw)
		}
		if tool.OutputSchema != nil {
			t.Errorf("%s promises structured content, which hides the text", tool.Name)
		}
		if tool.InputSchema.Type != "object" || len(tool.Description) == 0 || len(tool.Description) > 2048 {
			t.Errorf("%s: schema type %q, description of %d bytes", tool.Name, tool.InputSchema.Type, len(tool.Description))
		}
		for name, p := range tool.InputSchema.Properties {
			kind, ok := p["type"].(string)
			if !ok || !strings.Contains("string integer boolean array", kind) {
				t.Errorf("%s: %s has type %v", tool.Name, name, p["type"])
			}
			if items, _ := p["items"].(map[string]any); kind == "array" && items["type"] != "string" {
				t.Errorf("%s: %s has items %v", tool.Name, name, p["items"])
			}
		}
		for _, name := range tool.InputSchema.Required {
			if tool.InputSchema.Properties[name] == nil {
				t.Errorf("%s requires %s, which it does not have", tool.Name, name)
			}
		}
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool.Annotations[hint].(bool); !ok {
				t.Errorf("%s: %s is not set", tool.Name, hint)
			}
		}
		if got, want := tool.Annotations["readOnlyHint"], tool.Name != "publish_session"; got != want {
			t.Errorf("%s: readOnlyHint is %v", tool.Name, got)
		}
	}
}
