package serve

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sessdex/search"
	"sessdex/session"
)

//go:embed web
var webFiles embed.FS

// pages are the templates. Whatever they show comes from transcripts: it reaches
// a page as text that html/template escapes, never as markup.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"text":  webText,
	"line":  func(s string) string { return webLine(s, 300) },
	"when":  minute,
	"day":   day,
	"count": count,
}).ParseFS(webFiles, "web/*.html"))

// web mounts the pages for people. They hold no script and load nothing from
// elsewhere.
func (s *Service) web(mux *http.ServeMux) {
	mux.HandleFunc("GET /{$}", s.webSearch)
	mux.HandleFunc("GET /s/{id}", s.webSession)
	for path, kind := range map[string]string{"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"} {
		mux.HandleFunc("GET /"+path, func(w http.ResponseWriter, r *http.Request) {
			body, _ := webFiles.ReadFile("web/" + path)
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "max-age=3600")
			w.Write(body)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.webError(w, http.StatusNotFound, "There is no such page.")
	})
}

// page writes a template, whole or not at all.
func (s *Service) page(w http.ResponseWriter, status int, name string, data any) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		s.log().Error("page failed", "page", name, "err", err)
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func (s *Service) webError(w http.ResponseWriter, status int, message string) {
	s.page(w, status, "error.html", errorPage{frame{Title: http.StatusText(status)}, message})
}

func (s *Service) webFail(w http.ResponseWriter, r *http.Request, err error) {
	status, _ := statusOf(err)
	if status >= http.StatusInternalServerError {
		s.log().Warn("page failed", "path", r.URL.Path, "err", err)
	}
	s.webError(w, status, sentence(err))
}

// frame is what every page has.
type frame struct {
	Title, Query string
	Hidden       []param // filters that go along with a new query
	Focus        bool    // the query box is what the page is for
}

type errorPage struct {
	frame
	Message string
}

// webPage is how many hits a page of results has.
const webPage = 20

// searchPage is what search.html shows.
type searchPage struct {
	frame
	Active     []link // the active filters; each link takes one away
	Sorts      []link
	Summary    string // "123 sessions, every word matched"
	Hits       []hitView
	Facets     []facetView
	Prev, Next string
	Empty      string // why there are no hits
}

type param struct{ Name, Value string }

type link struct {
	Label, URL string
	Full       string // what Label shortens
	Count      int
	On         bool
}

type facetView struct {
	Name  string
	Links []link
}

type hitView struct {
	Hit
	URL    string
	Pieces []piece
}

// facetOrder lists the facets by the URL parameter that filters by them.
var facetOrder = []param{{"harness", "Agent"}, {"repo", "Repository"}, {"branch", "Branch"}, {"tag", "Tag"}, {"file", "File"}, {"author", "Author"}}

// multi are the filters that may be given more than once.
var multi = []string{"harness", "tag", "role"}

const (
	maxFacetLinks = 8
	maxFiles      = 4
)

func (s *Service) webSearch(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	q, err := parseQuery(values)
	if err != nil {
		s.webFail(w, r, err)
		return
	}
	if q.Limit == 0 {
		q.Limit = webPage
	}
	reply, err := s.Search(r.Context(), q)
	if err != nil {
		s.webFail(w, r, err)
		return
	}
	p := searchPage{frame: frame{Title: "Sessdex", Query: values.Get("q")}}
	if p.Query != "" {
		p.Title = webLine(p.Query, 60) + " – Sessdex"
	}
	p.filters(values)
	p.Focus = p.Query == "" && len(p.Active) == 0
	p.Sorts = sorts(values, q)
	p.Summary, p.Empty = resultSummary(reply, len(p.Active) > 0 || p.Query != "")
	for _, h := range reply.Hits {
		p.Hits = append(p.Hits, newHitView(h))
	}
	for _, f := range facetOrder {
		if view := newFacetView(values, f, reply.Facets[f.Name]); len(view.Links) > 0 {
			p.Facets = append(p.Facets, view)
		}
	}
	if q.Offset > 0 {
		p.Prev = with(values, "offset", strconv.Itoa(max(0, q.Offset-q.Limit)))
	}
	if reply.NextOffset > 0 {
		p.Next = with(values, "offset", strconv.Itoa(reply.NextOffset))
	}
	s.page(w, http.StatusOK, "search.html", p)
}

// filters fills Hidden and Active from the URL.
func (p *searchPage) filters(values url.Values) {
	for _, name := range []string{"harness", "repo", "branch", "tag", "file", "author", "role", "since", "until", "subagents"} {
		for _, v := range values[name] {
			if v == "" {
				continue
			}
			p.Hidden = append(p.Hidden, param{name, v})
			p.Active = append(p.Active, link{Label: name + ": " + v, URL: without(values, name, v)})
		}
	}
	if sort := values.Get("sort"); sort != "" {
		p.Hidden = append(p.Hidden, param{"sort", sort})
	}
}

func sorts(values url.Values, q search.Query) []link {
	if q.Text == "" {
		return nil // browsing is by time
	}
	recent := q.Sort == search.Recent
	return []link{
		{Label: "Best match", URL: with(values, "sort", ""), On: !recent},
		{Label: "Newest", URL: with(values, "sort", search.Recent), On: recent},
	}
}

func resultSummary(reply *SearchReply, asked bool) (summary, empty string) {
	if len(reply.Hits) == 0 {
		switch {
		case reply.Total > 0:
			return "", "There are no more sessions."
		case asked:
			return "", "No session matches. Try other words, or take a filter away."
		}
		return "", "There are no sessions yet. Import them with: sessdex import"
	}
	summary = count(reply.Total, "session")
	if !reply.TotalExact {
		summary = "At least " + summary
	}
	if words := tierWords[reply.Tier]; words != "" && reply.Tier != "all" {
		summary += " – " + words
	}
	return summary, ""
}

func newHitView(h Hit) hitView {
	v := hitView{Hit: h, URL: turnURL(h.ID, "", h.Turn)}
	v.Files = few(Within(h.Dir, h.Files), maxFiles)
	if h.Turn == 0 && session.OneLine(h.Snippet, maxTitle) == session.OneLine(h.Title, maxTitle) {
		return v // the title says it already
	}
	for _, p := range pieces(h.Snippet, h.Marks) {
		v.Pieces = append(v.Pieces, piece{webSpaces(p.Text), p.Mark})
	}
	return v
}

func newFacetView(values url.Values, f param, found []search.Facet) facetView {
	view := facetView{Name: f.Value}
	for _, v := range found[:min(len(found), maxFacetLinks)] {
		if v.Value == "" {
			continue
		}
		l := link{Label: pathEnd(v.Value), Full: v.Value, Count: v.Count, On: slices.Contains(values[f.Name], v.Value)}
		switch {
		case l.On:
			l.URL = without(values, f.Name, v.Value)
		case slices.Contains(multi, f.Name):
			l.URL = withMore(values, f.Name, v.Value)
		default:
			l.URL = with(values, f.Name, v.Value)
		}
		view.Links = append(view.Links, l)
	}
	return view
}

// pathEnd is the end of a long path or name, which tells more than its beginning.
func pathEnd(s string) string {
	if len(s) <= 32 {
		return s
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' })
	if len(parts) < 3 {
		return s
	}
	return "…/" + strings.Join(parts[len(parts)-2:], "/")
}

// with, withMore and without are the page's own URL with one parameter changed.
// A change of what is shown goes back to the first page.
func with(values url.Values, name, value string) string {
	return changed(values, name, func(url.Values) []string { return []string{value} })
}

func withMore(values url.Values, name, value string) string {
	return changed(values, name, func(v url.Values) []string { return append(slices.Clone(v[name]), value) })
}

func without(values url.Values, name, value string) string {
	return changed(values, name, func(v url.Values) []string {
		return slices.DeleteFunc(slices.Clone(v[name]), func(s string) bool { return s == value })
	})
}

func changed(values url.Values, name string, change func(url.Values) []string) string {
	next := url.Values{}
	for k, v := range values {
		if k != "offset" {
			next[k] = v
		}
	}
	next[name] = slices.DeleteFunc(change(values), func(s string) bool { return s == "" })
	if len(next[name]) == 0 {
		delete(next, name)
	}
	if len(next) == 0 {
		return "/"
	}
	return "/?" + next.Encode()
}

// turnURL is the page of a session that holds a turn, at that turn; turn 0 is the top.
func turnURL(id, version string, turn int) string {
	query := url.Values{}
	if version != "" {
		query.Set("version", version)
	}
	if from := pageStart(turn); from > 1 {
		query.Set("from", strconv.Itoa(from))
	}
	u := url.URL{Path: "/s/" + id, RawQuery: query.Encode()}
	if turn > 0 {
		u.Fragment = fmt.Sprintf("t%d", turn)
	}
	return u.String()
}

// pageStart is the first turn of the page that holds a turn.
func pageStart(turn int) int {
	return max(0, turn-1)/turnsPerPage*turnsPerPage + 1
}

func webSpaces(s string) string {
	// Only what is inside a piece: the spaces between pieces are theirs.
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(webText(s))
}
