package library

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"sessdex/blobstore"
	"sessdex/session"
)

// Outcome says what Save did.
type Outcome string

// The three outcomes.
const (
	Created   Outcome = "new"
	Changed   Outcome = "changed"
	Unchanged Outcome = "unchanged"
)

// Saved is the state of a session after Save.
type Saved struct {
	Card        *session.Card
	CardVersion string // of the card's object
	Outcome     Outcome
	Current     bool // the draft's bytes are the session's current version
}

// versionLen is the number of hex digits of a transcript's version.
const versionLen = 12

// Save stores a finished draft and the card made from it. fresh holds what the
// transcript shows; what people said on an existing card is kept, and added to
// by what fresh brings (people's title, tags, label, readers).
//
// No words are lost: a stored version that is a prefix of the draft, or that the
// draft holds by compare, is replaced; any other is kept beside it in Card.Older. A
// draft that another file already surpassed (a copy of an older state) changes nothing.
func (l *Library) Save(ctx context.Context, d *Draft, fresh *session.Card, compare Compare) (Saved, error) {
	if err := d.Finish(); err != nil {
		return Saved{}, fmt.Errorf("save session %s: %w", fresh.ID, err)
	}
	fresh.SHA256, fresh.Bytes = d.SHA256(), d.Size()
	fresh.Version = fresh.SHA256[:versionLen]
	for range maxRaces {
		saved, err := l.save(ctx, d, fresh, compare)
		if errors.Is(err, blobstore.ErrLostRace) {
			continue
		}
		if err != nil {
			return Saved{}, fmt.Errorf("save session %s: %w", fresh.ID, err)
		}
		return saved, nil
	}
	return Saved{}, fmt.Errorf("save session %s: %w", fresh.ID, blobstore.ErrLostRace)
}

// Compare looks, in two transcripts of one session of which neither begins with the
// other's bytes, whether the draft holds all that was said in the stored one, or the
// stored one all that was said in the draft. It may be nil, and says nothing where it
// cannot tell. Documents that are written anew as a whole need it: they never begin
// with what they were.
type Compare func(ctx context.Context, stored *session.Card) (draftHolds, storedHolds bool)

func (c Compare) ask(ctx context.Context, stored *session.Card) (draftHolds, storedHolds bool) {
	if c == nil {
		return false, false
	}
	return c(ctx, stored)
}

func (l *Library) save(ctx context.Context, d *Draft, fresh *session.Card, compare Compare) (Saved, error) {
	old, oldVersion, err := l.Card(ctx, fresh.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return l.create(ctx, d, fresh, blobstore.IfAbsent())
	case errors.Is(err, blobstore.ErrDamaged) && oldVersion != "":
		// The transcript at hand makes the card anew; what people said on it may
		// still be read in what is set aside.
		raw, _, _ := l.readCard(ctx, fresh.ID)
		if err := l.setAside(ctx, fresh.ID, raw); err != nil {
			return Saved{}, err
		}
		return l.create(ctx, d, fresh, blobstore.IfVersion(oldVersion))
	case err != nil:
		return Saved{}, err
	}

	card := merge(old, fresh)
	replaced := "" // version whose bytes the draft continues
	switch {
	case old.SHA256 == fresh.SHA256:
		if err := l.keepTranscript(ctx, d, old); err != nil {
			return Saved{}, err
		}
		card.Secrets = atLeast(card.Secrets, old.Secrets)
		if sameCard(old, card) {
			return Saved{old, oldVersion, Unchanged, true}, nil
		}
		card.Imported = old.Imported
	case !supersedes(fresh, old):
		kept, err := l.keepBeside(ctx, d, old, fresh, compare)
		if err != nil || kept == nil {
			return Saved{old, oldVersion, Unchanged, false}, err
		}
		version, err := l.putCard(ctx, kept, blobstore.IfVersion(oldVersion))
		return Saved{kept, version, Changed, false}, err
	default:
		if err := l.putTranscript(ctx, d, fresh); err != nil {
			return Saved{}, err
		}
		held := continues(d, old)
		if !held {
			held, _ = compare.ask(ctx, old)
		}
		if held {
			replaced, card.Secrets = old.Version, atLeast(card.Secrets, old.Secrets)
		} else {
			card.Older = append(card.Older, versionOf(old))
		}
	}
	card.Older = slices.DeleteFunc(card.Older, func(v session.Version) bool { return v.Version == card.Version })
	version, err := l.putCard(ctx, card, blobstore.IfVersion(oldVersion))
	if err != nil {
		return Saved{}, err
	}
	if replaced != "" {
		// The card no longer names it. A failure leaves bytes that nothing
		// refers to, which is no reason to fail the import.
		_ = l.store.Delete(ctx, l.transcriptKey(fresh.ID, replaced))
	}
	return Saved{card, version, Changed, true}, nil
}

// atLeast counts the masks of a transcript that holds all of an older one: a file that
// was restored holds masks where the first one held secrets, which no scrubber
// counts again.
func atLeast(fresh, old map[string]int) map[string]int {
	if len(old) == 0 {
		return fresh
	}
	out := maps.Clone(old)
	for rule, n := range fresh {
		out[rule] = max(out[rule], n)
	}
	return out
}

// create stores a session of which there is no card to go by.
func (l *Library) create(ctx context.Context, d *Draft, fresh *session.Card, cond blobstore.Cond) (Saved, error) {
	if err := l.putTranscript(ctx, d, fresh); err != nil {
		return Saved{}, err
	}
	card := *fresh
	version, err := l.putCard(ctx, &card, cond)
	return Saved{&card, version, Created, true}, err
}

// keepTranscript sees to it that the transcript a card names is there: one that got
// lost is stored again from the same bytes.
func (l *Library) keepTranscript(ctx context.Context, d *Draft, card *session.Card) error {
	_, err := l.store.Stat(ctx, l.transcriptKey(card.ID, card.Version))
	if errors.Is(err, fs.ErrNotExist) {
		return l.putTranscript(ctx, d, card)
	}
	return err
}

// Repair stores the current transcript of a saved session again where the stored
// bytes are not what the card says. The draft must be the one that was saved.
func (l *Library) Repair(ctx context.Context, d *Draft, card *session.Card) error {
	r, _, err := l.Transcript(ctx, card, "")
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		r.Close()
	}
	if !errors.Is(err, blobstore.ErrDamaged) || d.SHA256() != card.SHA256 {
		return err
	}
	body, size, err := d.compressed()
	if err != nil {
		return err
	}
	_, err = l.store.Put(ctx, l.transcriptKey(card.ID, card.Version), body, size, blobstore.Cond{})
	return err
}

// supersedes decides which of two different transcripts of one session is
// current. The same file tells its own truth, even a shorter one; between two
// files the later activity wins, then the longer, then the one with the smaller hash.
func supersedes(fresh, old *session.Card) bool {
	if fresh.SourcePath == old.SourcePath && fresh.Host == old.Host {
		return true
	}
	if !fresh.LastActive.Equal(old.LastActive) {
		return fresh.LastActive.After(old.LastActive)
	}
	if fresh.Bytes != old.Bytes {
		return fresh.Bytes > old.Bytes
	}
	return fresh.SHA256 < old.SHA256 // no better, but the same one whichever came first
}

// continues reports whether the draft begins with the stored current version.
func continues(d *Draft, old *session.Card) bool {
	if d.Size() < old.Bytes {
		return false
	}
	sum, err := d.prefixSHA256(old.Bytes)
	return err == nil && sum == old.SHA256
}

// keepBeside stores a draft that is not current, unless the current version
// begins with it or holds it, or it is kept already; then it returns nil.
func (l *Library) keepBeside(ctx context.Context, d *Draft, old, fresh *session.Card, compare Compare) (*session.Card, error) {
	if slices.ContainsFunc(old.Older, func(v session.Version) bool { return v.Version == fresh.Version }) {
		return nil, nil
	}
	if fresh.Bytes <= old.Bytes {
		r, err := l.openTranscript(ctx, old.ID, old.Version)
		if err != nil {
			return nil, err
		}
		sum, err := hashPrefix(r, fresh.Bytes)
		r.Close()
		if err == nil && sum == fresh.SHA256 {
			return nil, nil
		}
	}
	if _, held := compare.ask(ctx, old); held {
		return nil, nil
	}
	if err := l.putTranscript(ctx, d, fresh); err != nil {
		return nil, err
	}
	card := *old
	card.Older = append(slices.Clone(old.Older), versionOf(fresh))
	return &card, nil
}

func versionOf(c *session.Card) session.Version {
	return session.Version{Version: c.Version, SHA256: c.SHA256, Bytes: c.Bytes, Imported: c.Imported}
}

// sameCard reports whether two cards say the same, import time and the place
// the bytes were read at aside: a copy elsewhere is no news.
func sameCard(a, b *session.Card) bool {
	x, y := *a, *b
	x.Imported, y.Imported = time.Time{}, time.Time{}
	x.SourcePath, y.SourcePath = "", ""
	x.Host, y.Host = "", ""
	x.Schema, y.Schema = 0, 0
	ea, errA := encodeCard(&x)
	eb, errB := encodeCard(&y)
	return errA == nil && errB == nil && bytes.Equal(ea, eb)
}

func (l *Library) putTranscript(ctx context.Context, d *Draft, card *session.Card) error {
	r, size, err := d.compressed()
	if err != nil {
		return err
	}
	_, err = l.store.Put(ctx, l.transcriptKey(card.ID, card.Version), r, size, blobstore.IfAbsent())
	if errors.Is(err, blobstore.ErrLostRace) {
		return nil // the key is the hash of the bytes: whoever wrote it wrote these
	}
	if err != nil {
		return fmt.Errorf("store transcript: %w", err)
	}
	return nil
}

// Transcript opens a session's scrubbed bytes: the current version where version
// is empty, else a kept one by its name or a unique beginning of it. The reader
// fails with blobstore.ErrDamaged at its end when the bytes do not match the
// card's SHA-256. The caller closes it.
func (l *Library) Transcript(ctx context.Context, card *session.Card, version string) (io.ReadCloser, session.Version, error) {
	want, err := FindVersion(card, version)
	if err != nil {
		return nil, want, err
	}
	r, err := l.openTranscript(ctx, card.ID, want.Version)
	if err != nil {
		return nil, want, err
	}
	return &verified{ReadCloser: r, h: sha256.New(), want: want.SHA256, name: card.ID + "/" + want.Version}, want, nil
}

// FindVersion is the version of a session that a person named; "" is the
// current one. Unknown names are fs.ErrNotExist and the error lists what exists.
func FindVersion(card *session.Card, version string) (session.Version, error) {
	all := append([]session.Version{versionOf(card)}, card.Older...)
	if version == "" {
		return all[0], nil
	}
	var found []session.Version
	names := []string{}
	for _, v := range all {
		names = append(names, v.Version)
		if len(version) <= len(v.Version) && v.Version[:len(version)] == version {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return session.Version{}, unknownVersion(fmt.Sprintf("session %s has no version %q: there are %s", card.ID, version, strings.Join(names, ", ")))
	}
	return found[0], nil
}

// unknownVersion is a whole sentence for a person; what kind it is goes without saying.
type unknownVersion string

func (e unknownVersion) Error() string { return string(e) }
func (e unknownVersion) Unwrap() error { return fs.ErrNotExist }

func (l *Library) openTranscript(ctx context.Context, id, version string) (io.ReadCloser, error) {
	r, _, err := l.store.Get(ctx, l.transcriptKey(id, version))
	if err != nil {
		return nil, fmt.Errorf("read transcript %s/%s: %w", id, version, err)
	}
	z, err := newDecoder(r)
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("read transcript %s/%s: %w: %w", id, version, blobstore.ErrDamaged, err)
	}
	return &unzipped{z, r}, nil
}

type unzipped struct {
	*zstd.Decoder
	src io.Closer
}

func (u *unzipped) Close() error {
	u.Decoder.Close()
	return u.src.Close()
}

// verified checks the hash of what was read when the end is reached.
type verified struct {
	io.ReadCloser
	h    hash.Hash
	want string
	name string
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.h.Write(p[:n])
	switch {
	case err == io.EOF && hex.EncodeToString(v.h.Sum(nil)) != v.want:
		return n, fmt.Errorf("read transcript %s: %w", v.name, blobstore.ErrDamaged)
	case err != nil && err != io.EOF && !errors.Is(err, blobstore.ErrUnavailable) && !errors.Is(err, context.Canceled):
		return n, fmt.Errorf("read transcript %s: %w: %w", v.name, blobstore.ErrDamaged, err)
	}
	return n, err
}

// Remove deletes a session: its card first, so that nothing refers to what goes
// next, then every version of its transcript.
func (l *Library) Remove(ctx context.Context, id string) error {
	card, _, err := l.Card(ctx, id)
	if err != nil {
		return err
	}
	if err := l.store.Delete(ctx, l.cardKey(id)); err != nil {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	for _, v := range append([]session.Version{versionOf(card)}, card.Older...) {
		if err := l.store.Delete(ctx, l.transcriptKey(id, v.Version)); err != nil {
			return fmt.Errorf("remove session %s: %w", id, err)
		}
	}
	return nil
}
