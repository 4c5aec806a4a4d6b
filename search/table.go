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
//	id TAB last activity (Unix seconds + 1<<40, 11 hex digits) "s"|"h"|"-" turns (hex)
//	"," inherited turns (hex) "," origin "," parent TAB card version
//
// "s" marks a sub-agent, "h" one that was asked nothing a person could read; origin
// and parent are the ids of the sessions it was copied from and started by, or empty.
type row struct {
	id        string
	version   string
	last      int64 // Unix seconds; rowNever without a time
	turns     int   // those inherited included
	inherited int   // leading turns that origin said first
	origin    string
	parent    string
	doc       uint64
	sub       bool
	mute      bool // a sub-agent without an opening
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
	kind, origin, parent := "-", "", ""
	if c.Subagent {
		kind = "s"
		if c.Opening == "" {
			kind = "h"
		}
		if c.Parent != "" {
			parent = session.NewID(c.Owner, c.Harness, c.Parent)
		}
	}
	if inherited(c) > 0 {
		origin = session.NewID(c.Owner, c.Harness, c.ForkedFrom)
	}
	return fmt.Sprintf("%s\t%011x%s%x,%x,%s,%s\t%s", c.ID, last+rowBase, kind,
		c.Turns.Total(), inherited(c), origin, parent, version)
}

// inherited is how many of a session's leading turns another one said first.
func inherited(c *session.Card) int {
	if c.ForkedFrom == "" {
		return 0
	}
	return c.Inherited.Total()
}

func parseRow(term []byte) (row, bool) {
	id, rest, ok := bytes.Cut(term, []byte{'\t'})
	state, version, ok2 := bytes.Cut(rest, []byte{'\t'})
	if !ok || !ok2 || len(state) < 12 {
		return row{}, false
	}
	last, err := strconv.ParseInt(string(state[:11]), 16, 64)
	parts := strings.Split(string(state[12:]), ",")
	if len(parts) != 4 {
		return row{}, false
	}
	turns, err2 := strconv.ParseInt(parts[0], 16, 32)
	inherited, err3 := strconv.ParseInt(parts[1], 16, 32)
	r := row{
		id: string(id), version: string(version), last: last - rowBase, turns: int(turns), inherited: int(inherited),
		origin: parts[2], parent: parts[3], sub: state[11] != '-', mute: state[11] == 'h',
	}
	return r, err == nil && err2 == nil && err3 == nil
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
	copied []bool         // see found elsewhere in copied.go; nil where no session is a fork
	orphan []bool         // sub-agents whose parent is not here; nil where there is none
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
			t.copied = t.elsewhere(nil)
			t.orphan = t.orphans()
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
