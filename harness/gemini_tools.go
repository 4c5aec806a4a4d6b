package harness

import (
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// geminiToolCall is the turn of a finished call, which stands with its result.
func geminiToolCall(call gjson.Result, at time.Time) session.Turn {
	t := geminiCall(contentCall{id: call.Get("id").String(), tool: call.Get("name").String(), input: call.Get("args")}, at)
	if done := isoTime(call.Get("timestamp").Str); !done.IsZero() {
		t.Time = done
	}
	result := call.Get("result")
	if result.IsArray() {
		result = geminiOwnResults(result, t.Ref)
	}
	out, failed := geminiOutput(result)
	if shown := call.Get("resultDisplay"); out == "" && shown.Type == gjson.String {
		out = shown.Str
	}
	status := call.Get("status").Str
	t.Failed = failed || status == "error" || status == "cancelled" || geminiRuns[t.Tool] && geminiExit(out)
	t.Output = keep(out)
	if diff := call.Get("resultDisplay"); len(t.Edits) > 0 && diff.Get("fileDiff").Exists() && strings.HasPrefix(diff.Get("filePath").String(), "/") {
		t.Edits = []string{keep(diff.Get("filePath").String())} // the whole path
	}
	geminiSettle(&t)
	return t
}

// geminiCall is the turn of a call as the model made it.
func geminiCall(call contentCall, at time.Time) session.Turn {
	t := session.Turn{
		Role:  session.Tool,
		Time:  at,
		Ref:   keep(call.id),
		Tool:  keep(call.tool),
		Input: keep(geminiInput(call.tool, call.input)),
	}
	t.Edits, t.Reads = geminiTouched(t.Tool, call.input)
	return t
}

// geminiRuns are the tools that run a command in a shell.
var geminiRuns = words("run_shell_command")

func geminiInput(tool string, args gjson.Result) string {
	args = compact(args)
	command := args.Get("command")
	if !geminiRuns[tool] || command.Type != gjson.String {
		return RenderInput(args)
	}
	text := command.Str
	for _, key := range []string{"dir_path", "directory", "description"} {
		if v := args.Get(key).String(); v != "" {
			text += "\n" + key + ": " + v
		}
	}
	return text
}

// geminiTouched lists the paths that a call writes and those it only reads.
func geminiTouched(tool string, args gjson.Result) (edits, reads []string) {
	switch tool {
	case "write_file", "replace", "edit":
		edits = geminiPaths(args, "file_path", "absolute_path", "path")
	case "read_file":
		reads = geminiPaths(args, "file_path", "absolute_path", "path")
	case "read_many_files":
		reads = geminiPaths(args, "include", "paths")
	case "run_shell_command":
		dir := args.Get("dir_path").String() + args.Get("directory").String()
		for _, p := range shellWrites(args.Get("command").String()) {
			edits = append(edits, pathIn(dir, p))
		}
	}
	return edits, reads
}

// geminiPaths are the paths under the first of keys that is there; patterns are none.
func geminiPaths(args gjson.Result, keys ...string) (paths []string) {
	for _, key := range keys {
		v := args.Get(key)
		for _, p := range v.Array() {
			if p.Type == gjson.String && p.Str != "" && !strings.ContainsAny(p.Str, "*?{[\n") {
				paths = appendNew(paths, keep(p.Str))
			}
		}
		if v.Exists() {
			break
		}
	}
	return paths
}

// geminiSettle drops the files of a call that failed: it did not change or show them.
func geminiSettle(t *session.Turn) {
	if t.Failed {
		t.Edits, t.Reads = nil, nil
	}
}

// geminiOwnResults picks, from the results of several calls that were sent back in
// one message, those of one call.
func geminiOwnResults(all gjson.Result, id string) gjson.Result {
	own := []string{}
	all.ForEach(func(_, part gjson.Result) bool {
		if part.Get("functionResponse.id").String() == id {
			own = append(own, part.Raw)
		}
		return true
	})
	if id == "" || len(own) == 0 {
		return all
	}
	return gjson.Parse("[" + strings.Join(own, ",") + "]")
}

// geminiOutput is the text of a result: a list of parts, a function response, or a
// plain string.
func geminiOutput(result gjson.Result) (text string, failed bool) {
	if result.Type == gjson.String {
		return result.Str, false
	}
	var texts []string
	take := func(v gjson.Result) {
		if v.Type == gjson.String {
			texts = append(texts, v.Str)
			return
		}
		response := v.Get("functionResponse.response")
		if !response.Exists() {
			response = v.Get("response")
		}
		switch out, err := response.Get("output"), response.Get("error"); {
		case err.Exists():
			texts, failed = append(texts, err.String()), true
		case out.Exists():
			texts = append(texts, out.String())
		case response.Exists():
			texts = append(texts, RenderInput(response))
		default:
			if t := v.Get("text").String(); t != "" {
				texts = append(texts, t)
			}
		}
	}
	eachOf(result, take)
	for i := range texts {
		if inner, ok := strings.CutPrefix(texts[i], "<untrusted_context>\n"); ok {
			texts[i] = strings.TrimSuffix(inner, "\n</untrusted_context>")
		}
	}
	return joinLines(texts), failed
}

var geminiExitCode = regexp.MustCompile(`(?m)^Exit Code: (-?\d+)$`)

// geminiExit reports whether a shell's output says that the command failed.
func geminiExit(out string) bool {
	all := geminiExitCode.FindAllStringSubmatch(out, -1)
	return len(all) > 0 && all[len(all)-1][1] != "0"
}

// called notes a tool turn for results that come later.
func (p *geminiParser) called(n int, unanswered bool) {
	t := &p.b.turns[n]
	if unanswered {
		p.open[n] = true
	}
	if t.Ref != "" {
		p.calls[t.Ref] = n
	} else if unanswered {
		p.unnamed[t.Tool] = append(p.unnamed[t.Tool], n)
	}
}

// repeated reports whether a call has a turn already: a history that was passed on
// repeats them. What this one knows more is taken over.
func (p *geminiParser) repeated(t session.Turn) bool {
	n, ok := p.calls[t.Ref]
	if !ok {
		return false
	}
	was := &p.b.turns[n]
	if was.Tool != t.Tool || was.Input != t.Input {
		return false
	}
	if was.Output == "" && t.Output != "" {
		was.Output, was.Failed, was.Edits, was.Reads = t.Output, t.Failed, t.Edits, t.Reads
		delete(p.open, n)
	}
	return true
}

// answer gives a call its result, where that came in a message of its own. Where
// calls have no ids, results come in their order.
func (p *geminiParser) answer(r contentResult) {
	n, ok := p.calls[r.id]
	if waiting := p.unnamed[r.tool]; !ok && len(waiting) > 0 {
		n, ok = waiting[0], true
		p.unnamed[r.tool] = waiting[1:]
	}
	if !ok {
		return
	}
	t := &p.b.turns[n]
	delete(p.open, n)
	if t.Output != "" && !strings.Contains(t.Output, geminiMasked) {
		return
	}
	if r.output != "" {
		t.Output = r.output
	}
	t.Failed = t.Failed || r.failed || geminiRuns[t.Tool] && geminiExit(r.output)
	geminiSettle(t)
}
