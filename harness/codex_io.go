package harness

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// codexInput is what a call was given: as text for people, and what it would touch.
type codexInput struct {
	commandLine
	dir    string // the call's own working folder, where given
	path   string // the "path" argument
	script bool   // code mode: text is JavaScript that calls tools
}

// codexCustomInput takes the free text of a custom tool.
func codexCustomInput(name, input string) codexInput {
	c := codexInput{commandLine: commandLine{text: input, patch: patchFiles(input)}, script: name == "exec"}
	if c.script {
		for _, m := range codexScriptCommand.FindAllStringSubmatch(input, -1) {
			c.shell = append(c.shell, shellWrites(unquoteJS(m[1]))...)
		}
	}
	return c
}

// codexScriptCommand finds the shell commands in a code-mode script, as literals.
var codexScriptCommand = regexp.MustCompile("(?s)\\b(?:cmd|command)\"?\\s*:\\s*(\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\$]|\\\\.)*`)")

// functionInput takes the arguments of a function: JSON in a string, or an object.
func (p *codexParser) functionInput(name string, raw gjson.Result) codexInput {
	args := unquoted(raw)
	if args.Type == gjson.String {
		return codexInput{commandLine: commandLine{text: args.Str, patch: patchFiles(args.Str)}}
	}
	c := codexInput{dir: localPath(args.Get("workdir").Str), path: args.Get("path").Str}
	command := args.Get("command")
	if !command.Exists() {
		command = args.Get("cmd")
	}
	switch {
	case command.Exists() && name != "apply_patch":
		c.commandLine = readCommand(command)
		if c.dir != "" && c.dir != p.cwd {
			c.text += "\nworkdir: " + c.dir
		}
		if why := args.Get("justification").Str; why != "" {
			c.text += "\njustification: " + why
		}
	case name == "apply_patch":
		c.text = cmp.Or(args.Get("input").Str, args.Get("patch").Str)
		if c.text == "" {
			c.text = readCommand(command).text
		}
		c.patch = patchFiles(c.text)
	case name == "update_plan" && args.Get("plan").IsArray():
		c.text = codexPlan(args)
	default:
		c.text = RenderInput(args)
	}
	return c
}

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
		texts, _ := textParts(out.Get("content"))
		o = codexOutput(cmp.Or(joinLines(texts), out.Get("body").String()))
		o.failed = o.failed || out.Get("success").Type == gjson.False
	case out.IsArray():
		texts, _ := textParts(out)
		o = codexOutput(joinLines(texts))
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
		if texts, _ := textParts(list); len(texts) > 0 {
			return codexOut{text: joinLines(texts), failed: r.Get("isError").Bool()}
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
