package search

import (
	"context"
	"errors"
	"strings"
	"time"

	index "github.com/blevesearch/bleve_index_api"
)

// A filter is what must hold of a session, from the query's text and its fields.
// Values of one list are alternatives; the lists, tags and files must all hold.
//
// Filters are resolved on the sessions index, before any word is looked up, into
// one bit per session. Turns say which session they belong to, so a filter costs
// nothing per turn and narrows everything that is counted.
type filter struct {
	harness, branch, repo, author [][]string
	tags, files                   []string
	role                          []string
	since, until                  time.Time
	viewer, parent                string
	exclude                       []string
	subagents                     bool
}

func newFilter(q Query, p Parsed, now time.Time) filter {
	f := filter{
		tags: append(p.Tags, q.Tags...), files: p.Files, role: append(lower(p.Role), lower(q.Role)...),
		since: q.Since, until: q.Until, viewer: q.Viewer, exclude: q.Exclude, parent: q.Parent, subagents: q.Subagents || q.Parent != "",
	}
	f.harness = alternatives(p.Harness, q.Harness)
	f.branch = alternatives(p.Branch, one(q.Branch))
	f.repo = alternatives(p.Repo, one(q.Repo))
	f.author = alternatives(p.Author, one(q.Author))
	if q.File != "" {
		f.files = append(f.files, q.File)
	}
	if from, _, ok := ParseDate(p.Since, now); ok && from.After(f.since) {
		f.since = from
	}
	if _, to, ok := ParseDate(p.Until, now); ok && (f.until.IsZero() || to.Before(f.until)) {
		f.until = to
	}
	return f
}

// alternatives keeps the lists that say something.
func alternatives(lists ...[]string) (out [][]string) {
	for _, l := range lists {
		if len(l) > 0 {
			out = append(out, l)
		}
	}
	return out
}

func one(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func lower(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.ToLower(s)
	}
	return out
}

// apply marks the rows that pass.
func (f *filter) apply(ctx context.Context, r index.IndexReader, t *table) ([]bool, error) {
	pass := make([]bool, len(t.rows))
	excluded := make(map[string]bool, len(f.exclude))
	for _, id := range f.exclude {
		excluded[strings.ToLower(id)] = true
	}
	since, until := f.since.Unix(), f.until.Unix()
	for i := range t.rows {
		row := &t.rows[i]
		pass[i] = (f.subagents || !row.sub || t.orphan != nil && t.orphan[i]) &&
			(f.since.IsZero() || row.last >= since) &&
			(f.until.IsZero() || row.last < until && row.last != rowNever) &&
			!excluded[row.id]
	}
	n := narrow{ctx: ctx, r: r, t: t, pass: pass}
	if f.viewer != "" {
		n.keep(fieldViewer, f.viewer)
	}
	if f.parent != "" {
		n.keep(fieldParent, strings.ToLower(f.parent))
	}
	for _, l := range f.harness {
		n.keep(fieldHarness, lower(l)...)
	}
	for _, l := range f.author {
		n.keep(fieldOwner, lower(l)...)
	}
	for _, tag := range f.tags {
		n.keep(fieldTag, strings.ToLower(tag))
	}
	for _, l := range f.branch {
		n.keep(fieldBranch, pathKeys(l)...)
	}
	for _, l := range f.repo {
		n.keep(fieldRepo, pathKeys(l)...)
	}
	for _, file := range f.files {
		n.keepPath(file)
	}
	if len(excluded) > 0 { // by native id, too
		drop := n.rowsOf(fieldNative, lower(f.exclude)...)
		for i := range pass {
			pass[i] = pass[i] && !drop[i]
		}
	}
	return pass, n.err
}

func pathKeys(l []string) []string {
	out := make([]string, len(l))
	for i, s := range l {
		out[i] = pathKey(s)
	}
	return out
}

// narrow takes rows away from pass; the first error ends it.
type narrow struct {
	ctx  context.Context
	r    index.IndexReader
	t    *table
	pass []bool
	err  error
}

// keep keeps the rows that have any of the terms.
func (n *narrow) keep(field string, terms ...string) {
	have := n.rowsOf(field, terms...)
	for i := range n.pass {
		n.pass[i] = n.pass[i] && have[i]
	}
}

// maxPathTerms is how many indexed paths one file filter may stand for.
const maxPathTerms = 20_000

// keepPath keeps the rows with a path that holds this run of segments: indexed
// are the ends of paths, so those that begin with it.
func (n *narrow) keepPath(file string) {
	key := pathKey(file)
	terms := []string{key}
	if n.err == nil {
		n.err = eachTerm(n.r, fieldFile, key+"/", func(t string, _ uint64) bool {
			terms = append(terms, t)
			return len(terms) < maxPathTerms
		})
	}
	n.keep(fieldFile, terms...)
}

// rowsOf marks the rows that have any of the terms.
func (n *narrow) rowsOf(field string, terms ...string) []bool {
	have := make([]bool, len(n.t.rows))
	for _, term := range terms {
		n.each(field, term, func(row int) { have[row] = true })
	}
	return have
}

// each visits the rows that have the term, in their order.
func (n *narrow) each(field, term string, visit func(row int)) {
	if n.err == nil {
		n.err = n.visit(field, term, visit)
	}
}

func (n *narrow) visit(field, term string, visit func(row int)) (err error) {
	f, err := n.r.TermFieldReader(n.ctx, []byte(term), field, false, false, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	rows := n.t.rows
	var d index.TermFieldDoc
	at := 0
	for {
		next, err := f.Next(d.Reset())
		if err != nil || next == nil {
			return err
		}
		doc := next.ID.Value()
		for at < len(rows) && rows[at].doc < doc {
			at++
		}
		if at < len(rows) && rows[at].doc == doc {
			visit(at)
		}
	}
}
