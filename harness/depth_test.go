package harness

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Nesting that would overflow the stack of a recursive reader is a line that cannot be
// read, to every harness.
func TestDeepNesting(t *testing.T) {
	deep := []byte(strings.Repeat(`{"a":`, 40_000) + "1" + strings.Repeat("}", 40_000))
	for _, h := range All {
		p := h.New(Source{})
		p.Line(deep)
		meta, turns := p.Finish()
		if h != OpenCode && meta.BadLines != 1 || len(slices.Collect(turns)) != 0 { // OpenCode's passes over what it does not ask for
			t.Errorf("%s: %d bad lines", h.Name, meta.BadLines)
		}
	}
}

// The same in a string that holds JSON: a tool's arguments or its output.
func TestDeepNestingInString(t *testing.T) {
	const levels = 400_000
	defer debug.SetMaxStack(debug.SetMaxStack(16 << 20)) // a reader that recurses ends the process
	deep := `{\"a\":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	for h, lines := range map[*Harness][]string{
		CodexCLI: {
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call","name":"f","call_id":"c","arguments":"` + deep + `"}}`,
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"{\"output\":` + deep[6:] + `"}}`,
		},
		GrokBuild: {`{"type":"assistant","content":"x","model_id":"m","tool_calls":[{"id":"c","name":"f","arguments":"` + deep + `"}]}`},
		Unknown:   {`{"role":"assistant","content":"x","tool_calls":[{"id":"c","function":{"name":"f","arguments":"` + deep + `"}}]}`},
	} {
		p := h.New(Source{})
		for _, line := range lines {
			p.Line([]byte(line))
		}
		if meta, _ := p.Finish(); meta.Turns.Tool != 1 {
			t.Errorf("%s: %+v", h.Name, meta.Turns)
		}
	}
}
