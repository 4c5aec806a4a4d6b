package harness

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// codexInput is what a call was given: as text for people, and what it would touch.
type codexInput struct {
	text   string
	dir    string   // the call's own working folder, where given
	patch  []string // files in apply_patch envelopes
	shell  []string // files a shell script writes
	path   string   // the "path" argument
	script bool     // code mode: text is JavaScript that calls tools
}

// codexCustomInput takes the free text of a custom tool.
func codexCustomInput(name, input string) codexInput {
	c := codexInput{text: input, script: name == "exec", patch: codexPatchFiles(input)}
	if c.script {
		for _, m := range codexScriptCommand.FindAllStringSubmatch(input, -1) {
			c.shell = append(c.shell, shellWrites(codexUnquoteJS(m[1]))...)
		}
	}
	return c
}

// codexScriptCommand finds the shell commands in a code-mode script, as literals.
var codexScriptCommand = regexp.MustCompile("(?s)\\b(?:cmd|command)\"?\\s*:\\s*(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\$]|\\\\.)*`)")

// codexUnquoteJS reads a string literal of any of JavaScript's quotes.
func codexUnquoteJS(s string) string {
	var b strings.Builder
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r', '\n':
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// functionInput takes the arguments of a function: JSON in a string, or an object.
func (p *codexParser) functionInput(name string, raw gjson.Result) codexInput {
	args := raw
	if raw.Type == gjson.String {
		if args = gjson.Parse(raw.Str); !args.IsObject() || !validJSON(raw.Str) {
			return codexInput{text: raw.Str, patch: codexPatchFiles(raw.Str)}
		}
	}
	c := codexInput{text: "", dir: codexPath(args.Get("workdir").Str), path: args.Get("path").Str}
	command := args.Get("command")
	if !command.Exists() {
		command = args.Get("cmd")
	}
	switch {
	case command.Exists() && name != "apply_patch":
		run := codexCommand(command)
		c.text, c.patch, c.shell = run.text, run.patch, run.shell
		if c.dir != "" && c.dir != p.cwd {
			c.text += "\nworkdir: " + c.dir
		}
		if why := args.Get("justification").Str; why != "" {
			c.text += "\njustification: " + why
		}
	case name == "apply_patch":
		c.text = cmp.Or(args.Get("input").Str, args.Get("patch").Str)
		if c.text == "" {
			c.text = codexCommand(command).text
		}
		c.patch = codexPatchFiles(c.text)
	case name == "update_plan" && args.Get("plan").IsArray():
		c.text = codexPlan(args)
	default:
		c.text = RenderInput(args)
	}
	return c
}

// codexCommand takes a command: a script, or an argument vector of a shell with a
// script, of apply_patch, or of any other program.
func codexCommand(command gjson.Result) codexInput {
	if !command.IsArray() {
		script := command.String()
		return codexInput{text: script, patch: codexPatchFiles(script), shell: shellWrites(script)}
	}
	var argv []string
	for _, a := range command.Array() {
		argv = append(argv, a.String())
	}
	if len(argv) >= 3 && codexShells[strings.TrimSuffix(path.Base(strings.ReplaceAll(argv[0], `\`, "/")), ".exe")] {
		script := argv[len(argv)-1]
		return codexInput{text: script, patch: codexPatchFiles(script), shell: shellWrites(script)}
	}
	if len(argv) == 2 && (argv[0] == "apply_patch" || argv[0] == "applypatch") {
		return codexInput{text: argv[1], patch: codexPatchFiles(argv[1])}
	}
	for i, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\n\"'`$&|;<>()*?\\") {
			argv[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	script := strings.Join(argv, " ")
	return codexInput{text: script, patch: codexPatchFiles(script), shell: shellWrites(script)}
}

var codexShells = map[string]bool{"bash": true, "sh": true, "zsh": true, "dash": true, "fish": true, "pwsh": true, "powershell": true, "cmd": true}

func codexPlan(args gjson.Result) string {
	var b strings.Builder
	if why := args.Get("explanation").Str; why != "" {
		b.WriteString(why + "\n")
	}
	args.Get("plan").ForEach(func(_, step gjson.Result) bool {
		b.WriteString("[" + step.Get("status").Str + "] " + step.Get("step").Str + "\n")
		return true
	})
	return strings.TrimSuffix(b.String(), "\n")
}

// codexPatchFiles lists the files named in the apply_patch envelopes in text, where
// a patch stands as itself, in a here-document, or in a literal of JSON or JavaScript
// with its line ends escaped.
func codexPatchFiles(text string) []string {
	var files []string
	for {
		_, rest, ok := strings.Cut(text, "*** Begin Patch")
		if !ok {
			return files
		}
		patch, after, _ := strings.Cut(rest, "*** End Patch")
		text = after
		if strings.HasPrefix(patch, `\n`) || strings.HasPrefix(patch, `\r\n`) {
			patch = codexUnquoteJS(`"` + patch + `"`)
		}
		for line := range strings.SplitSeq(patch, "\n") {
			for _, verb := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
				if name, ok := strings.CutPrefix(line, verb); ok {
					files = appendNew(files, strings.TrimSpace(name))
				}
			}
		}
	}
}

// codexOut is a call's result.
type codexOut struct {
	text    string
	failed  bool
	refused bool // it did not run, so it changed nothing
}

// codexResult reads the output of an item, whose form changed often: a string, an
// array of parts, an object with "content" and "success", or a list of tools found.
func codexResult(r gjson.Result) codexOut {
	if tools := r.Get("tools"); tools.IsArray() {
		return codexOut{text: codexToolNames(tools)}
	}
	out := r.Get("output")
	var o codexOut
	switch {
	case out.IsObject():
		texts, _ := codexParts(out.Get("content"))
		o = codexOutput(cmp.Or(codexJoined(texts), out.Get("body").String()))
		o.failed = o.failed || out.Get("success").Type == gjson.False
	case out.IsArray():
		texts, _ := codexParts(out)
		o = codexOutput(codexJoined(texts))
	default:
		o = codexOutput(out.String())
	}
	o.failed = o.failed || r.Get("success").Type == gjson.False
	return o
}

func codexToolNames(tools gjson.Result) string {
	var names []string
	tools.ForEach(func(_, t gjson.Result) bool {
		name := t.Get("name").Str
		inner := t.Get("tools")
		if !inner.IsArray() {
			names = append(names, name)
		}
		inner.ForEach(func(_, t gjson.Result) bool {
			names = append(names, name+"."+t.Get("name").Str)
			return true
		})
		return true
	})
	return strings.Join(names, "\n")
}

// codexOutput reads an output's text: JSON of a command with its exit code, MCP
// content, or text under a header that the harness wrote for the model.
func codexOutput(s string) codexOut {
	switch {
	case strings.HasPrefix(s, `{"output"`) || strings.HasPrefix(s, `{"metadata"`):
		if validJSON(s) {
			r := gjson.Parse(s)
			return codexOut{text: r.Get("output").String(), failed: r.Get("metadata.exit_code").Int() != 0}
		}
	case (strings.HasPrefix(s, `[{`) || strings.HasPrefix(s, `{"content":[`)) && validJSON(s):
		r := gjson.Parse(s)
		list := r
		if r.IsObject() {
			list = r.Get("content")
		}
		if texts, _ := codexParts(list); len(texts) > 0 {
			return codexOut{text: codexJoined(texts), failed: r.Get("isError").Bool()}
		}
	}
	o := codexOut{text: s}
	code, body, ok := codexHeaderLines(s)
	if ok {
		o.text = body
		o.failed = code != 0
	}
	if codexRefusal(s) {
		o.failed, o.refused = true, true
	}
	return o
}

// codexHeaderLines takes off the header of an output, "Exit code: 0\nWall time: …\n
// Output:\n", and of the output inside where one tool wraps another's. It keeps what
// is news: that a process still runs.
func codexHeaderLines(s string) (code int, body string, ok bool) {
	var news string
	body = s
	for range 3 {
		rest, found := body, false
		for !found {
			line, after, more := strings.Cut(rest, "\n")
			switch {
			case line == "Output:":
				found = true
			case strings.HasPrefix(line, "Exit code: "):
				code = codexExit(code, line[len("Exit code: "):])
			case strings.HasPrefix(line, "Process exited with code "):
				code = codexExit(code, line[len("Process exited with code "):])
			case line == "Script failed":
				code = codexExit(code, "1")
			case strings.HasPrefix(line, "Process running with session ID"), strings.HasPrefix(line, "Script running with cell ID"):
				news = line + "\n"
			case strings.HasPrefix(line, "Chunk ID: "), strings.HasPrefix(line, "Wall time"), strings.HasPrefix(line, "Duration: "), line == "Script completed",
				strings.HasPrefix(line, "Original token count: "), strings.HasPrefix(line, "Total output lines: "):
			default:
				return code, news + body, ok
			}
			if !more && !found {
				return code, news + body, ok
			}
			rest = after
		}
		body, ok = rest, true
	}
	return code, news + body, ok
}

func codexExit(before int, s string) int {
	if n, err := strconv.Atoi(strings.TrimSpace(s)); err == nil && n != 0 {
		return n
	}
	return before
}

// codexRefusal knows the short messages that stand for an output when a call did
// not run or was cut off.
func codexRefusal(s string) bool {
	if len(s) > 64<<10 {
		return false
	}
	for _, prefix := range codexRefusals {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	s = strings.TrimSpace(s)
	return len(s) < 200 && (s == "aborted" || strings.HasSuffix(s, "aborted by user") || strings.HasSuffix(s, "rejected by user"))
}

var codexRefusals = []string{
	"apply_patch verification failed", "failed in sandbox", "exec_command failed", "exec command rejected", "execution error",
	"unsupported call", "unsupported custom tool call", "failed to parse", "write_stdin failed", "patch rejected",
	"user rejected", "user cancelled", "tool call error", "collab spawn failed", "aborted by user",
}
