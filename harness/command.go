package harness

import (
	"strings"

	"github.com/tidwall/gjson"
)

// A commandLine is a command that a tool ran: as text for people, and the files that it
// would touch, by the folder it runs in.
type commandLine struct {
	text  string
	patch []string // files in apply_patch envelopes
	shell []string // files that it writes as a shell script
}

// scriptOf is the command line of a script.
func scriptOf(script string) commandLine {
	return commandLine{text: script, patch: patchFiles(script), shell: shellWrites(script)}
}

// readCommand takes a command: a script, or an argument vector of a shell with a
// script, of apply_patch, or of any other program.
func readCommand(command gjson.Result) commandLine {
	if !command.IsArray() {
		return scriptOf(command.String())
	}
	var argv []string
	for _, a := range command.Array() {
		argv = append(argv, a.String())
	}
	if len(argv) >= 3 && shells[strings.TrimSuffix(baseName(argv[0]), ".exe")] {
		return scriptOf(argv[len(argv)-1])
	}
	if len(argv) == 2 && (argv[0] == "apply_patch" || argv[0] == "applypatch") {
		return commandLine{text: argv[1], patch: patchFiles(argv[1])}
	}
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n\"'`$&|;<>()*?\\") {
			argv[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return scriptOf(strings.Join(argv, " "))
}

// shells are the programs that take a script as their last argument.
var shells = words("bash sh zsh dash fish pwsh powershell cmd")
