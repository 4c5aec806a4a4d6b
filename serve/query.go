package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"sessdex/search"
	"sessdex/session"
)

// Search answers a query. Words and filters in q.Text are never refused.
func (s *Service) Search(ctx context.Context, q search.Query) (*SearchReply, error) {
	start := time.Now()
	if q.Limit < 0 || q.Offset < 0 {
		return nil, usage("limit and offset must not be negative")
	}
	var res *search.Result
	err := s.healing(ctx, func() (err error) {
		res, err = s.Index.Search(ctx, q)
		return err
	})
	if err != nil {
		return nil, s.indexError(err)
	}
	reply := &SearchReply{SchemaVersion: SchemaVersion, Result: *res, Hits: []Hit{}}
	for _, h := range res.Hits {
		meta := session.Meta{Harness: h.Harness, NativeID: h.NativeID, Dir: h.Dir, Parent: h.Parent, Subagent: h.Subagent}
		reply.Hits = append(reply.Hits, Hit{h, s.resumeLine(&meta, h.ID)})
	}
	reply.TookMS = float64(time.Since(start).Microseconds()) / 1000
	return reply, nil
}

// healing asks the index, and where it is missing or damaged asks again after it was
// built from the library: it is a view, and nobody needs to say so.
func (s *Service) healing(ctx context.Context, ask func() error) error {
	err := ask()
	if s.Heal == nil || !errors.Is(err, search.ErrMissing) && !errors.Is(err, search.ErrDamaged) {
		return err
	}
	built := s.building.DoChan("index", func() (any, error) {
		return nil, s.Heal(context.WithoutCancel(ctx))
	})
	var late <-chan time.Time
	if s.HealWait > 0 {
		late = time.After(s.HealWait)
	}
	select {
	case r := <-built:
		if r.Err != nil {
			return r.Err
		}
		return ask()
	case <-late:
		return &kindError{search.ErrBusy, "the index is being built from the library: try again in a moment"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notFound is an error about something that is not there; it reads as one sentence.
func notFound(format string, args ...any) error {
	return &kindError{ErrNotFound, fmt.Sprintf(format, args...)}
}

// indexError says what to do about an index that cannot be used. It names no
// command: a person may read it on a terminal or a page, a model in a tool's result.
func (s *Service) indexError(err error) error {
	switch {
	case errors.As(err, new(*kindError)):
		return err // said already
	case errors.Is(err, search.ErrMissing):
		return &kindError{err, "there is no index yet: import sessions, or rebuild it from the library"}
	case errors.Is(err, search.ErrDamaged):
		return &kindError{err, "the index is damaged: rebuild it from the library"}
	case errors.Is(err, search.ErrForeign):
		return &kindError{err, fmt.Sprintf("%v, and was left as it is", err)}
	case errors.Is(err, search.ErrBusy):
		return &kindError{err, "the index is busy: try again in a moment"}
	}
	return err
}

// Resolve finds the one session that ref names: an id, a unique beginning of one,
// or the harness's own id.
func (s *Service) Resolve(ctx context.Context, ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	if ref == "" {
		return "", usage("no session id was given")
	}
	if lower := strings.ToLower(ref); session.ValidIDPrefix(lower) && len(lower) == session.IDLen {
		return lower, nil
	}
	var ids []string
	err := s.healing(ctx, func() (err error) {
		ids, err = s.Index.Resolve(ctx, ref)
		return err
	})
	if err != nil {
		return "", s.indexError(err)
	}
	switch len(ids) {
	case 0:
		return "", notFound("session %q not found: search for it, or list the newest sessions", session.OneLine(ref, 80))
	case 1:
		return ids[0], nil
	}
	return "", usage("%q is the beginning of several sessions: %s", session.OneLine(ref, 80), strings.Join(ids, ", "))
}

// card resolves ref and reads the card.
func (s *Service) card(ctx context.Context, ref string) (*session.Card, error) {
	id, err := s.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	card, _, err := s.Library.Card(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound("session %q not found: search for it, or list the newest sessions", id)
	}
	return card, err
}
