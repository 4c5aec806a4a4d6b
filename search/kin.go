package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"

	"sessdex/session"
)

// Sessions that begin with a copy of another's history have its turns under the
// harness's own ids. A copy begins with the first turn of the original or, where that
// was compacted, with a summary; so the ids of these are a session's roots, and
// sessions with a root in common are kin.

// minRootRef is how long a harness's id of a turn must be to be the only one in the
// world; shorter ones are counters.
const minRootRef = 20

// maxRoots bounds the roots of a session.
const maxRoots = 1000

// appendRoot adds a turn to the roots of its session if it is one.
func appendRoot(roots []string, t *session.Turn) []string {
	if t.N != 1 && t.Role != session.Summary || len(t.Ref) < minRootRef || len(roots) == maxRoots {
		return roots
	}
	return append(roots, t.Ref)
}

// rootTerms are the keywords of a session's roots. Copies are looked for among one
// owner's sessions of one harness.
func rootTerms(c *session.Card, refs []string) []string {
	out := make([]string, 0, len(refs))
	for _, ref := range refs {
		sum := sha256.Sum256([]byte(c.Owner + "\x00" + c.Harness + "\x00" + ref))
		out = append(out, hex.EncodeToString(sum[:8]))
	}
	return out
}

// Kin gives the groups of sessions that have a root in common with one of these,
// directly or by way of others, each group in the order of the ids. One that is alone
// is a group only where its card says that it inherited turns. It costs a few
// look-ups for each id.
func (x *Index) Kin(ctx context.Context, ids []string) (groups [][]string, err error) {
	err = x.View(ctx, func(v *View) error {
		groups, err = v.kin(ctx, ids)
		return err
	})
	return groups, err
}

func (v *View) kin(ctx context.Context, ids []string) ([][]string, error) {
	r := v.l.sessions.reader
	values, err := r.DocValueReader([]string{fieldRoot})
	if err != nil {
		return nil, fmt.Errorf("look for copies: %w", damaged(err))
	}
	n := narrow{ctx: ctx, r: r, t: v.t}
	var id index.IndexInternalID
	done := make(map[int]bool, len(ids))
	var groups [][]string
	for _, first := range ids {
		row, ok := v.t.byID[first]
		if !ok || done[row] {
			continue
		}
		done[row] = true
		group := []int{row}
		asked := map[string]bool{}
		for at := 0; at < len(group); at++ {
			id = index.NewIndexInternalID(id, v.t.rows[group[at]].doc)
			var roots []string
			if err := values.VisitDocValues(id, func(_ string, term []byte) { roots = append(roots, string(term)) }); err != nil {
				return nil, fmt.Errorf("look for copies: %w", damaged(err))
			}
			for _, root := range roots {
				if asked[root] {
					continue
				}
				asked[root] = true
				n.each(fieldRoot, root, func(row int) {
					if !done[row] {
						done[row] = true
						group = append(group, row)
					}
				})
			}
			if n.err != nil {
				return nil, fmt.Errorf("look for copies: %w", damaged(n.err))
			}
		}
		if len(group) > 1 || v.t.rows[row].inherited > 0 {
			names := make([]string, len(group))
			for i, row := range group {
				names[i] = v.t.rows[row].id
			}
			slices.Sort(names)
			groups = append(groups, names)
		}
	}
	return groups, nil
}

// Outline gives all turns of a session without their texts, tools and paths: what it
// takes to compare it with another.
func (x *Index) Outline(ctx context.Context, id string) (turns []session.Turn, err error) {
	err = x.View(ctx, func(v *View) error {
		blocks, err := v.blocksOf(id)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			pieces, err := v.block(id, b)
			if err != nil {
				return err
			}
			for _, p := range pieces {
				if p.K == 0 {
					turns = append(turns, session.Turn{N: p.N, Role: p.Role, Time: p.Time, Ref: strings.Clone(p.Ref), Undone: p.Undone})
				}
			}
			clear(v.blocks)
		}
		return nil
	})
	return turns, err
}
