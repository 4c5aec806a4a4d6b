package serve

import (
	"net/http"
	"strconv"
	"strings"

	"sessdex/session"
)

// turnsPerPage is how many turns a page of a session shows.
const turnsPerPage = 100

// How much of one turn a page shows, in runes.
const (
	webWords  = 50_000
	webOutput = 10_000
	webStub   = 140
)

// sessionPage is what session.html shows.
type sessionPage struct {
	frame
	*Summary
	Facts      []param
	Tags       []string
	Outline    []outlineView
	Older      []link
	Turns      []turnView
	From, To   int
	Total      int
	Prev, Next string
	Context    string // the command that packs it
}

type outlineView struct {
	OutlineItem
	URL string
}

// turnView is a turn as the page shows it.
type turnView struct {
	N        int
	URL      string
	Role     string // heading
	Class    string
	When     string
	Words    part
	Thinking part
	Stub     string // of a tool call: its summary line
	Input    part
	Output   part
	Failed   bool
	Undone   bool
}

// part is a piece of text and how many characters of it are not shown.
type part struct {
	Text string
	Gone int
}

func newPart(s string, most int) part {
	text, gone := webCut(strings.Trim(s, "\n"), most)
	return part{text, gone}
}

func (s *Service) webSession(w http.ResponseWriter, r *http.Request) {
	p := params{values: r.URL.Query()}
	version := p.text("version")
	from := pageStart(p.number("from"))
	if p.err != nil {
		s.webFail(w, r, p.err)
		return
	}
	sum, err := s.Summary(r.Context(), r.PathValue("id"), version)
	if err != nil {
		s.webFail(w, r, err)
		return
	}
	c := sum.Card
	turns, err := s.Read(r.Context(), c.ID, version, from, from+turnsPerPage-1)
	if err != nil {
		s.webFail(w, r, err)
		return
	}
	if len(turns.Turns) == 0 && from > 1 {
		s.webError(w, http.StatusNotFound, "The session has no turn "+strconv.Itoa(from)+"; it ends with turn "+strconv.Itoa(turns.Total)+".")
		return
	}
	title := webLine(c.ShownTitle(), maxTitle)
	page := sessionPage{
		frame: frame{Title: title + " – Sessdex"}, Summary: sum,
		Facts: sessionFacts(sum), Tags: c.AllTags(), Total: turns.Total,
		From: from, To: from + len(turns.Turns) - 1,
		Context: "sessdex context " + c.ID + " --max-tokens 8000",
	}
	for _, item := range sum.Outline {
		page.Outline = append(page.Outline, outlineView{item, turnURL(c.ID, version, item.Turn)})
	}
	for _, v := range c.Older {
		page.Older = append(page.Older, link{Label: v.Version, URL: turnURL(c.ID, v.Version, 0), On: v.Version == c.Version})
	}
	if version != "" {
		page.Older = append(page.Older, link{Label: "current", URL: turnURL(c.ID, "", 0)})
	}
	for i := range turns.Turns {
		page.Turns = append(page.Turns, newTurnView(&turns.Turns[i], c.ID, version))
	}
	if from > 1 {
		page.Prev = turnURL(c.ID, version, from-turnsPerPage)
	}
	if page.To < turns.Total && len(turns.Turns) > 0 {
		page.Next = turnURL(c.ID, version, page.To+1)
	}
	s.page(w, http.StatusOK, "session.html", page)
}

// sessionFacts are the small facts under the title.
func sessionFacts(sum *Summary) []param {
	c := sum.Card
	var facts []param
	add := func(name string, values ...string) {
		value := webLine(strings.Join(values, ", "), 500)
		if value != "" {
			facts = append(facts, param{name, value})
		}
	}
	add("Agent", strings.TrimSpace(c.Harness+" "+c.Meta.Version))
	add("Repository", place(c.Repo, c.Branch))
	add("Time", span(c))
	add("Turns", turnsText(c.Turns.Less(c.Inherited)))
	add("Forked from", forkText(c))
	add("By", c.Owner)
	add("Models", c.Models...)
	if sum.Errors > 0 {
		add("Failed calls", strconv.Itoa(sum.Errors))
	}
	add("Secrets removed", ruleCounts(c.Secrets)...)
	add("Files", few(Within(c.Dir, c.Files), 8)...)
	add("Note", c.Label)
	return facts
}

var roleNames = map[session.Role]string{
	session.User: "Person", session.Assistant: "Agent", session.Tool: "Tool", session.Summary: "Compaction summary",
}

func newTurnView(t *session.Turn, id, version string) turnView {
	v := turnView{
		N: t.N, URL: turnURL(id, version, t.N), Class: string(t.Role), When: minute(t.Time),
		Role: roleNames[t.Role], Words: newPart(t.Text, webWords), Thinking: newPart(t.Thinking, webOutput),
		Failed: t.Failed, Undone: t.Undone,
	}
	if v.Role == "" {
		v.Role, v.Class = webLine(string(t.Role), 20), "tool"
	}
	if t.Role == session.Tool {
		v.Stub = webLine(t.Tool, maxWord)
		if t.Input != "" {
			v.Stub += ": " + webLine(called(t), webStub)
		}
		v.Input, v.Output = newPart(t.Input, webOutput), newPart(t.Output, webOutput)
	}
	return v
}
