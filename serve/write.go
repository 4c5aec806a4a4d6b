package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"sessdex/indexer"
	"sessdex/session"
)

// Tag adds and removes people's tags on a session.
func (s *Service) Tag(ctx context.Context, ref string, add, remove []string) (*session.Card, error) {
	card, err := s.card(ctx, ref)
	if err != nil {
		return nil, err
	}
	if len(add)+len(remove) == 0 {
		return nil, fmt.Errorf("%w: no tag was given: write +word to add one and -word to remove it", ErrUsage)
	}
	card, err = s.Indexer.Tag(ctx, card.ID, add, remove)
	if errors.Is(err, indexer.ErrTag) {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return card, err
}

// Publish stores a transcript that was handed over. Doing it again changes
// nothing.
func (s *Service) Publish(ctx context.Context, req PublishRequest) (*PublishReply, error) {
	if strings.TrimSpace(req.Transcript) == "" {
		return nil, fmt.Errorf("%w: the transcript is empty", ErrUsage)
	}
	if want := strings.ToLower(strings.TrimSpace(req.ContentSHA256)); want != "" {
		sum := sha256.Sum256([]byte(req.Transcript))
		if got := hex.EncodeToString(sum[:]); got != want {
			return nil, fmt.Errorf("%w: the transcript's SHA-256 is %s, not the %q that was announced: send it again", ErrUsage, got, session.OneLine(want, 64))
		}
	}
	parent := ""
	if req.Parent != "" {
		card, err := s.card(ctx, req.Parent)
		if err != nil {
			return nil, err
		}
		parent = card.NativeID
	}
	saved, err := s.Indexer.Publish(ctx, []byte(req.Transcript), indexer.Published{
		Title: req.Title, Label: req.Label, Tags: req.Tags, Parent: parent,
	})
	switch {
	case errors.Is(err, indexer.ErrUnknownFormat), errors.Is(err, indexer.ErrNoSession), errors.Is(err, indexer.ErrTag):
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	case err != nil:
		return nil, err
	}
	scrubbed := saved.Card.Secrets
	if scrubbed == nil {
		scrubbed = map[string]int{}
	}
	return &PublishReply{
		SchemaVersion: SchemaVersion, ID: saved.Card.ID, Version: saved.Card.Version, Outcome: string(saved.Outcome),
		Scrubbed: scrubbed, Turns: saved.Card.Turns.Total(),
	}, nil
}
