package serve

import (
	"context"
	"path"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"sessdex/contextpack"
	"sessdex/indexer"
	"sessdex/search"
)

// mcpTool is one tool as models see it, and what it does.
type mcpTool struct {
	name, title, about string
	params             []mcpParam
	required           []string
	changes            bool // it stores something; every other tool only reads
	run                func(*Service, context.Context, *arguments) (string, error)
}

// mcpParam is one argument. Types are single and never null, since strict clients
// refuse anything else; leniency is in how arguments are read.
type mcpParam struct {
	name, kind, about string // kind: string, integer, boolean, or strings for a list
	words             []string
}

// filters are the arguments that narrow a listing. list_sessions and
// search_sessions share them.
var filters = []mcpParam{
	{name: "harness", kind: "strings", about: "any of: " + strings.Join(indexer.Harnesses(), ", ")},
	{name: "tags", kind: "strings", about: "all of these"},
	{name: "file", kind: "string", about: "a file it touched: path, base name or folder"},
	{name: "branch", kind: "string"},
	{name: "repo", kind: "string", about: "host/owner/name or name"},
	{name: "author", kind: "string"},
	{name: "since", kind: "string", about: "date or age: 2026-01-31, 7d"},
	{name: "until", kind: "string"},
}

var paging = []mcpParam{
	{name: "limit", kind: "integer", about: "default 10"},
	{name: "offset", kind: "integer", about: "for the next page"},
}

var idParam = mcpParam{name: "id", kind: "string", about: "session id, unique prefix of one, or the harness's own id"}

// mcpTools are the six tools, in the order a model meets them.
var mcpTools = []mcpTool{
	{
		name:  "search_sessions",
		title: "Search sessions",
		about: `Search past coding-agent sessions: how something was solved, decided or broken before. Returns ranked sessions with the best turn. ` +
			`The query is plain words; "a phrase", -word and role:user work too. An empty query browses, newest first.`,
		params: join([]mcpParam{{name: "query", kind: "string"}}, filters,
			[]mcpParam{{name: "sort", kind: "string", words: []string{search.Relevance, search.Recent}}}, paging),
		run: (*Service).toolSearch,
	},
	{
		name:  "list_sessions",
		title: "List sessions",
		about: "List past sessions, newest first. Without repo or all_repos: those of the current repository.",
		params: join(filters, []mcpParam{{name: "all_repos", kind: "boolean", about: "list every repository"}},
			paging),
		run: (*Service).toolList,
	},
	{
		name:     "get_session_summary",
		title:    "Summarize a session",
		about:    "One session at a glance: what was asked, in order, the last answer, files, commands, branch, lineage and how to resume it.",
		params:   []mcpParam{idParam, {name: "version", kind: "string", about: "an older version; default the current one"}},
		required: []string{"id"},
		run:      (*Service).toolSummary,
	},
	{
		name:  "fetch_session_context",
		title: "Fetch session context",
		about: "The conversation of a session packed into a token budget: the opening request and the newest turns, or the turns around one. " +
			"Use it to take up earlier work.",
		params: []mcpParam{
			idParam,
			{name: "version", kind: "string", about: "an older version; default the current one"},
			{name: "max_tokens", kind: "integer", about: "500 to 100000, default 8000"},
			{name: "include_tool_calls", kind: "boolean", about: "show tool calls, one line each"},
			{name: "around", kind: "integer", about: "turn number from a search hit"},
		},
		required: []string{"id"},
		run:      (*Service).toolContext,
	},
	{
		name:  "get_session",
		title: "Read a session",
		about: "Read a session: summary, tail (summary and the last turns), or full (everything with tool output, in pages).",
		params: []mcpParam{
			idParam,
			{name: "mode", kind: "string", about: "default summary", words: sessionModes},
			{name: "tail", kind: "integer", about: "tail: how many turns, default 10"},
			{name: "offset", kind: "integer", about: "full: first turn of the page, default 1"},
			{name: "skip", kind: "integer", about: "full: characters of that turn already read"},
		},
		required: []string{"id"},
		run:      (*Service).toolSession,
	},
	{
		name:  "publish_session",
		title: "Publish a session",
		about: "Store a transcript in the library so that others find it. Secrets are removed first. Publishing the same bytes again changes nothing.",
		params: []mcpParam{
			{name: "transcript", kind: "string", about: "the file as the harness wrote it"},
			{name: "title", kind: "string"},
			{name: "tags", kind: "strings"},
			{name: "label", kind: "string", about: "a note for readers"},
			{name: "parent", kind: "string", about: "id of the session it continues"},
			{name: "content_sha256", kind: "string", about: "hex, of transcript; checked"},
			{name: "client_scrubbed", kind: "boolean", about: "secrets were removed already"},
			{name: "idempotency_key", kind: "string"},
		},
		required: []string{"transcript"},
		changes:  true,
		run:      (*Service).toolPublish,
	},
}

func join(lists ...[]mcpParam) []mcpParam {
	var out []mcpParam
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// definition is the tool for tools/list. All four hints are set: clients take a
// missing one for the worst.
func (t mcpTool) definition() mcp.Tool {
	schema := mcp.ToolInputSchema{Type: "object", Properties: map[string]any{}, Required: t.required}
	for _, p := range t.params {
		property := map[string]any{"type": p.kind}
		if p.kind == "strings" {
			property["type"] = "array"
			property["items"] = map[string]any{"type": "string"}
		}
		if p.about != "" {
			property["description"] = p.about
		}
		if p.words != nil {
			property["enum"] = p.words
		}
		schema.Properties[p.name] = property
		schema.PropertyOrder = append(schema.PropertyOrder, p.name)
	}
	return mcp.Tool{
		Name:        t.name,
		Description: t.about,
		InputSchema: schema,
		Annotations: mcp.ToolAnnotation{
			Title:           t.title,
			ReadOnlyHint:    mcp.ToBoolPtr(!t.changes),
			DestructiveHint: mcp.ToBoolPtr(false),
			IdempotentHint:  mcp.ToBoolPtr(true),
			OpenWorldHint:   mcp.ToBoolPtr(false),
		},
	}
}

const idHint = "pass the id of a session as search_sessions shows it"

func (s *Service) toolSearch(ctx context.Context, a *arguments) (string, error) {
	q := a.query()
	q.Text = a.text("query")
	q.Sort = a.choice("sort", search.Relevance, search.Recent)
	if a.err != nil {
		return "", a.err
	}
	s.Packer.Warm("") // who searches packs next; a process that only stands by loads nothing
	reply, err := s.Search(ctx, q)
	if err != nil {
		return "", err
	}
	return searchText(q, reply, ""), nil
}

func (s *Service) toolList(ctx context.Context, a *arguments) (string, error) {
	q := a.query()
	q.Sort = search.Recent
	scope := ""
	if q.Repo == "" && !a.flag("all_repos") && s.Repo != "" {
		// Sessions whose folder was gone when they were imported know its name only.
		q.Repo = path.Base(s.Repo)
		scope = "in " + oneLine(s.Repo, maxTitle) + " (all_repos=true lists every repository)"
	}
	if a.err != nil {
		return "", a.err
	}
	reply, err := s.Search(ctx, q)
	if err != nil {
		return "", err
	}
	return searchText(q, reply, scope), nil
}

// query reads the filters and the paging that both listings share.
func (a *arguments) query() search.Query {
	return search.Query{
		Harness: a.list("harness"),
		Tags:    a.list("tags"),
		File:    a.text("file"),
		Branch:  a.text("branch"),
		Repo:    a.text("repo"),
		Author:  a.text("author"),
		Since:   a.date("since", false),
		Until:   a.date("until", true),
		Limit:   a.number("limit", 10, 1, 50),
		Offset:  a.number("offset", 0, 0, 10_000),
	}
}

func (s *Service) toolSummary(ctx context.Context, a *arguments) (string, error) {
	id, version := a.need("id", idHint), a.text("version")
	if a.err != nil {
		return "", a.err
	}
	sum, err := s.Summary(ctx, id, version)
	if err != nil {
		return "", err
	}
	return summaryText(sum), nil
}

func (s *Service) toolContext(ctx context.Context, a *arguments) (string, error) {
	req := ContextRequest{ID: a.need("id", idHint), Version: a.text("version")}
	req.Options = contextpack.Options{ToolCalls: a.flag("include_tool_calls")}
	req.MaxTokens, _ = a.integer("max_tokens")
	req.Around, _ = a.integer("around")
	if a.err != nil {
		return "", a.err
	}
	pack, err := s.Context(ctx, req)
	if err != nil {
		return "", err
	}
	return pack.Text, nil
}

func (s *Service) toolPublish(ctx context.Context, a *arguments) (string, error) {
	req := PublishRequest{
		Transcript:     a.verbatim("transcript"),
		Title:          a.text("title"),
		Tags:           a.list("tags"),
		Label:          a.text("label"),
		Parent:         a.text("parent"),
		ContentSHA256:  a.text("content_sha256"),
		ClientScrubbed: a.flag("client_scrubbed"),
		IdempotencyKey: a.text("idempotency_key"),
	}
	if req.Transcript == "" {
		a.fail("transcript is missing: pass the text of the file that the harness wrote")
	}
	if a.err != nil {
		return "", a.err
	}
	reply, err := s.Publish(ctx, req)
	if err != nil {
		return "", err
	}
	return publishText(reply), nil
}
