// Package session is the vocabulary of Sessdex: what a turn, a session and a
// card are. Everything else imports it and it imports nothing of ours.
//
// A session is one conversation between a person and a coding agent, as the
// agent's harness recorded it. It is a list of turns, numbered from 1 in the
// order they happened, and a [Meta], what is known about the whole. A [Card] is
// the small JSON object that the library keeps beside each transcript.
//
// All times are UTC. All values are plain data: safe to copy, and safe to read
// from several goroutines as long as nobody writes.
package session

import "time"

// Role says whose turn it is.
type Role string

// The four roles. Text that a harness injects (system reminders, AGENTS.md,
// environment blocks, hook output) is no turn at all.
const (
	User      Role = "user"      // what a person typed, wrappers stripped
	Assistant Role = "assistant" // one model message: its text and thinking, split records joined
	Tool      Role = "tool"      // one tool call together with its result
	Summary   Role = "summary"   // a compaction summary: written by a model about earlier turns
)

// A Turn is one step of a session.
type Turn struct {
	N    int       `json:"n"`              // position in the session, from 1, without gaps
	Role Role      `json:"role"`           //
	Time time.Time `json:"time,omitzero"`  // when it began; zero where the harness records none
	Ref  string    `json:"ref,omitempty"`  // the harness's own id of the record (Claude's uuid, Codex's call_id)
	Text string    `json:"text,omitempty"` // what was said; empty for tool turns

	Thinking string `json:"thinking,omitempty"` // the model's reasoning, where it is readable

	Tool   string `json:"tool,omitempty"`   // tool turns: the tool's name as the harness writes it
	Input  string `json:"input,omitempty"`  // tool turns: the arguments as readable text, see harness.RenderInput
	Output string `json:"output,omitempty"` // tool turns: the result as text, images left out
	Failed bool   `json:"failed,omitempty"` // tool turns: the call ended in an error or was refused

	Edits []string `json:"edits,omitempty"` // paths written, moved or deleted by this turn, as recorded
	Reads []string `json:"reads,omitempty"` // paths only read by this turn, as recorded

	Branch string `json:"branch,omitempty"` // git branch at that time, where recorded
	Undone bool   `json:"undone,omitempty"` // rolled back, rewound, or on a branch the person left
}

// Words reports whether the turn is part of the conversation proper: said by
// a person or a model, not a tool call.
func (t *Turn) Words() bool { return t.Role != Tool }

// Meta is what a transcript says about its session as a whole. Parsers fill
// it; lists are in the order of first appearance and hold no duplicates.
type Meta struct {
	Harness  string `json:"harness"`                   // "claude-code", "codex-cli", …
	NativeID string `json:"native_id"`                 // the harness's own id of the session
	Version  string `json:"harness_version,omitempty"` // newest version of the harness seen in the transcript

	Title       string      `json:"title,omitempty"`        // one line, at most 120 runes
	TitleSource TitleSource `json:"title_source,omitempty"` // where the title comes from
	Opening     string      `json:"opening,omitempty"`      // the person's first request, see Opening

	Parent     string `json:"parent,omitempty"`      // native id of the session that started this one as a sub-agent
	ForkedFrom string `json:"forked_from,omitempty"` // native id of the session whose history this one continues
	Subagent   bool   `json:"subagent,omitempty"`    // written by a model for a model: hidden in listings
	Agent      string `json:"agent,omitempty"`       // the sub-agent's type or nickname

	Start      time.Time `json:"start,omitzero"`       // time of the first record that has one
	LastActive time.Time `json:"last_active,omitzero"` // time of the last turn, not of the file

	Dir      string   `json:"dir,omitempty"`      // first working folder: where to resume
	Dirs     []string `json:"dirs,omitempty"`     // every working folder
	Repo     string   `json:"repo,omitempty"`     // "host/owner/name" or, without a remote, the folder's base name
	Branch   string   `json:"branch,omitempty"`   // last branch seen
	Branches []string `json:"branches,omitempty"` // every branch
	Commit   string   `json:"commit,omitempty"`   // git commit at the start, where recorded
	Models   []string `json:"models,omitempty"`   // models that answered
	PRs      []string `json:"prs,omitempty"`      // URLs of pull requests linked by the harness
	Tags     []string `json:"tags,omitempty"`     // tags a person gave inside the harness

	Turns     Counts         `json:"turns"`               // exact, undone and inherited turns included
	Inherited Counts         `json:"inherited,omitzero"`  // of those the first ones, copied from the session in ForkedFrom: said once, there
	Unknown   map[string]int `json:"unknown,omitempty"`   // record types this version does not know, with counts
	BadLines  int            `json:"bad_lines,omitempty"` // lines that could not be decoded and were passed over
}

// TitleSource says where a title comes from, best first.
type TitleSource string

// Title sources by precedence: a person's own title beats the harness's,
// which beats the opening request.
const (
	TitleCustom  TitleSource = "custom"  // a person named it
	TitleHarness TitleSource = "harness" // the harness or its model named it
	TitleOpening TitleSource = "opening" // cut from the opening request
)

// Counts are exact numbers of turns by role.
type Counts struct {
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Tool      int `json:"tool"`
	Summary   int `json:"summary,omitempty"`
}

// Less is what is left of c without the turns counted in o.
func (c Counts) Less(o Counts) Counts {
	return Counts{c.User - o.User, c.Assistant - o.Assistant, c.Tool - o.Tool, c.Summary - o.Summary}
}

// Total is the number of turns of every role.
func (c Counts) Total() int { return c.User + c.Assistant + c.Tool + c.Summary }

// Add counts one turn of role r.
func (c *Counts) Add(r Role) {
	switch r {
	case User:
		c.User++
	case Assistant:
		c.Assistant++
	case Tool:
		c.Tool++
	case Summary:
		c.Summary++
	}
}
