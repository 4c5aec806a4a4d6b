package main

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"sessdex/contextpack"
	"sessdex/harness"
	"sessdex/session"
)

// turnLabel is how a pack begins a turn that was said.
var turnLabel = regexp.MustCompile(`(?m)^\[turn (\d+) (?:user|assistant|summary)\b`)

// What was said in a transcript, by the parser's account.
type transcriptWords struct {
	first  int // the turn of the opening request; else the first that was said
	last   int // the newest turn that was said
	tokens int // of all that was said and not taken back
}

func (w transcriptWords) firstLabel() string { return strconv.Itoa(w.first) }
func (w transcriptWords) lastLabel() string  { return strconv.Itoa(w.last) }

func readTranscript(t *testing.T, card *session.Card) transcriptWords {
	src, err := harness.FileSource(card.SourcePath)
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := harness.ByName(card.Harness).New(src)
	for line, err := range harness.Lines(r) {
		if err == nil {
			p.Line(line)
		}
	}
	var w transcriptWords
	asked := false
	_, turns := p.Finish()
	for turn := range turns {
		if !turn.Words() || turn.Undone || strings.TrimSpace(turn.Text) == "" {
			continue
		}
		if w.first == 0 || turn.Role == session.User && !asked {
			w.first = turn.N
		}
		asked = asked || turn.Role == session.User
		w.last = turn.N
		n, err := contextpack.Count("o200k_base", turn.Text)
		if err != nil {
			t.Fatal(err)
		}
		w.tokens += n
	}
	return w
}

// injected are the beginnings of what harnesses put in a person's name.
var injected = regexp.MustCompile(`^\s*(?:` + strings.Join([]string{
	`<command-(?:name|message|args)>`, `<local-command-`, `Caveat: The messages below`, `<bash-(?:stdout|stderr)>`, `<system-reminder>`,
	`<user-prompt-submit-hook>`, `<task-notification>`, `<ide_`, `\[Request interrupted`, `\[Image: source`, `Base directory for this skill:`,
	`Stop hook feedback:`, `This session is being continued`, `<fork-boilerplate>`, `<teammate-message>`, `<cross-session`,
	`# AGENTS\.md instructions`, `<user_instructions>`, `<environment_context>`, `<turn_aborted>`, `<subagent_notification>`, `<skill>`,
	`<codex_internal_context`, `<goal_context>`, `<recommended_plugins>`, `<external_`, `<hook_prompt`, `<permissions instructions>`,
	`Warning: (?:apply_patch|The maximum number|Your account)`, `Another language model started to solve`,
	`# Context from my IDE setup:`, `# Files mentioned by the user:`, `## Prior conversation with Codex:`, `<image`,
}, "|") + `)`)

// checkOpening holds a session's opening request to what a person typed: it bears
// no mark of injected text, and stands in a record of the person's in the file.
func checkOpening(t *testing.T, card *session.Card) {
	if injected.MatchString(card.Opening) {
		t.Errorf("%s opens with injected text: %.80q", card.SourcePath, card.Opening)
	}
	if card.Opening == "" {
		if card.Turns.User > 0 && !card.Subagent {
			t.Errorf("%s has %d requests and no opening", card.SourcePath, card.Turns.User)
		}
		return
	}
	line := firstWords(card.Opening)
	for _, said := range typed(t, card.SourcePath) {
		if strings.Contains(said, line) || strings.Contains(slashCommand(said), line) {
			return
		}
	}
	t.Errorf("%s: nobody typed %.80q", card.SourcePath, card.Opening)
}

// firstWords is the beginning of a text up to what may have been masked or folded.
func firstWords(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	s, _, _ = strings.Cut(s, "[REDACTED")
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "")
	}
	return strings.TrimSpace(s)
}

var slashPart = regexp.MustCompile(`(?s)<command-(name|args)>(.*?)</command-(?:name|args)>`)

// slashCommand is what a person typed to get a record of a command: /name args.
func slashCommand(record string) string {
	var typed []string
	for _, part := range []string{"name", "args"} {
		for _, m := range slashPart.FindAllStringSubmatch(record, -1) {
			if m[1] == part {
				typed = append(typed, strings.TrimSpace(m[2]))
			}
		}
	}
	return strings.Join(typed, " ")
}

// typed lists the texts that records of the person's hold, read without our
// parsers: both harnesses' formats are JSON values with texts at known places.
func typed(t *testing.T, path string) []string {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".zst") {
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	data, err := io.ReadAll(bufio.NewReader(r))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	if gjson.ValidBytes(data) && gjson.GetBytes(data, "items").IsArray() { // Codex of 2025, one document
		for _, item := range gjson.GetBytes(data, "items").Array() {
			all = append(all, texts(item)...)
		}
		return all
	}
	for line := range strings.Lines(string(data)) {
		record := gjson.Parse(line)
		switch {
		case record.Get("isMeta").Bool() || record.Get("isCompactSummary").Bool():
		case record.Get("payload.type").String() == "user_message":
			all = append(all, record.Get("payload.message").String())
		case record.Get("payload.role").Exists():
			all = append(all, texts(record.Get("payload"))...)
		case record.Get("message.role").Exists():
			all = append(all, texts(record.Get("message"))...)
		case record.Get("attachment.type").String() == "queued_command":
			all = append(all, record.Get("attachment.prompt").String())
		default:
			all = append(all, texts(record)...)
		}
	}
	return all
}

// texts are those of a message of the role user.
func texts(message gjson.Result) []string {
	if message.Get("role").String() != "user" {
		return nil
	}
	content := message.Get("content")
	if !content.IsArray() {
		return []string{content.String()}
	}
	var all []string
	for _, block := range content.Array() {
		all = append(all, block.Get("text").String())
	}
	return all
}
