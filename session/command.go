package session

import "strings"

// What stands beside the command in the arguments of the tools that run one.
var commandArguments = map[string]bool{
	"description": true, "timeout": true, "timeout_ms": true, "workdir": true, "cwd": true, "directory": true, "dir_path": true,
	"justification": true, "explanation": true, "login": true, "shell": true, "tty": true, "run_in_background": true,
	"is_background": true, "background": true, "sandbox_permissions": true, "with_escalated_permissions": true,
	"dangerouslyDisableSandbox": true, "yield_time_ms": true, "max_output_tokens": true, "prefix_rule": true,
}

// Command is the shell command in a tool turn's Input: the value of its argument
// "command" or "cmd" where the input shows several arguments as "name: value"
// lines, else the input itself; without the arguments that follow. It is "" where
// there are other arguments only.
func Command(input string) string {
	for rest := input; rest != ""; {
		name, value, ok := argument(rest)
		switch {
		case ok && (name == "command" || name == "cmd"):
			return beforeArguments(value)
		case !ok || !commandArguments[name]:
			return beforeArguments(rest)
		}
		_, rest, _ = strings.Cut(value, "\n")
	}
	return ""
}

// beforeArguments is the script that s begins with, up to the first line that is
// one of the tool's other arguments.
func beforeArguments(s string) string {
	for i := 0; ; i++ {
		at := strings.IndexByte(s[i:], '\n')
		if at < 0 {
			return s
		}
		i += at
		if name, _, ok := argument(s[i+1:]); ok && commandArguments[name] {
			return s[:i]
		}
	}
}

// argument parts "name: value", where s begins with a name as tools give to arguments.
func argument(s string) (name, value string, ok bool) {
	const longest = 40
	at := strings.Index(s[:min(len(s), longest)], ": ")
	if at < 0 || strings.ContainsAny(s[:at], " \t\n") {
		return "", "", false
	}
	return s[:at], s[at+len(": "):], true
}
