package session

import (
	"regexp"
	"strings"
	"sync"
)

// A Continuation is what the prompt of a session says that goes on with the work of
// another one, maybe in another harness.
type Continuation struct {
	ID       string // of the earlier session
	Harness  string // its harness
	NativeID string // its harness's id of it
	Title    string // its title, one line
}

// Prompt is the prompt that opens such a session: a header that [Continued] knows
// again, what to do, and the earlier session as a pack. Its text stays out of what
// is indexed as the new session's: search finds it where it was said.
func (c Continuation) Prompt(pack string) string {
	return "[continue session " + c.ID + ": " + c.Harness + " " + c.NativeID + "]\n" +
		"Continue: " + OneLine(c.Title, 120) + "\n\n" +
		"You take over the work of an earlier session, which is quoted below. Look at the present state of the files, and go on where it stopped; if nothing is left to be done, say so and ask what is next.\n\n" +
		pack
}

// continueHeader is compiled on first use: counted repeats are costly, and most runs
// of the program never need it.
var continueHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*"?\[continue session ([0-9a-z]{12}): ([0-9a-z-]{1,40}) ([0-9A-Za-z_-]{1,128})\]\r?\n(?:Continue: ([^\r\n]*))?`)
})

// Continued takes apart a prompt made by [Continuation.Prompt], as a harness recorded
// it. rest is what a person said in it beside the pack.
func Continued(text string) (c Continuation, rest string, ok bool) {
	if !strings.Contains(text[:min(len(text), 200)], "[continue session ") {
		return c, "", false // the common case, cheaply
	}
	m := continueHeader().FindStringSubmatch(text)
	if m == nil {
		return c, "", false
	}
	c = Continuation{ID: m[1], Harness: m[2], NativeID: m[3], Title: OneLine(strings.ReplaceAll(m[4], `\@`, "@"), 120)}
	_, pack, _ := strings.Cut(text[len(m[0]):], PackOpen)
	if mark, _, ok := strings.Cut(pack, "]"); ok && len(mark) == 16 {
		_, rest, _ = strings.Cut(pack, PackClose+mark+"]")
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, PackMore) { // the pack's own last line
		_, rest, _ = strings.Cut(rest, "\n")
	}
	if rest = strings.TrimSpace(rest); rest == `"` { // put around the prompt by the harness
		rest = ""
	}
	return c, rest, true
}

// Words are the person's words that stand for such a prompt.
func (c Continuation) Words(rest string) string {
	return strings.TrimSpace("Continue session " + c.ID + " (" + c.Harness + " " + c.NativeID + ").\n" + rest)
}
