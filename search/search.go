// Package search keeps the index of all sessions and answers queries from it.
// It is the only package that knows Bleve.
//
// The index is a view of the library: it can be deleted at any time and built
// again. No process holds it open: every query takes a read lease and every
// batch an exclusive one, so any number of processes may use one directory.
package search

import (
	"iter"
	"time"

	"sessdex/session"
)

// Document is one session as the index takes it: Writer.Put replaces whatever
// the index held under the card's id.
type Document struct {
	Card        *session.Card
	CardVersion string                 // the card object's blob version: what Seen gives back
	Turns       iter.Seq[session.Turn] // all turns in order
}

// Sort orders of a Query.
const (
	Relevance = "relevance"
	Recent    = "recent"
)

// Query is one question to the index. Text may hold filters (see ParseQuery);
// the fields below are further filters and all must hold. Values of one list
// are alternatives. The zero Query lists everything, newest first.
type Query struct {
	Text      string
	Harness   []string
	Tags      []string // all must be there
	File      string   // a path, a base name or any run of path segments
	Branch    string
	Repo      string
	Author    string
	Role      []string
	Since     time.Time // last activity at or after
	Until     time.Time // last activity before
	Subagents bool      // show sub-agent sessions too
	Parent    string    // only the sub-agent sessions that this one, by its harness's own id, started
	Exclude   []string  // session ids that must not come back
	Viewer    string    // who asks: only what they own or may read; empty: everything
	Sort      string    // Relevance (default with words) or Recent (default without)
	Limit     int       // 0: 10; at most 100
	Offset    int       // at most 10,000
	Facets    bool      // compute Result.Facets
}

// Result is the answer to a Query.
type Result struct {
	Total      int                `json:"total"`                 // sessions that match
	TotalExact bool               `json:"total_exact"`           // false: there may be more
	Tier       string             `json:"tier"`                  // how strictly words were matched: "browse", "all", "most", "some", "fuzzy"
	Hits       []Hit              `json:"hits"`                  // never nil
	Facets     map[string][]Facet `json:"facets,omitempty"`      // harness, tag, repo, branch, file, author
	NextOffset int                `json:"next_offset,omitempty"` // 0: no more
}

// Hit is one session found, with its best turn.
type Hit struct {
	ID         string    `json:"id"`
	NativeID   string    `json:"native_id"`
	Harness    string    `json:"harness"`
	Title      string    `json:"title"`
	Repo       string    `json:"repo"`
	Branch     string    `json:"branch"`
	Owner      string    `json:"owner"`
	Dir        string    `json:"dir"`
	SourcePath string    `json:"source_path"`
	Start      time.Time `json:"start,omitzero"`
	LastActive time.Time `json:"last_active,omitzero"`
	Turns      int       `json:"turns"`               // its own
	Inherited  int       `json:"inherited,omitempty"` // turns before them, which another session said first
	Subagent   bool      `json:"subagent,omitempty"`
	Parent     string    `json:"parent,omitempty"`
	Files      []string  `json:"files"`   // at most 10 edited files; never nil
	Tags       []string  `json:"tags"`    // all kinds; never nil
	Turn       int       `json:"turn"`    // number of the best turn; 0 when browsing
	Role       string    `json:"role"`    // its role
	Snippet    string    `json:"snippet"` // plain text of at most 300 runes, from the best turn (browsing: the opening request)
	Marks      [][2]int  `json:"marks"`   // byte ranges of the matched words in Snippet, in order; never nil
	Score      float64   `json:"score"`
}

// Facet is a value and the number of matching sessions that have it.
type Facet struct {
	Value string `json:"value"`
	Count int    `json:"count"`
}
