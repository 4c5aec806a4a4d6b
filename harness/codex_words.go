package harness

import (
	"strings"
)

// codexInjected begin text that Codex gives the model in the person's name, in
// lower case. A message with one such part is injected as a whole.
var codexInjected = []string{
	"# agents.md instructions for ",
	"<user_instructions>",
	"<environment_context>",
	"<turn_aborted>",
	"<subagent_notification>",
	"<skill>",
	"<codex_internal_context",
	"<goal_context>",
	"<recommended_plugins>",
	"<external_",
	"<hook_prompt",
	"<user_action>",
	"<permissions instructions>",
	"<collaboration_mode>",
	"<model_switch>",
	"<personality_spec>",
	"warning: apply_patch was requested via",
	"warning: the maximum number of unified exec processes",
	"warning: your account was flagged",
	"another language model started to solve this problem",
	"you are performing a context checkpoint compaction",
	"you were originally given instructions from a user over one or more turns",
}

// codexIsInjected reports whether text is one of the known injected kinds.
func codexIsInjected(text string) bool {
	text = strings.TrimSpace(text)
	for _, prefix := range codexInjected {
		if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

// codexRequest marks where a person's words begin when an editor put what it shows
// before them.
const codexRequest = "## My request for Codex:"

// codexTyped strips what editors put around a person's words.
func codexTyped(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		if _, words, ok := strings.Cut(text, codexRequest); ok {
			text = strings.TrimSpace(words)
		}
	}
	return text
}

// codexIsImageLabel knows the tags around an attached image.
func codexIsImageLabel(text string) bool {
	text = strings.TrimSpace(text)
	return text == "</image>" || strings.HasPrefix(text, "<image") && strings.HasSuffix(text, ">") &&
		!strings.Contains(text, "\n") && strings.Count(text, "<") == 1
}

// codexContextDir finds the working folder in an environment context: an element
// since mid 2025, a line of prose before.
func codexContextDir(text string) string {
	if d := strings.TrimSpace(element(text, "cwd")); d != "" {
		return d
	}
	if _, rest, ok := strings.Cut(text, "Current working directory:"); ok {
		d, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(d)
	}
	return ""
}

// codexHandOff ends the sentence with which a compaction's summary is handed to
// the model that goes on.
const codexHandOff = "to assist with your own analysis:"

// codexSummary is a compaction's summary without that sentence.
func codexSummary(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "Another language model started") {
		if i := strings.Index(text, codexHandOff); i >= 0 && i < 1000 {
			text = strings.TrimSpace(text[i+len(codexHandOff):])
		}
	}
	return text
}
