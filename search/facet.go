package search

import (
	"cmp"
	"slices"
	"strings"

	index "github.com/blevesearch/bleve_index_api"
)

// facetNames are the kinds of facet terms, see facetTerms.
var facetNames = map[byte]string{'h': "harness", 't': "tag", 'r': "repo", 'b': "branch", 'f': "file", 'o': "author"}

// maxFacet is how many values of a kind are given, most sessions first.
const maxFacet = 20

// facets counts, over the sessions found, how many have each value.
func (s *search) facets(hits []*found) (map[string][]Facet, error) {
	counts := map[string]int{}
	reader := s.v.l.sessions.reader
	values, err := reader.DocValueReader([]string{fieldFacet})
	if err != nil {
		return nil, err
	}
	docs := make([]uint64, len(hits))
	for i, f := range hits {
		docs[i] = s.v.t.rows[f.row].doc
	}
	slices.Sort(docs) // doc values are read in chunks
	var id index.IndexInternalID
	for i, doc := range docs {
		if i%checkEvery == 0 && s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		id = index.NewIndexInternalID(id, doc)
		if err := values.VisitDocValues(id, func(_ string, term []byte) { counts[string(term)]++ }); err != nil {
			return nil, err
		}
	}
	out := map[string][]Facet{}
	for _, name := range facetNames {
		out[name] = []Facet{}
	}
	for term, n := range counts {
		kind, value, _ := strings.Cut(term, "=")
		if name := facetNames[kind[0]]; name != "" {
			out[name] = append(out[name], Facet{Value: value, Count: n})
		}
	}
	for name, list := range out {
		slices.SortFunc(list, func(a, b Facet) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
		})
		out[name] = list[:min(len(list), maxFacet)]
	}
	return out, nil
}
