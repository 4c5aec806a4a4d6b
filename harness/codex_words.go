package harness

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
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

// codexLooksInjected reports whether text is nothing but one element with a name as
// harnesses make them: a kind of context of a later version. People paste elements
// too, so this only counts where nothing else tells who wrote the text.
func codexLooksInjected(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<") {
		return false
	}
	end := strings.IndexAny(text, " >\n")
	if end < 0 {
		return false
	}
	name := text[1:end]
	return strings.ContainsAny(name, "_-") && strings.HasSuffix(text, "</"+name+">")
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

// codexImage stands for a message that is nothing but images.
const codexImage = "[image]"

// codexWithout cuts the <name> elements out of text.
func codexWithout(text, name string) string {
	for {
		before, rest, ok := strings.Cut(text, "<"+name+">")
		if !ok {
			return text
		}
		_, after, _ := strings.Cut(rest, "</"+name+">")
		text = before + after
	}
}

// codexElement is the inside of the first <name> element in text, trimmed.
func codexElement(text, name string) string {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return ""
	}
	inside, _, _ := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inside)
}

// codexContextDir finds the working folder in an environment context: an element
// since mid 2025, a line of prose before.
func codexContextDir(text string) string {
	if d := codexElement(text, "cwd"); d != "" {
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

// codexText keeps a text beyond the line it came from, as valid UTF-8. Without the
// copy a few words could hold on to a line full of images.
func codexText(s string) string {
	if !utf8.ValidString(s) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.Clone(s)
}

// codexParts are the texts of a message's or an output's content: an array of typed
// parts, of which images are counted and not read, or a plain string.
func codexParts(content gjson.Result) (texts []string, images int) {
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

// codexJoined is the parts of an output as one text, each on lines of its own.
func codexJoined(texts []string) string {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 && !strings.HasSuffix(texts[i-1], "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(t)
	}
	return b.String()
}

// codexPath takes a path or a file URI.
func codexPath(s string) string {
	if !strings.HasPrefix(s, "file://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		return strings.TrimPrefix(s, "file://")
	}
	if len(u.Path) > 2 && u.Path[2] == ':' { // /C:/dir
		return u.Path[1:]
	}
	return u.Path
}
