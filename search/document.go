package search

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/document"

	"sessdex/session"
)

// Limits of what a session's own document holds. Turns are always indexed whole.
const (
	wordsBytes   = 1 << 20 // of each of the person's and the model's words
	hitFiles     = 10      // paths shown with a hit
	openingRunes = 300     // of the opening, shown when browsing
	facetFiles   = 200     // paths counted in facets
	maxPaths     = 5000    // paths that can be filtered by
)

// storedHit is everything of a Hit that does not depend on the query.
type storedHit struct {
	NativeID   string    `json:"n,omitempty"`
	Harness    string    `json:"h,omitempty"`
	Title      string    `json:"t,omitempty"`
	Repo       string    `json:"r,omitempty"`
	Branch     string    `json:"b,omitempty"`
	Owner      string    `json:"o,omitempty"`
	Dir        string    `json:"d,omitempty"`
	SourcePath string    `json:"s,omitempty"`
	Start      time.Time `json:"a,omitzero"`
	LastActive time.Time `json:"z,omitzero"`
	Turns      int       `json:"c,omitempty"`
	Inherited  int       `json:"i,omitempty"`
	Subagent   bool      `json:"u,omitempty"`
	Parent     string    `json:"p,omitempty"`
	Files      []string  `json:"f,omitempty"`
	Tags       []string  `json:"g,omitempty"`
	Opening    string    `json:"q,omitempty"`
}

func newStoredHit(c *session.Card) storedHit {
	return storedHit{
		NativeID: c.NativeID, Harness: c.Harness, Title: c.ShownTitle(), Repo: c.Repo, Branch: c.Branch,
		Owner: c.Owner, Dir: c.Dir, SourcePath: c.SourcePath, Start: c.Start, LastActive: c.LastActive,
		Turns: c.Turns.Total() - inherited(c), Inherited: inherited(c), Subagent: c.Subagent, Parent: c.Parent,
		Files: c.Files[:min(len(c.Files), hitFiles)], Tags: c.AllTags(),
		Opening: session.OneLine(c.Opening, openingRunes),
	}
}

func (h *storedHit) hit(id string) Hit {
	return Hit{
		ID: id, NativeID: h.NativeID, Harness: h.Harness, Title: h.Title, Repo: h.Repo, Branch: h.Branch,
		Owner: h.Owner, Dir: h.Dir, SourcePath: h.SourcePath, Start: h.Start, LastActive: h.LastActive,
		Turns: h.Turns, Inherited: h.Inherited, Subagent: h.Subagent, Parent: h.Parent,
		Files: session.Unique(h.Files), Tags: session.Unique(h.Tags), Marks: [][2]int{},
	}
}

// sessionDocument is the document of a session whose words were counted on the way.
func (p *put) sessionDocument(of Document) (*document.Document, error) {
	c, version := of.Card, of.CardVersion
	hit, err := json.Marshal(newStoredHit(c))
	if err != nil {
		return nil, fmt.Errorf("encode session %s: %w", c.ID, err)
	}
	d := document.NewDocument(c.ID)
	fields := []*field{
		wordsField(fieldTitle, c.ShownTitle(), c.Label),
		countedField(fieldSaid, &p.own.said),
		countedField(fieldTold, &p.own.told),
		wordsField(fieldAbout, about(c)...),
		keywordField(fieldRow, true, rowTerm(c, version)),
		keywordField(fieldFacet, true, facetTerms(c)...),
		keywordField(fieldHarness, false, keys(c.Harness)...),
		keywordField(fieldOwner, false, ownerKeys(c.Owner)...),
		keywordField(fieldViewer, false, capped(append([]string{c.Owner}, c.Readers...))...),
		keywordField(fieldRepo, false, suffixes(c.Repo)...),
		keywordField(fieldBranch, false, suffixes(append(c.Branches, c.Branch)...)...),
		keywordField(fieldTag, false, keys(c.AllTags()...)...),
		keywordField(fieldFile, false, suffixes(firstPaths(c)...)...),
		keywordField(fieldNative, false, keys(c.NativeID)...),
		keywordField(fieldParent, false, keys(c.Parent)...),
		storedField(fieldHit, hit),
		keywordField(fieldRoot, true, rootTerms(c, p.roots)...),
		storedField(fieldBlocks, p.blocks),
	}
	if p.inherited > 0 {
		fields = append(fields, countedField(fieldSaidBefore, &p.heard.said), countedField(fieldToldBefore, &p.heard.told))
	}
	for _, f := range fields {
		d.AddField(f)
	}
	return d, nil
}

// about is what the session is about beside its words.
func about(c *session.Card) []string {
	out := []string{c.Repo, c.Harness, c.NativeID, c.ID, c.Parent, c.ForkedFrom, c.Agent, c.Commit, c.Dir, c.Owner}
	for _, l := range [][]string{append(c.Branches, c.Branch), c.AllTags(), c.PRs, c.Models} {
		out = append(out, session.Unique(l)...)
	}
	return append(out, firstPaths(c)...)
}

func firstPaths(c *session.Card) []string {
	paths := session.Unique(c.Files, c.Reads)
	return paths[:min(len(paths), maxPaths)]
}

// facetTerms are the values counted in facets, each with its kind.
func facetTerms(c *session.Card) []string {
	var out []string
	add := func(kind string, values ...string) {
		for _, v := range values {
			if v != "" {
				out = append(out, kind+"="+v)
			}
		}
	}
	add("h", c.Harness)
	add("o", c.Owner)
	add("r", c.Repo)
	add("t", c.AllTags()...)
	add("b", append(c.Branches, c.Branch)...)
	add("f", c.Files[:min(len(c.Files), facetFiles)]...)
	return capped(out)
}

// keys are keywords as they are filtered by: lower case, within the token limit.
func keys(values ...string) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, strings.ToLower(v))
	}
	return capped(out)
}

// ownerKeys are the owner and, of a mail address, the name before the "@".
func ownerKeys(owner string) []string {
	name, _, _ := strings.Cut(owner, "@")
	return keys(owner, name)
}

// capped drops empty and repeated terms and those that cannot be one: too long,
// or holding the byte that separates doc values.
func capped(terms []string) []string {
	out := terms[:0:0]
	for _, t := range session.Unique(terms) {
		if len(t) <= 4*maxToken && utf8.ValidString(t) {
			out = append(out, t)
		}
	}
	return out
}

// suffixes are the keywords of paths: each path, in the form of pathKey, and
// each of its ends that begins at a segment. Every run of segments is then the
// beginning of one of them.
func suffixes(paths ...string) []string {
	var out []string
	for _, p := range paths {
		for p = pathKey(p); p != ""; {
			out = append(out, p)
			_, rest, ok := strings.Cut(p, "/")
			if !ok {
				break
			}
			p = rest
		}
	}
	return capped(out)
}

// pathKey is a path as it is compared: lower case, slashes, cleaned, without a
// leading "/", "./" or drive.
func pathKey(p string) string {
	p = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(p), `\`, "/"))
	if len(p) > 1 && p[1] == ':' && 'a' <= p[0] && p[0] <= 'z' {
		p = p[2:]
	}
	if p = strings.Trim(path.Clean("/"+p), "/"); p == "." {
		return ""
	}
	return p
}
