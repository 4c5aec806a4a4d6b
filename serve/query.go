package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sessdex/indexer"
	"sessdex/search"
	"sessdex/session"
)

// Search answers a query. Words and filters in q.Text are never refused.
func (s *Service) Search(ctx context.Context, q search.Query) (*SearchReply, error) {
	start := time.Now()
	if q.Limit < 0 || q.Offset < 0 {
		return nil, fmt.Errorf("%w: limit and offset must not be negative", ErrUsage)
	}
	res, err := s.Index.Search(ctx, q)
	if err != nil {
		return nil, s.indexError(err)
	}
	reply := &SearchReply{SchemaVersion: SchemaVersion, Result: *res, Hits: []Hit{}}
	for _, h := range res.Hits {
		meta := session.Meta{Harness: h.Harness, NativeID: h.NativeID, Dir: h.Dir, Parent: h.Parent, Subagent: h.Subagent}
		reply.Hits = append(reply.Hits, Hit{h, resumeLine(&meta)})
	}
	reply.TookMS = float64(time.Since(start).Microseconds()) / 1000
	return reply, nil
}

// indexError says what to do about an index that cannot be used.
func (s *Service) indexError(err error) error {
	switch {
	case errors.Is(err, search.ErrMissing):
		return fmt.Errorf("there is no index yet: run `sessdex import`, or `sessdex reindex` to build it from the library: %w", err)
	case errors.Is(err, search.ErrDamaged):
		return fmt.Errorf("the index is damaged: run `sessdex reindex` to build it anew from the library: %w", err)
	case errors.Is(err, search.ErrForeign):
		return fmt.Errorf("the index folder is not sessdex's and was left as it is: give another one with --data: %w", err)
	case errors.Is(err, search.ErrBusy):
		return fmt.Errorf("the index is busy: try again in a moment: %w", err)
	}
	return err
}

// Resolve finds the one session that ref names: an id, a unique beginning of one,
// or the harness's own id.
func (s *Service) Resolve(ctx context.Context, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return "", fmt.Errorf("%w: no session id was given", ErrUsage)
	}
	if lower := strings.ToLower(ref); session.ValidIDPrefix(lower) && len(lower) == session.IDLen {
		return lower, nil
	}
	ids, err := s.Index.Resolve(ctx, ref)
	if err != nil {
		return "", s.indexError(err)
	}
	switch len(ids) {
	case 0:
		return "", fmt.Errorf("session %q: %w: search for it, or see `sessdex search` without words for the newest", session.OneLine(ref, 80), ErrNotFound)
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%w: %q is the beginning of several sessions: %s", ErrUsage, session.OneLine(ref, 80), strings.Join(ids, ", "))
}

// card resolves ref and reads the card.
func (s *Service) card(ctx context.Context, ref string) (*session.Card, error) {
	id, err := s.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	card, _, err := s.Library.Card(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %q: %w: search for it, or see `sessdex search` without words for the newest", id, ErrNotFound)
	}
	return card, err
}

// resumeLine is the command that goes on with a session, for a POSIX shell.
func resumeLine(m *session.Meta) string {
	cmd, ok := indexer.Resume(m)
	if !ok {
		return ""
	}
	line := Quote(cmd.Argv)
	if cmd.Dir != "" {
		line = "cd " + Quote([]string{cmd.Dir}) + " && " + line
	}
	return line
}

// Quote joins words into a line that a POSIX shell reads as those words.
func Quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,") == "" {
			out[i] = w
		} else {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
