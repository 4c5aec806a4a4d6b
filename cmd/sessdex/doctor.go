package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"sessdex/blobstore"
	"sessdex/search"
	"sessdex/serve"
)

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything works, and say the cure where it does not",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			checks := a.doctor(c.Context())
			bad := 0
			for _, ch := range checks {
				if !ch.OK {
					bad++
				}
			}
			if a.json {
				if err := a.printJSON(struct {
					SchemaVersion int     `json:"schema_version"`
					OK            bool    `json:"ok"`
					Checks        []check `json:"checks"`
				}{serve.SchemaVersion, bad == 0, checks}); err != nil {
					return err
				}
			} else {
				for _, ch := range checks {
					mark := map[bool]string{true: "ok  ", false: "FAIL"}[ch.OK]
					fmt.Fprintf(a.out, "%s %-8s %s\n", mark, ch.Name, shown(ch.Detail))
				}
			}
			if bad > 0 {
				return brokenError{}
			}
			return nil
		},
	}
}

// brokenError ends doctor with exit code 3 after it has said what is wrong.
type brokenError struct{}

func (brokenError) Error() string { return "something is wrong: see above" }

func (a *app) doctor(ctx context.Context) []check {
	var out []check
	add := func(name string, err error, detail string) bool {
		if err != nil {
			detail = oneError(err)
		}
		out = append(out, check{name, err == nil, detail})
		return err == nil
	}
	s, err := a.service(ctx)
	dir, _ := a.dataDir() // service has said what is wrong with it
	if !add("data", err, dir) {
		return out
	}
	stored, err := a.checkStore(ctx, s)
	add("store", err, fmt.Sprintf("%s: %s", a.opened, count(stored, "session")))
	storeOK := err == nil

	st, err := s.Index.Status(ctx)
	switch {
	case errors.Is(err, search.ErrMissing) && stored == 0:
		add("index", nil, "none yet: it comes with the first import")
		return out
	case err != nil:
		out = append(out, check{"index", false, withHint(err)})
		return out
	}
	add("index", nil, fmt.Sprintf("%s, %s, %s", count(st.Sessions, "session"), count(st.Turns, "turn"), size(st.Bytes)+" on disk"))
	if storeOK {
		out = append(out, a.compare(ctx, s, stored))
	}
	_, err = s.Search(ctx, search.Query{Text: "error", Limit: 1})
	add("query", err, "answers")
	return out
}

// storePatience is how long doctor tries the store.
const storePatience = 5 * time.Second

// checkStore tries the promises that the store must keep on an object of its own,
// and counts the sessions.
func (a *app) checkStore(ctx context.Context, s *serve.Service) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	if err := blobstore.Probe(ctx, a.opened); err != nil {
		return 0, err
	}
	n := 0
	for _, err := range s.Library.Cards(ctx) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// compare counts the sessions whose state in the index is not the library's.
func (a *app) compare(ctx context.Context, s *serve.Service, stored int) check {
	seen, err := s.Index.Seen(ctx)
	if err != nil {
		return check{"match", false, oneError(err)}
	}
	behind := 0
	for ref, err := range s.Library.Cards(ctx) {
		if err != nil {
			return check{"match", false, oneError(err)}
		}
		if seen[ref.ID] != ref.Version {
			behind++
		}
		delete(seen, ref.ID)
	}
	if stored == 0 && len(seen) > 0 {
		return check{"match", false, fmt.Sprintf("the store shows no session, but the index has %d: is its disk or bucket there?", len(seen))}
	}
	if behind+len(seen) == 0 {
		return check{"match", true, "the index has every session of the store as it is"}
	}
	return check{"match", false, fmt.Sprintf("the index is behind: %d of %d sessions in the store are not in it as they are, and it has %d that are gone: run `sessdex import`", behind, stored, len(seen))}
}
