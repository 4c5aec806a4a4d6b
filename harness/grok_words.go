package harness

import "strings"

// grokWrappers are the elements that Grok puts around or before a person's words.
var grokWrappers = words(`user_info project_layout git_status fork-context resume-context
	system-reminder system_reminder agent-memory memory-context background_context environment_context rules
	project_instructions task-notification subagent-notification`)

// grokTyped is what a person typed of a message in their name, or "". The words
// stand in <user_query> where anything is put around them.
func grokTyped(text string) string {
	s := strings.TrimSpace(text)
	if _, rest, ok := strings.Cut(s, "<user_query>"); ok {
		if end := strings.LastIndex(rest, "</user_query>"); end >= 0 {
			rest = rest[:end]
		}
		s = strings.TrimSpace(rest)
	}
	command := ""
	for {
		name, inner, rest, ok := leadingElement(s)
		if !ok {
			break
		}
		switch {
		case name == "command-name":
			command = "/" + strings.TrimPrefix(strings.TrimSpace(inner), "/") + command
		case name == "command-args":
			if args := strings.TrimSpace(inner); args != "" {
				command += " " + args
			}
		case grokWrappers[name], name == "command-message":
		case rest == "" && strings.ContainsAny(name, "-_"):
			// One element and nothing else, named as Grok names its own: nobody
			// types that.
		default:
			return strings.TrimSpace(command + "\n" + cutTrailingReminders(s))
		}
		s = rest
	}
	return strings.TrimSpace(command + "\n" + cutTrailingReminders(s))
}
