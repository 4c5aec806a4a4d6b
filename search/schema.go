package search

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	index "github.com/blevesearch/bleve_index_api"
)

// The schema of the two Bleve indexes. Changing anything that makes old
// documents wrong (fields, analyzer, stored formats) means changing
// schemaVersion: the index directory is named after its hash, so programs of
// different versions never read each other's index.
//
// turns: a document for each piece of a turn, id "<session>/<n>" or "<session>/<n>.<k>"
//
//	text    words     what was said, thought, called and returned; not of our own
//	                  tools' calls (session.Turn.Echo), which would echo the question
//	at      keyword+  role letter and session id: "u0f3k…", "a…", "t…", "s…"; upper
//	                  case where the turn was undone; "~" before the id where it was
//	                  inherited from another session
//	block   stored    this piece and the following ones (see piece.go); only
//	                  with the first piece of each block
//
// sessions: a document for each session, its id the session's
//
//	title   words     shown title and label
//	said    words     what the person said
//	told    words     what the model said, without thinking
//	said_before, told_before
//	        words     the same of inherited turns, which said and told leave out
//	about   words     repository, branches, paths, tags, ids, models, pull requests
//	row     keyword+  id, last activity, sub-agent, lineage, card version (see table.go)
//	root    keyword+  turns that a copy of the session would begin with (see kin.go)
//	facet   keyword+  "h=claude-code", "t=tag", "r=repo", "b=branch", "f=path", "o=owner"
//	harness, owner, viewer, repo, branch, tag, file, native, parent
//	        keyword   lower case; see filter.go for the forms
//	hit     stored    JSON of storedHit
//	blocks  stored    first pieces of the session's blocks (see table.go)
//
// Words are scored with BM25; keyword+ has doc values; nothing else is kept, and
// no term positions: phrases are checked on the stored text, which is a third of
// their size.
const schemaVersion = "sessdex search 4"

const (
	fieldText  = "text"
	fieldAt    = "at"
	fieldBlock = "block"

	fieldTitle = "title"
	fieldSaid  = "said"
	fieldTold  = "told"
	fieldAbout = "about"
	fieldRow   = "row"
	fieldRoot  = "root"
	fieldFacet = "facet"

	fieldSaidBefore = "said_before"
	fieldToldBefore = "told_before"

	fieldHarness = "harness"
	fieldOwner   = "owner"
	fieldViewer  = "viewer"
	fieldRepo    = "repo"
	fieldBranch  = "branch"
	fieldTag     = "tag"
	fieldFile    = "file"
	fieldNative  = "native"
	fieldParent  = "parent"

	fieldHit    = "hit"
	fieldBlocks = "blocks"
)

// schemaName is the name of the directory that holds indexes of this schema.
var schemaName = func() string {
	sum := sha256.Sum256([]byte(schemaVersion))
	return hex.EncodeToString(sum[:6])
}()

// bleveMapping is what the indexes are created with. Documents are built field by
// field (see field.go), so there is nothing to map.
func bleveMapping() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	m.ScoringModel = index.BM25Scoring
	m.DefaultMapping = bleve.NewDocumentDisabledMapping()
	return m
}
