package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sessdex/blobstore"
	"sessdex/indexer"
	"sessdex/search"
	"sessdex/serve"
)

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// diagnosis is the JSON of doctor.
type diagnosis struct {
	SchemaVersion int           `json:"schema_version"`
	OK            bool          `json:"ok"`
	Checks        []check       `json:"checks"`
	IndexWritten  time.Time     `json:"index_written,omitzero"` // when the index last changed
	IndexAge      float64       `json:"index_age_s,omitempty"`  // seconds since then
	LastImport    *importedThen `json:"last_import"`            // null: none into this store from this machine
}

// importedThen is the report of the last import.
type importedThen struct {
	At  time.Time `json:"at"`
	Age float64   `json:"age_s"` // seconds since then
	*indexer.Report
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything works, and say the cure where it does not",
		Long: `Doctor tries the store and the index, compares them, says how old the index is, and
repeats what the last import from this machine did. With -v it names every file.

Exit code 3 means that something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			d := a.doctor(c.Context())
			if a.json {
				if err := a.printJSON(d); err != nil {
					return err
				}
			} else {
				a.sayDiagnosis(d)
			}
			if !d.OK {
				return brokenError{}
			}
			return nil
		},
	}
}

func (a *app) sayDiagnosis(d *diagnosis) {
	for _, ch := range d.Checks {
		mark := map[bool]string{true: "ok  ", false: "FAIL"}[ch.OK]
		fmt.Fprintf(a.out, "%s %-8s %s\n", mark, ch.Name, shown(ch.Detail))
	}
	if d.LastImport == nil {
		fmt.Fprintln(a.out, "Nothing was imported into this store from here yet.")
		return
	}
	fmt.Fprintf(a.out, "The last import ended %s:\n", ago(d.LastImport.At, time.Now()))
	a.saySources(d.LastImport.Report)
	if a.verbose {
		a.sayFiles("failed", d.LastImport.Failures)
	}
}

// brokenError ends doctor with exit code 3 after it has said what is wrong.
type brokenError struct{}

func (brokenError) Error() string { return "something is wrong: see above" }

func (a *app) doctor(ctx context.Context) *diagnosis {
	d := &diagnosis{SchemaVersion: serve.SchemaVersion}
	d.examine(ctx, a)
	d.OK = !slices.ContainsFunc(d.Checks, func(c check) bool { return !c.OK })
	return d
}

// add keeps what a check came to, and reports whether it is well.
func (d *diagnosis) add(name string, err error, detail string) bool {
	if err != nil {
		detail = withHint(err)
	}
	d.Checks = append(d.Checks, check{name, err == nil, detail})
	return err == nil
}

func (d *diagnosis) examine(ctx context.Context, a *app) {
	s, err := a.service(ctx)
	dir, _ := a.dataDir() // service has said what is wrong with it
	if !d.add("data", err, dir) {
		return
	}
	if last, err := s.Indexer.LastImport(); err == nil {
		d.LastImport = &importedThen{last.At, time.Since(last.At).Seconds(), last.Report}
	} else if !errors.Is(err, indexer.ErrNoImport) {
		d.add("import", err, "")
	}
	stored, err := a.checkStore(ctx, s)
	storeOK := d.add("store", err, fmt.Sprintf("%s: %s", a.opened, count(stored, "session")))

	st, err := s.Index.Status(ctx)
	if errors.Is(err, search.ErrMissing) && stored == 0 {
		d.add("index", nil, "none yet: it comes with the first import")
		return
	}
	d.IndexWritten = st.Written
	if !st.Written.IsZero() {
		d.IndexAge = time.Since(st.Written).Seconds()
	}
	if !d.add("index", err, fmt.Sprintf("%s, %s, %s on disk, last changed %s",
		count(st.Sessions, "session"), count(st.Turns, "turn"), size(st.Bytes), ago(st.Written, time.Now()))) {
		return
	}
	if storeOK {
		d.Checks = append(d.Checks, a.compare(ctx, s, stored))
	}
	_, err = s.Search(ctx, search.Query{Text: "error", Limit: 1})
	d.add("query", err, "answers")
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
