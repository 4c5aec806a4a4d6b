package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sessdex/contextpack"
	"sessdex/search"
	"sessdex/session"
)

// readyQuery is the cheapest question to the index.
var readyQuery = search.Query{Limit: 1}

// maxTurns is how many turns one answer holds.
const maxTurns = 500

// api mounts the JSON API.
func (s *Service) api(mux *http.ServeMux) {
	uploads := make(chan struct{}, maxUploads)
	mux.HandleFunc("GET /v1/search", s.apiSearch)
	mux.HandleFunc("GET /v1/sessions/{id}", s.apiSummary)
	mux.HandleFunc("GET /v1/sessions/{id}/context", s.apiContext)
	mux.HandleFunc("GET /v1/sessions/{id}/turns", s.apiTurns)
	mux.Handle("POST /v1/sessions/{id}/tags", limitBody(maxBody, http.HandlerFunc(s.apiTag)))
	mux.Handle("POST /v1/sessions", limitBody(maxPublish, atOnce(uploads, s.apiPublish)))
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, http.StatusNotFound, "not_found", "There is no such method and path in this API.")
	})
}

// atOnce refuses requests beyond as many as slots holds.
func atOnce(slots chan struct{}, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next(w, r)
		default:
			w.Header().Set("Retry-After", "2")
			writeError(w, http.StatusTooManyRequests, "busy", "Too many uploads at once: try again in a moment.")
		}
	})
}

func (s *Service) apiSearch(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply, err := s.Search(r.Context(), q)
	s.reply(w, r, reply, err)
}

func (s *Service) apiSummary(w http.ResponseWriter, r *http.Request) {
	sum, err := s.Summary(r.Context(), r.PathValue("id"), r.FormValue("version"))
	s.reply(w, r, sum, err)
}

func (s *Service) apiContext(w http.ResponseWriter, r *http.Request) {
	p := params{values: r.URL.Query()}
	req := ContextRequest{ID: r.PathValue("id"), Version: p.text("version")}
	req.Options = contextpack.Options{
		MaxTokens: p.number("max_tokens"),
		Encoding:  p.text("encoding"),
		ToolCalls: p.flag("include_tool_calls"),
		Around:    p.number("around"),
	}
	if p.err != nil {
		s.fail(w, r, p.err)
		return
	}
	pack, err := s.Context(r.Context(), req)
	s.reply(w, r, struct {
		SchemaVersion int `json:"schema_version"`
		*contextpack.Pack
	}{SchemaVersion, pack}, err)
}

// turnsReply is the answer of /turns.
type turnsReply struct {
	SchemaVersion int            `json:"schema_version"`
	ID            string         `json:"id"`
	Version       string         `json:"version"`
	Total         int            `json:"total"`
	Turns         []session.Turn `json:"turns"`          // never nil
	Next          int            `json:"next,omitempty"` // from of the next part; 0: no more
}

func (s *Service) apiTurns(w http.ResponseWriter, r *http.Request) {
	p := params{values: r.URL.Query()}
	from, to := p.number("from"), p.number("to")
	if p.err != nil {
		s.fail(w, r, p.err)
		return
	}
	from = max(from, -maxTurns)
	if from >= 0 {
		from = max(from, 1)
		if to <= 0 || to > from+maxTurns-1 {
			to = from + maxTurns - 1
		}
	}
	part, err := s.Read(r.Context(), r.PathValue("id"), p.text("version"), from, to)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	reply := turnsReply{SchemaVersion: SchemaVersion, ID: part.Card.ID, Version: part.Card.Version, Total: part.Total, Turns: part.Turns}
	if reply.Turns == nil {
		reply.Turns = []session.Turn{}
	}
	if n := len(part.Turns); n > 0 && part.Turns[n-1].N < part.Total {
		reply.Next = part.Turns[n-1].N + 1
	}
	s.reply(w, r, reply, nil)
}

// cardReply is a card as an answer.
type cardReply struct {
	SchemaVersion int           `json:"schema_version"`
	Card          *session.Card `json:"card"`
}

func (s *Service) apiTag(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Add    []string `json:"add"`
		Remove []string `json:"remove"`
	}
	if !s.body(w, r, maxBody, &body) {
		return
	}
	card, err := s.Tag(r.Context(), r.PathValue("id"), body.Add, body.Remove)
	s.reply(w, r, cardReply{SchemaVersion, card}, err)
}

func (s *Service) apiPublish(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Transcript     string   `json:"transcript"`
		Title          string   `json:"title"`
		Tags           []string `json:"tags"`
		Label          string   `json:"label"`
		Parent         string   `json:"parent"`
		ContentSHA256  string   `json:"content_sha256"`
		ClientScrubbed bool     `json:"client_scrubbed"`
		IdempotencyKey string   `json:"idempotency_key"`
	}
	if !s.body(w, r, maxPublish, &body) {
		return
	}
	reply, err := s.Publish(r.Context(), PublishRequest(body))
	s.reply(w, r, reply, err)
}

// body decodes a request's JSON object, or answers why it cannot.
func (s *Service) body(w http.ResponseWriter, r *http.Request, most int64, into any) bool {
	dec := json.NewDecoder(r.Body)
	err := dec.Decode(into)
	if err == nil && dec.More() {
		err = errors.New("there is more than one JSON value")
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		tooLarge(w, most)
	case errors.Is(err, io.EOF):
		writeError(w, http.StatusBadRequest, "usage", "The body is empty; a JSON object is expected.")
	default:
		writeError(w, http.StatusBadRequest, "usage", "The body is not the JSON object that is expected: "+oneLine(err.Error(), 200)+".")
	}
	return false
}

// parseQuery reads a search from URL parameters: q and the filters by the names
// of the command's flags, lists by repeating the parameter or with commas.
func parseQuery(values url.Values) (search.Query, error) {
	p := params{values: values}
	q := search.Query{
		Text:      p.text("q"),
		Harness:   p.list("harness"),
		Tags:      p.list("tag"),
		File:      p.text("file"),
		Branch:    p.text("branch"),
		Repo:      p.text("repo"),
		Author:    p.text("author"),
		Role:      p.list("role"),
		Subagents: p.flag("subagents"),
		Sort:      p.text("sort"),
		Limit:     p.number("limit"),
		Offset:    p.number("offset"),
		Facets:    true,
	}
	q.Since, _ = p.date("since")
	_, q.Until = p.date("until")
	if q.Sort != "" && q.Sort != search.Relevance && q.Sort != search.Recent {
		p.fail("sort must be %s or %s", search.Relevance, search.Recent)
	}
	return q, p.err
}

// params reads URL parameters; err is the first that makes no sense.
type params struct {
	values url.Values
	err    error
}

func (p *params) fail(format string, args ...any) {
	if p.err == nil {
		p.err = usage(format, args...)
	}
}

func (p *params) text(name string) string { return strings.TrimSpace(p.values.Get(name)) }

func (p *params) list(name string) []string {
	var out []string
	for _, v := range p.values[name] {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

func (p *params) number(name string) int {
	s := p.text(name)
	if s == "" {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		p.fail("%s must be a whole number", name)
	}
	return int(n)
}

// date is the span that a date names, as people write them.
func (p *params) date(name string) (from, to time.Time) {
	s := p.text(name)
	if s == "" {
		return from, to
	}
	from, to, ok := search.ParseDate(s, time.Now())
	if !ok {
		p.fail("%s must be a date: 2026-01-31, 2026-01, 7d, 2w or yesterday", name)
	}
	return from, to
}

func (p *params) flag(name string) bool {
	s := p.text(name)
	if s == "" {
		return p.values.Has(name) // ?subagents is ?subagents=true
	}
	b, err := strconv.ParseBool(s)
	if err != nil {
		p.fail("%s must be true or false", name)
	}
	return b
}

// reply answers with v, or with the error.
func (s *Service) reply(w http.ResponseWriter, r *http.Request, v any, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, v)
}

func (s *Service) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, code := statusOf(err)
	if status >= http.StatusInternalServerError {
		s.log().Warn("request failed", "method", r.Method, "path", r.URL.Path, "err", err)
	}
	writeError(w, status, code, sentence(err))
}

// statusOf maps the kinds of error to HTTP.
func statusOf(err error) (status int, code string) {
	switch {
	case errors.Is(err, ErrNotFound):
		return http.StatusNotFound, "not_found"
	case errors.Is(err, ErrUsage):
		return http.StatusBadRequest, "usage"
	}
	return http.StatusServiceUnavailable, "unavailable"
}

// errorReply is how every error of the API looks.
type errorReply struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	var reply errorReply
	reply.Error.Code, reply.Error.Message = code, message
	writeJSON(w, status, reply)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = WriteJSON(w, v) // the status is sent: a client that is gone cannot be told
}
