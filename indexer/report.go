package indexer

import (
	"errors"
	"io/fs"
	"sort"

	"sessdex/harness"
	"sessdex/library"
)

// Report accounts for one import: every file has exactly one outcome, so New +
// Changed + Unchanged + Skipped + Failed = Files in each source.
type Report struct {
	Sources  []*SourceReport `json:"sources"`
	Failures []FileReason    `json:"failures"` // never nil
	Skips    []FileReason    `json:"skips"`    // files that hold no session, and why; never nil
	Secrets  map[string]int  `json:"secrets"`  // masks made in this import, by rule; never nil
	Parsed   int             `json:"parsed"`   // files that were read; 0 when nothing changed
	Synced   int             `json:"synced"`   // sessions taken from the bucket that the index had not seen
	TookMS   int64           `json:"took_ms"`
}

// SourceReport is what happened to the files of one harness under one root.
type SourceReport struct {
	Harness   string         `json:"harness"` // "unknown" for files of no known harness
	Root      string         `json:"root"`
	Files     int            `json:"files"`
	Sessions  int            `json:"sessions"` // files that hold a session: New + Changed + Unchanged
	New       int            `json:"new"`
	Changed   int            `json:"changed"`
	Unchanged int            `json:"unchanged"`
	Skipped   int            `json:"skipped"`
	Failed    int            `json:"failed"`
	Turns     int            `json:"turns"`           // of all sessions counted, those inherited from another aside
	Bytes     int64          `json:"bytes"`           // on disk
	Unknown   map[string]int `json:"unknown_records"` // record types not known, with counts, of files read now; never nil
	BadLines  int            `json:"bad_lines"`       // of files read now
}

// FileReason names a file and says why.
type FileReason struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Failed is the number of files that could not be imported.
func (r *Report) Failed() int { return len(r.Failures) }

// Sessions is the number of files that hold a session.
func (r *Report) Sessions() (n int) {
	for _, s := range r.Sources {
		n += s.Sessions
	}
	return n
}

func newReport() *Report {
	return &Report{Sources: []*SourceReport{}, Failures: []FileReason{}, Skips: []FileReason{}, Secrets: map[string]int{}}
}

// source is the row of a harness and a root.
func (r *Report) source(harness, root string) *SourceReport {
	for _, s := range r.Sources {
		if s.Harness == harness && s.Root == root {
			return s
		}
	}
	s := &SourceReport{Harness: harness, Root: root, Unknown: map[string]int{}}
	r.Sources = append(r.Sources, s)
	return s
}

func (r *Report) skip(s *SourceReport, path, reason string) {
	s.Skipped++
	r.Skips = append(r.Skips, FileReason{path, reason})
}

func (r *Report) fail(s *SourceReport, path, reason string) {
	s.Failed++
	r.Failures = append(r.Failures, FileReason{path, reason})
}

// problem accounts for a file that could not be taken: skipped where it is none of
// ours, failed where it should have been read.
func (r *Report) problem(harnessName, root, path string, err error) {
	row := r.source(harnessName, root)
	row.Files++
	switch {
	case errors.Is(err, harness.ErrNotRegular), errors.Is(err, harness.ErrNoSession), errors.Is(err, errPart):
		r.skip(row, path, err.Error())
	case errors.Is(err, fs.ErrNotExist):
		r.skip(row, path, "gone, or a link that leads nowhere")
	default:
		r.fail(row, path, reason(err, path))
	}
}

// file begins the account of one file.
func (r *Report) file(src harness.Source, harnessName string) *SourceReport {
	s := r.source(harnessName, src.Root)
	s.Files++
	s.Bytes += src.Size
	return s
}

func (s *SourceReport) session(o library.Outcome, turns int) {
	s.Sessions++
	s.Turns += turns
	switch o {
	case library.Created:
		s.New++
	case library.Changed:
		s.Changed++
	default:
		s.Unchanged++
	}
}

// settle puts everything in an order that does not depend on timing.
func (r *Report) settle() {
	sort.Slice(r.Sources, func(i, j int) bool {
		a, b := r.Sources[i], r.Sources[j]
		return a.Root < b.Root || a.Root == b.Root && a.Harness < b.Harness
	})
	for _, l := range [][]FileReason{r.Failures, r.Skips} {
		sort.Slice(l, func(i, j int) bool { return l[i].Path < l[j].Path })
	}
}
