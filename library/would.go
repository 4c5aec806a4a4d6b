package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"sessdex/blobstore"
	"sessdex/session"
)

// Would says what Save is going to make of a draft, and changes nothing in the library.
// A state that the library has surpassed is unchanged to it, although Save may keep its
// words beside the current ones.
func (l *Library) Would(ctx context.Context, d *Draft, fresh *session.Card) (Outcome, error) {
	if err := d.Finish(); err != nil {
		return "", fmt.Errorf("read session %s: %w", fresh.ID, err)
	}
	next := *fresh
	next.SHA256, next.Bytes = d.SHA256(), d.Size()
	next.Version = next.SHA256[:versionLen]
	old, oldVersion, err := l.Card(ctx, next.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, blobstore.ErrDamaged) && oldVersion != "":
		return Created, nil
	case err != nil:
		return "", err
	case old.SHA256 != next.SHA256 && supersedes(&next, old):
		return Changed, nil
	case old.SHA256 != next.SHA256:
		return Unchanged, nil
	}
	card := merge(old, &next)
	card.Secrets = atLeast(card.Secrets, old.Secrets)
	if sameCard(old, card) {
		return Unchanged, nil
	}
	return Changed, nil
}
