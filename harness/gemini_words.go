package harness

import (
	"regexp"
	"strings"
)

// geminiInjected begin a part of a message that the harness wrote in the person's
// name.
var geminiInjected = []string{
	"<session_context>",
	"<hook_context>",
	"This is the Gemini CLI. We are setting up the context for our chat",
	"Here is the user's editor context as",
	"Here is a summary of changes in the user's editor context",
	"- **Workspace Directories:**",
	"I'm currently working in the director",
	"I'm currently working in the following director",
	"Background execution update:\n<background_output>",
	"User has manually exited Plan Mode. Switching to ",
	"System: Please continue.",
	"System: Potential loop detected.",
}

// geminiGoOn is what newer versions say in the person's name where the model
// stopped too early. People say it too.
const geminiGoOn = "Please continue."

// geminiAnswers are said in the model's name, to what the harness said in the
// person's.
var geminiAnswers = map[string]bool{
	"Got it. Thanks for the context!":            true,
	"Got it. Thanks for the additional context!": true,
}

// A geminiSaid is what a person typed: as one text, and by the parts it stood in.
type geminiSaid struct {
	text  string
	parts []string
	reads []string // files whose content was put behind the words
}

// geminiTyped takes away what the harness put around a person's words: context,
// and the content of the files that they mention.
func geminiTyped(texts []string) geminiSaid {
	var kept []string
	for _, text := range texts {
		if words, ok := geminiSteering(text); ok {
			kept = append(kept, words)
		} else if !geminiIsInjected(text, len(texts) > 1) {
			kept = append(kept, text)
		}
	}
	var s geminiSaid
	text := withoutElement(strings.Join(kept, ""), "session_context")
	text, s.reads = geminiWithoutFiles(withoutElement(text, "hook_context"))
	s.text = strings.TrimSpace(text)
	for _, part := range kept {
		if part = strings.TrimSpace(part); part != "" {
			s.parts = append(s.parts, keep(part))
		}
	}
	return s
}

// geminiIsInjected reports whether a part is the harness's. Beside other parts, one
// that is nothing but an element is: a sub-agent is told its project's rules so.
func geminiIsInjected(text string, among bool) bool {
	text = strings.TrimSpace(text)
	for _, prefix := range geminiInjected {
		if strings.HasPrefix(text, prefix) {
			// An element may have words behind it.
			return prefix[0] != '<' || strings.Count(text, prefix) == 1 && strings.HasSuffix(text, "</"+prefix[1:])
		}
	}
	return among && isOnlyElement(text)
}

// geminiSteering finds the words of a person who cut in while the model worked.
func geminiSteering(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "User steering update:\n<user_input>") && !strings.HasPrefix(text, "User hints:\n<user_input>") {
		return "", false
	}
	return strings.TrimSpace(element(text, "user_input")), true
}

const (
	geminiFilesBegin = "--- Content from referenced files ---"
	geminiFilesEnd   = "--- End of content ---"
)

// geminiWithoutFiles cuts the content of mentioned files, and lists these.
func geminiWithoutFiles(text string) (string, []string) {
	var reads []string
	for {
		before, rest, ok := strings.Cut(text, geminiFilesBegin)
		if !ok {
			return text, reads
		}
		block, after, _ := strings.Cut(rest, geminiFilesEnd)
		for _, m := range geminiMentioned.FindAllStringSubmatch(block, -1) {
			reads = appendNew(reads, keep(m[1]))
		}
		text = strings.TrimRight(before, "\n") + after
	}
}

var geminiMentioned = regexp.MustCompile(`(?m)^Content from @(.+):$`)

// geminiIsCommand reports whether words are a command to the harness or a question
// about it, which are no request. A path is none.
func geminiIsCommand(text string) bool {
	if strings.HasPrefix(text, "?") {
		return true
	}
	name, ok := strings.CutPrefix(text, "/")
	if !ok {
		return false
	}
	if i := strings.IndexAny(name, " \t\n"); i >= 0 {
		name = name[:i]
	}
	return name != "" && !strings.ContainsAny(name, "/.*")
}

// geminiSummary is a compression's summary, without what the model thought first,
// or "".
func geminiSummary(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	_, inside, ok := strings.Cut(text, "<state_snapshot>")
	inside, _, closed := strings.Cut(inside, "</state_snapshot>")
	if !ok || !closed {
		return ""
	}
	return strings.TrimSpace(inside)
}

// geminiShellMode finds a command that the person ran in the harness's shell mode,
// "!cmd", and what it printed.
func geminiShellMode(text string) (cmd, out string, ok bool) {
	rest, ok := strings.CutPrefix(text, "I ran the following shell command:\n```sh\n")
	if !ok {
		return "", "", false
	}
	cmd, out, ok = strings.Cut(rest, "\n```\n\nThis produced the following result:\n```\n")
	out = strings.TrimSuffix(out, "\n```")
	plain := strings.NewReplacer("\\\\", "\\", "\\`", "`")
	return keep(plain.Replace(cmd)), keep(plain.Replace(out)), ok
}

// geminiToldDirs are the working folders in what the model is told at the start,
// as a list or in a sentence.
func geminiToldDirs(text string) []string {
	m := geminiDirsHeading.FindStringIndex(text)
	if m == nil {
		return nil
	}
	line, rest, _ := strings.Cut(text[m[1]:], "\n")
	if dir := strings.TrimSpace(line); dir != "" {
		return []string{keep(dir)}
	}
	var dirs []string
	for line := range strings.SplitSeq(rest, "\n") {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok || strings.HasPrefix(dir, "**") {
			break
		}
		dirs = appendNew(dirs, keep(strings.TrimSpace(dir)))
	}
	return dirs
}

var geminiDirsHeading = regexp.MustCompile(`(?m)^(?:- \*\*Workspace Directories:\*\*|\s*I'm currently working in the (?:following )?director(?:y|ies):)`)
