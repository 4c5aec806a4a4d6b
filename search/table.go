package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	index "github.com/blevesearch/bleve_index_api"

	"sessdex/session"
)

// A row is what every query needs to know of every session. It is kept as one
// doc value of the session's document:
//
//	id TAB last activity (Unix seconds + 1<<40, 11 hex digits) "s"|"-" turns (hex) TAB card version
//
// "s" marks a sub-agent.
type row struct {
	id      string
	version string
	last    int64 // Unix seconds; rowNever without a time
	turns   int
	doc     uint64
	sub     bool
}

const (
	rowBase  = 1 << 40
	rowNever = -rowBase
)

func rowTerm(c *session.Card, version string) string {
	last := int64(rowNever)
	if !c.LastActive.IsZero() {
		last = max(min(c.LastActive.Unix(), rowBase-1), rowNever)
	}
	kind := "-"
	if c.Subagent {
		kind = "s"
	}
	return fmt.Sprintf("%s\t%011x%s%x\t%s", c.ID, last+rowBase, kind, c.Turns.Total(), version)
}

func parseRow(term []byte) (row, bool) {
	id, rest, ok := bytes.Cut(term, []byte{'\t'})
	state, version, ok2 := bytes.Cut(rest, []byte{'\t'})
	if !ok || !ok2 || len(state) < 12 {
		return row{}, false
	}
	last, err := strconv.ParseInt(string(state[:11]), 16, 64)
	turns, err2 := strconv.ParseInt(string(state[12:]), 16, 32)
	r := row{id: string(id), version: string(version), last: last - rowBase, sub: state[11] == 's', turns: int(turns)}
	return r, err == nil && err2 == nil
}

// time is the last activity; zero where none is known.
func (r *row) time() time.Time {
	if r.last == rowNever {
		return time.Time{}
	}
	return time.Unix(r.last, 0).UTC()
}

// A table is the rows of all sessions at one moment. It is immutable.
type table struct {
	dir    string         // the generation it was read from
	root   time.Time      // and its state
	serial uint64         //
	rows   []row          // in the order of their documents
	byID   map[string]int // session id: place in rows
	newest []int32        // places, last active first, then by id
}

// readTable reads the rows, or gives those of the last call where nothing was
// written since.
func (x *Index) readTable(ctx context.Context, l *lease) (*table, error) {
	x.mu.Lock()
	t := x.table
	x.mu.Unlock()
	if t != nil && t.dir == l.dir && t.serial == l.sessions.serial && t.root.Equal(l.sessions.root) {
		return t, nil
	}
	t, err := loadTable(ctx, l.sessions.reader)
	if err != nil {
		return nil, err
	}
	t.dir, t.serial, t.root = l.dir, l.sessions.serial, l.sessions.root
	x.mu.Lock()
	x.table = t
	x.mu.Unlock()
	return t, nil
}

// loadTable reads the doc values of all session documents.
func loadTable(ctx context.Context, r index.IndexReader) (*table, error) {
	all, err := r.DocIDReaderAll()
	if err != nil {
		return nil, err
	}
	defer all.Close()
	values, err := r.DocValueReader([]string{fieldRow})
	if err != nil {
		return nil, err
	}
	n, _ := r.DocCount()
	t := &table{rows: make([]row, 0, n), byID: make(map[string]int, n)}
	for {
		id, err := all.Next()
		if err != nil || id == nil {
			t.sort()
			return t, err
		}
		if len(t.rows)%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err = values.VisitDocValues(id, func(_ string, term []byte) {
			if r, ok := parseRow(term); ok {
				r.doc = id.Value()
				t.byID[r.id] = len(t.rows)
				t.rows = append(t.rows, r)
			}
		})
		if err != nil {
			return nil, err
		}
	}
}

func (t *table) sort() {
	t.newest = make([]int32, len(t.rows))
	for i := range t.newest {
		t.newest[i] = int32(i)
	}
	slices.SortFunc(t.newest, func(a, b int32) int {
		ra, rb := &t.rows[a], &t.rows[b]
		switch {
		case ra.last > rb.last:
			return -1
		case ra.last < rb.last:
			return 1
		}
		return strings.Compare(ra.id, rb.id)
	})
}

// A place names a piece: turn n, piece k.
type place struct{ n, k int }

// The blocks field lists the first piece of each block of a session as uvarints:
// the step from the block before in n, then k.
func appendPlace(b []byte, last, p place) []byte {
	b = binary.AppendUvarint(b, uint64(p.n-last.n))
	return binary.AppendUvarint(b, uint64(p.k))
}

func parsePlaces(b []byte) []place {
	d := decoder{b: string(b)}
	var out []place
	last := place{}
	for len(d.b) > 0 && !d.bad {
		last = place{last.n + int(d.uvarint()), int(d.uvarint())}
		out = append(out, last)
	}
	return out
}
