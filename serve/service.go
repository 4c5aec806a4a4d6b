// Package serve is everything that answers a request: the MCP tools, the HTTP
// API and the web pages. All of them, and the command line too, ask one
// [Service], so that the same question has the same answer everywhere.
package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/singleflight"

	"sessdex/contextpack"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/search"
	"sessdex/session"
)

// SchemaVersion is the version of every JSON object that leaves the program.
const SchemaVersion = 1

// The kinds of error a request can end in. Their wrappers hold one sentence for
// the person or agent that asked; anything else means that the store or the
// index cannot be used.
var (
	ErrNotFound = errors.New("not found")
	ErrUsage    = errors.New("wrong usage")
)

// Service answers requests. Its fields are set once, before use; its methods may
// be called from any number of goroutines.
type Service struct {
	Library *library.Library
	Index   *search.Index
	Indexer *indexer.Indexer
	Packer  *contextpack.Packer
	Owner   string // who uses it; new sessions are theirs
	Repo    string // the repository it was started in, "" where unknown
	Version string // of the program
	Shell   Shell  // that resume lines are written for; "": Bash
	Log     *slog.Logger

	// Heal builds an index that a question found missing or damaged from the library.
	// One runs at a time. nil: the question fails and says what is wrong.
	Heal func(context.Context) error

	// HealWait is how long a question waits for Heal, which goes on after it; 0: until
	// it is done.
	HealWait time.Duration

	building singleflight.Group
}

// SearchReply is a search result as it is shown.
type SearchReply struct {
	SchemaVersion int `json:"schema_version"`
	search.Result
	Hits   []Hit   `json:"hits"` // shadows Result.Hits
	TookMS float64 `json:"took_ms"`
}

// Hit is a search hit and the command that goes on with its session.
type Hit struct {
	search.Hit
	Resume string `json:"resume"`
}

// ContextRequest asks for a pack. ID may be an id, a unique prefix of one, or the
// harness's own id.
type ContextRequest struct {
	ID      string
	Version string // "": current
	contextpack.Options
}

// Summary is a session at a glance.
type Summary struct {
	SchemaVersion int           `json:"schema_version"`
	Card          *session.Card `json:"card"`
	Outline       []OutlineItem `json:"outline"`  // what the person asked, in order; never nil
	Last          string        `json:"last"`     // the model's last words
	Commands      []string      `json:"commands"` // shell commands run, newest last, at most 20; never nil
	Errors        int           `json:"errors"`   // tool calls that failed
	Children      []string      `json:"children"` // ids of sub-agent sessions; never nil
	Resume        string        `json:"resume"`
}

// OutlineItem is one request of the person's.
type OutlineItem struct {
	Turn int       `json:"turn"`
	Time time.Time `json:"time,omitzero"`
	Text string    `json:"text"` // one line, at most 200 runes
}

// PublishRequest hands over a transcript.
type PublishRequest struct {
	Transcript     string // bytes of a transcript of any harness we know
	Title          string
	Tags           []string
	Label          string
	Parent         string // id of the session that this one continues
	ContentSHA256  string // hex; checked where given
	ClientScrubbed bool   // the client says it scrubbed; it is scrubbed again all the same
	IdempotencyKey string // the same key and bytes publish once; the session's identity sees to it
}

// PublishReply says what became of it.
type PublishReply struct {
	SchemaVersion int            `json:"schema_version"`
	ID            string         `json:"id"`
	Version       string         `json:"version"`
	Outcome       string         `json:"outcome"`  // new, changed, unchanged
	Scrubbed      map[string]int `json:"scrubbed"` // masks by rule; never nil
	Turns         int            `json:"turns"`
}

// Turns is part of a session's conversation, from the index or, for an older
// version, from the library.
type Turns struct {
	Card  *session.Card
	Total int            // turns the version has
	Turns []session.Turn // From..To in order
}
