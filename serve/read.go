package serve

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"sessdex/contextpack"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/search"
	"sessdex/session"
)

// Context packs a session into a token budget. The current version is read from
// the index, without touching the bucket beyond the card.
func (s *Service) Context(ctx context.Context, req ContextRequest) (*contextpack.Pack, error) {
	card, err := s.card(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	return s.pack(ctx, card, req.Version, req.Options)
}

// pack is Context for a card that was read.
func (s *Service) pack(ctx context.Context, card *session.Card, version string, o contextpack.Options) (pack *contextpack.Pack, err error) {
	err = s.withTurns(ctx, card, version, func(card *session.Card, read contextpack.Reader) error {
		pack, err = s.Packer.Pack(ctx, card, read, o)
		return err
	})
	if errors.Is(err, contextpack.ErrOptions) {
		return nil, usage("%v", err)
	}
	return pack, err
}

// Read gives the turns from..to of a session, both inclusive; to 0 means the end,
// and a negative from the last -from turns.
func (s *Service) Read(ctx context.Context, ref, version string, from, to int) (*Turns, error) {
	card, err := s.card(ctx, ref)
	if err != nil {
		return nil, err
	}
	out := &Turns{}
	err = s.withTurns(ctx, card, version, func(card *session.Card, read contextpack.Reader) error {
		out.Card, out.Total = card, card.Turns.Total()
		if from < 0 {
			from = max(1, out.Total+from+1)
		}
		if to == 0 || to > out.Total {
			to = out.Total
		}
		out.Turns, err = read(ctx, max(1, from), to)
		return err
	})
	return out, err
}

// withTurns gives fn a reader of the turns of a version, and the card as of that
// version.
func (s *Service) withTurns(ctx context.Context, card *session.Card, version string, fn func(*session.Card, contextpack.Reader) error) error {
	v, err := library.FindVersion(card, version)
	if err != nil {
		return notFound("%v", err)
	}
	if v.Version != card.Version {
		return s.withStored(ctx, card, v, fn)
	}
	err = s.Index.View(ctx, func(view *search.View) error {
		return fn(card, func(ctx context.Context, from, to int) ([]session.Turn, error) {
			return view.Turns(ctx, card.ID, from, to)
		})
	})
	if errors.Is(err, search.ErrMissing) || errors.Is(err, search.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		return s.withStored(ctx, card, v, fn) // the index is a view: the bucket has it all
	}
	return err
}

// withStored parses a version from the bucket.
func (s *Service) withStored(ctx context.Context, card *session.Card, v session.Version, fn func(*session.Card, contextpack.Reader) error) error {
	seq, err := s.Indexer.Turns(ctx, card, v.Version)
	if err != nil {
		return err
	}
	turns := slices.Collect(seq)
	then := *card
	then.Version, then.SHA256, then.Bytes = v.Version, v.SHA256, v.Bytes
	then.Turns = session.Counts{}
	for i := range turns {
		then.Turns.Add(turns[i].Role)
	}
	return fn(&then, func(_ context.Context, from, to int) ([]session.Turn, error) {
		from, to = max(from, 1), min(to, len(turns))
		if from > to {
			return nil, nil
		}
		return turns[from-1 : to], nil
	})
}

// Limits of a summary.
const (
	outlineRunes    = 200
	summaryCommands = 20
	maxChildren     = 100
)

// Summary is a session at a glance.
func (s *Service) Summary(ctx context.Context, ref, version string) (*Summary, error) {
	card, err := s.card(ctx, ref)
	if err != nil {
		return nil, err
	}
	sum := &Summary{SchemaVersion: SchemaVersion, Outline: []OutlineItem{}, Commands: []string{}, Children: []string{}, Resume: s.resumeLine(&card.Meta, card.ID)}
	err = s.withTurns(ctx, card, version, func(card *session.Card, read contextpack.Reader) error {
		sum.Card = card
		turns, err := read(ctx, 1, card.Turns.Total())
		for i := range turns {
			sum.turn(&turns[i])
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sum.Children, err = s.children(ctx, card)
	return sum, err
}

func (sum *Summary) turn(t *session.Turn) {
	own := t.N > sum.Card.Inherited.Total()
	if t.Failed && own {
		sum.Errors++
	}
	switch {
	case t.Undone:
	case t.Role == session.User:
		sum.Outline = append(sum.Outline, OutlineItem{t.N, t.Time, session.OneLine(t.Text, outlineRunes)})
	case t.Role == session.Assistant && t.Text != "":
		sum.Last = t.Text
	case t.Role == session.Tool && own && indexer.IsShell(t.Tool):
		sum.Commands = append(sum.Commands, session.OneLine(called(t), outlineRunes))
		if n := len(sum.Commands); n > summaryCommands {
			sum.Commands = sum.Commands[n-summaryCommands:]
		}
	}
}

// called is what a tool turn is about: of a shell's arguments only the command.
func called(t *session.Turn) string {
	if indexer.IsShell(t.Tool) {
		return session.Command(t.Input)
	}
	return t.Input
}

// children lists the sub-agent sessions that a session started.
func (s *Service) children(ctx context.Context, card *session.Card) ([]string, error) {
	ids := []string{}
	res, err := s.Index.Search(ctx, search.Query{Parent: card.NativeID, Limit: maxChildren})
	if errors.Is(err, search.ErrMissing) {
		return ids, nil // the card and the transcript are still there
	}
	if err != nil {
		return ids, s.indexError(err)
	}
	for _, h := range res.Hits {
		if h.ID != card.ID { // a transcript may claim anything
			ids = append(ids, h.ID)
		}
	}
	return ids, nil
}
