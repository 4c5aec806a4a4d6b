package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sessdex/harness"
	"sessdex/search"
	"sessdex/session"
)

// relate finds sessions that begin with a copy of another one's history without
// saying so, among the sessions with these ids and their kin, and writes it on their
// cards and into the index: each turn then counts in one session only. It looks at all
// kin anew each time, so the answer does not depend on the order in which they came.
// It returns how many turns of its own each session has whose card it changed.
func (x *Indexer) relate(ctx context.Context, w *search.Writer, ids []string) (map[string]int, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	groups, err := x.Index.Kin(ctx, ids)
	if errors.Is(err, search.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("compare sessions: %w", err)
	}
	own := map[string]int{}
	for _, group := range groups {
		family := make([]*relative, 0, len(group))
		for _, id := range group {
			r, err := x.relative(ctx, id)
			if err != nil {
				x.Log.Warn("a session is not compared with others", "session", id, "err", err)
				continue
			}
			family = append(family, r)
		}
		decide(family)
		for _, r := range family {
			if !r.differs() && !(r.card.Copied && slices.Contains(ids, r.card.ID)) {
				continue
			}
			card, err := x.inherit(ctx, w, r)
			if err != nil {
				return own, fmt.Errorf("note where session %s comes from: %w", r.card.ID, err)
			}
			if card != nil {
				own[card.ID] = ownTurns(card)
			}
		}
	}
	return own, w.Flush(ctx)
}

// ownTurns is how many turns a session has that no other said first.
func ownTurns(c *session.Card) int { return c.Turns.Less(c.Inherited).Total() }

// relateSynced is relate for what a sync brought into the index.
func (x *Indexer) relateSynced(ctx context.Context, synced *SyncReport, rep *Report) error {
	own, err := x.relateNow(ctx, synced.put)
	if err != nil {
		return err
	}
	rep.recount(own)
	return x.state().recount(own)
}

// relateNow is relate for sessions that are in the index.
func (x *Indexer) relateNow(ctx context.Context, ids []string) (map[string]int, error) {
	w := x.Index.Writer()
	own, err := x.relate(ctx, w, ids)
	return own, errors.Join(err, w.Close(ctx))
}

func (x *Indexer) relative(ctx context.Context, id string) (*relative, error) {
	card, _, err := x.Library.Card(ctx, id)
	if err != nil {
		return nil, err
	}
	turns, err := x.Index.Outline(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(turns) != card.Turns.Total() {
		return nil, fmt.Errorf("the index has %d of its %d turns: it is being imported again", len(turns), card.Turns.Total())
	}
	return newRelative(card, turns), nil
}

// inherit writes on the card of r what decide found, and puts the session into the
// index again. It returns nil where the card says so already or was changed meanwhile.
func (x *Indexer) inherit(ctx context.Context, w *search.Writer, r *relative) (*session.Card, error) {
	h := harness.ByName(r.card.Harness)
	if h == nil {
		return nil, nil
	}
	in, _, err := x.Library.Transcript(ctx, r.card, "")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	// The parser knows what opens a session that begins with a copy.
	p, err := parse(ctx, h, harness.Source{Harness: h, Path: r.card.SourcePath, ForkedFrom: r.from, Inherited: r.inherited}, in)
	if err != nil {
		return nil, err
	}
	changed := false
	card, version, err := x.Library.EditCard(ctx, r.card.ID, func(c *session.Card) error {
		changed = false
		if c.Version != r.card.Version {
			return nil // whoever wrote it compares it
		}
		before := *c
		c.ForkedFrom, c.Copied, c.Inherited = r.from, r.copied, session.Counts{}
		for _, t := range r.turns[:r.inherited] {
			c.Inherited.Add(t.Role)
		}
		c.Opening, c.Title, c.TitleSource = p.meta.Opening, p.meta.Title, p.meta.TitleSource
		changed = before.ForkedFrom != c.ForkedFrom || before.Copied != c.Copied || before.Inherited != c.Inherited ||
			before.Opening != c.Opening || before.Title != c.Title || before.TitleSource != c.TitleSource
		return nil
	})
	if err != nil || !changed {
		return nil, err
	}
	return card, w.Put(ctx, search.Document{Card: card, CardVersion: version, Turns: p.turns})
}
