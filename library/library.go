// Package library is what the bucket holds: for every session a card and a
// transcript, and nothing that could not be read without this program.
//
//	<workspace>/cards/<id>.json                    what we know and what people said (session.Card)
//	<workspace>/transcripts/<id>/<version>.zst     scrubbed bytes as the harness wrote them, immutable
//
// The blob is written before the card that names it, and a card is replaced
// only where nobody else replaced it meanwhile. So a crash leaves at worst an
// unnamed blob, and two writers never undo each other. A Library may be used by
// any number of goroutines and processes.
package library

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"strings"
	"time"

	"sessdex/blobstore"
	"sessdex/session"
)

// DefaultWorkspace is the workspace of a person alone.
const DefaultWorkspace = "default"

// ErrNewerCard means that a newer Sessdex wrote the card: this one reads it but
// will not overwrite it.
var ErrNewerCard = errors.New("the card was written by a newer sessdex: update this one")

// maxCard bounds what is written and read as a card.
const maxCard = 32 << 20

// ErrCardSize means that what is known of a session is too much for a card.
var ErrCardSize = errors.New("the card would be larger than 32 MiB")

// maxRaces is how often a lost race is tried again before giving up.
const maxRaces = 20

// Library reads and writes the sessions of one workspace.
type Library struct {
	store     blobstore.Store
	workspace string
}

// New returns the library of a workspace. It does no I/O.
func New(store blobstore.Store, workspace string) *Library {
	return &Library{store: store, workspace: workspace}
}

// IsFolder reports whether a folder is where some library's objects are kept.
func IsFolder(dir string) bool { return blobstore.IsDir(dir) }

// Address is the store's address without credentials, for messages and as the
// name of what is remembered about this library.
func (l *Library) Address() string { return l.store.String() + "#" + l.workspace }

func (l *Library) cardKey(id string) string {
	return path.Join(l.workspace, "cards", id+".json")
}

func (l *Library) transcriptKey(id, version string) string {
	return path.Join(l.workspace, "transcripts", id, version+".zst")
}

// Card reads a card and the version of its object. A session that is not there is
// fs.ErrNotExist, a card that cannot be read blobstore.ErrDamaged, one of an unknown
// shape ErrNewerCard; the version comes with these two as well.
func (l *Library) Card(ctx context.Context, id string) (*session.Card, string, error) {
	if len(id) != session.IDLen || !session.ValidIDPrefix(id) {
		return nil, "", fmt.Errorf("session %q: %w", id, fs.ErrNotExist)
	}
	raw, version, err := l.readCard(ctx, id)
	if err != nil {
		return nil, version, fmt.Errorf("read card of %s: %w", id, err)
	}
	card, err := decodeCard(id, raw)
	if err != nil {
		return nil, version, fmt.Errorf("read card of %s: %w", id, err)
	}
	return card, version, nil
}

// readCard reads a card's bytes, as many as there are, and its object's version.
func (l *Library) readCard(ctx context.Context, id string) ([]byte, string, error) {
	r, info, err := l.store.Get(ctx, l.cardKey(id))
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxCard+1))
	return raw, info.Version, err
}

func decodeCard(id string, raw []byte) (*session.Card, error) {
	var card session.Card
	err := json.Unmarshal(raw, &card)
	switch {
	case len(raw) > maxCard:
		err = fmt.Errorf("larger than %d bytes", maxCard)
	case err != nil:
		var newer struct {
			Schema int `json:"schema"`
		}
		if json.Unmarshal(raw, &newer) == nil && newer.Schema > session.CardSchema {
			return nil, ErrNewerCard // of a shape that this program does not know
		}
	case card.ID != id:
		err = fmt.Errorf("it names session %q", card.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", blobstore.ErrDamaged, err)
	}
	return &card, nil
}

// setAside keeps the bytes of a damaged card beside the cards, for a person to look
// at, before a new card takes its place.
func (l *Library) setAside(ctx context.Context, id string, raw []byte) error {
	sum := sha256.Sum256(raw)
	key := path.Join(l.workspace, "damaged", id+"-"+hex.EncodeToString(sum[:4])+".json")
	_, err := l.store.Put(ctx, key, bytes.NewReader(raw), int64(len(raw)), blobstore.Cond{})
	return err
}

// Cards lists the id and the object version of every card, by id.
func (l *Library) Cards(ctx context.Context) iter.Seq2[CardRef, error] {
	return l.CardsWithPrefix(ctx, "")
}

// CardRef names one state of one card.
type CardRef struct {
	ID      string
	Version string    // of the card's object
	Time    time.Time // when it was written, by the store's clock
}

// CardsWithPrefix lists the cards whose id begins with prefix.
func (l *Library) CardsWithPrefix(ctx context.Context, prefix string) iter.Seq2[CardRef, error] {
	return func(yield func(CardRef, error) bool) {
		if prefix != "" && !session.ValidIDPrefix(prefix) {
			return
		}
		dir := path.Join(l.workspace, "cards") + "/"
		for info, err := range l.store.List(ctx, dir+prefix) {
			if err != nil {
				yield(CardRef{}, fmt.Errorf("list sessions in %s: %w", l.store, err))
				return
			}
			id, ok := strings.CutSuffix(strings.TrimPrefix(info.Key, dir), ".json")
			if !ok || len(id) != session.IDLen || !session.ValidIDPrefix(id) {
				continue // not ours
			}
			if !yield(CardRef{id, info.Version, info.Time}, nil) {
				return
			}
		}
	}
}

// EditCard changes a card with edit, which may be called again on a newer card
// when another writer came first, and must change only what it is about. It
// returns the card as stored. An error of edit stops it and is returned.
func (l *Library) EditCard(ctx context.Context, id string, edit func(*session.Card) error) (*session.Card, string, error) {
	for range maxRaces {
		card, version, err := l.Card(ctx, id)
		if err != nil {
			return nil, "", err
		}
		before, err := encodeCard(card)
		if err != nil {
			return nil, "", err
		}
		if err := edit(card); err != nil {
			return nil, "", err
		}
		if after, err := encodeCard(card); err == nil && bytes.Equal(before, after) {
			return card, version, nil // nothing to write
		}
		version, err = l.putCard(ctx, card, blobstore.IfVersion(version))
		if errors.Is(err, blobstore.ErrLostRace) {
			continue
		}
		return card, version, err
	}
	return nil, "", fmt.Errorf("edit card of %s: %w", id, blobstore.ErrLostRace)
}

func (l *Library) putCard(ctx context.Context, card *session.Card, cond blobstore.Cond) (string, error) {
	if card.Schema > session.CardSchema {
		return "", fmt.Errorf("write card of %s: %w", card.ID, ErrNewerCard)
	}
	card.Schema = session.CardSchema
	raw, err := encodeCard(card)
	if err == nil && len(raw) > maxCard {
		err = ErrCardSize
	}
	if err != nil {
		return "", fmt.Errorf("write card of %s: %w", card.ID, err)
	}
	info, err := l.store.Put(ctx, l.cardKey(card.ID), bytes.NewReader(raw), int64(len(raw)), cond)
	if err != nil {
		return "", fmt.Errorf("write card of %s: %w", card.ID, err)
	}
	return info.Version, nil
}

func encodeCard(card *session.Card) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(card)
	return b.Bytes(), err
}
