package contextpack

import (
	"fmt"
	"strings"
	"time"

	"sessdex/session"
)

// A piece of a pack that counts for itself: it ends in a newline and begins with
// a "[", which the encodings never join to a newline before it.
type segment struct {
	text   string
	tokens int
}

// An item is one turn that could be shown. Its text is ready for the pack: head
// line, then body, which is empty for tool stubs and otherwise ends in a newline.
type item struct {
	n       int
	head    string
	body    string
	tool    bool
	removed int    // characters and sequences that clean took out
	ruler   *ruler // of head and body together: the body may begin with what a newline is joined to
}

// newItem renders turn t, and reports false where there is nothing to show of it.
// The focus, the turn that was asked for by its number, is shown whatever it is.
func newItem(t *session.Turn, tools, focus bool) (*item, bool) {
	switch {
	case focus:
	case t.Undone, t.Role == session.Tool && !tools:
		return nil, false
	}
	it := &item{n: t.N, tool: t.Role == session.Tool}
	undone := ""
	if t.Undone {
		undone = ", undone later"
	}
	if it.tool {
		it.head = fmt.Sprintf("[turn %d%s] %s\n", t.N, undone, Stub(t))
		if focus {
			it.setBody(strings.TrimRight(t.Input, " \t\r\n") + "\n" + t.Output)
		}
		return it, true
	}
	who := oneLine(string(t.Role), 20)
	if t.Role == session.Summary {
		who = "compaction summary, written by a model"
	}
	it.head = fmt.Sprintf("[turn %d %s%s%s]\n", t.N, who, stamp(t.Time), undone)
	it.setBody(t.Text)
	return it, it.body != "" || focus
}

func (it *item) setBody(text string) {
	text, it.removed = clean(text)
	text = strings.TrimRight(text, " \t\n")
	for line, rest, ok := strings.Cut(text, "\n"); ok && strings.TrimSpace(line) == ""; line, rest, ok = strings.Cut(text, "\n") {
		text = rest
	}
	if text != "" {
		it.body = escapeFrame(breakRuns(text)) + "\n"
	}
}

// stamp is a turn's time, short: the year stands in the header.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(" 01-02 15:04")
}

// stubRunes is the length of a stub.
const stubRunes = 200

// tellingKeys name the arguments that say most about a tool call, best first.
var tellingKeys = []string{"command", "cmd", "file_path", "path", "pattern", "query", "url", "prompt", "description"}

// Stub is a tool turn in one line of at most 200 characters, without control or
// invisible characters: "tool Bash: go test ./... (failed)".
func Stub(t *session.Turn) string {
	name := oneLine(t.Tool, 60)
	if name == "" {
		name = "call"
	}
	failed := ""
	if t.Failed {
		failed = " (failed)"
	}
	stub := "tool " + name
	if what := oneLine(gist(t), stubRunes-len([]rune(stub))-len(": ")-len(failed)); what != "" {
		stub += ": " + what
	}
	return stub + failed
}

// gist is what a tool call was about: its most telling argument, else all of
// them, else the files it touched.
func gist(t *session.Turn) string {
	const enough = 4096 // bytes that can matter for one line
	input := t.Input[:min(len(t.Input), enough)]
	for _, key := range tellingKeys {
		for line := range strings.Lines(input) {
			if value, ok := strings.CutPrefix(line, key+": "); ok && strings.TrimSpace(value) != "" {
				return value
			}
		}
	}
	if strings.TrimSpace(input) == "" {
		input = strings.Join(session.Unique(t.Edits, t.Reads), " ")
	}
	return input[:min(len(input), enough)]
}

// gapLine says which turns are missing, and how many of those could be shown.
func gapLine(e Elided, exact bool) string {
	about, s := "", "s"
	if !exact {
		about = "about "
	}
	if e.Turns == 1 {
		s = ""
	}
	which := fmt.Sprintf("%d-%d", e.From, e.To)
	if e.From == e.To {
		which = fmt.Sprint(e.From)
	}
	return fmt.Sprintf("[gap: %s%d turn%s not shown, in %s]\n", about, e.Turns, s, which)
}
