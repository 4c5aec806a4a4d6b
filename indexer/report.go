package indexer

import (
	"cmp"
	"slices"
	"strings"

	"sessdex/harness"
	"sessdex/library"
)

// Report accounts for one import: every file has exactly one outcome, so New +
// Changed + Unchanged + Skipped + Failed = Files in each source.
type Report struct {
	Sources  []*SourceReport `json:"sources"`
	Absent   []AbsentRoot    `json:"absent"`   // roots that were looked for and are not there; never nil
	Failures []FileReason    `json:"failures"` // never nil
	Skips    []FileReason    `json:"skips"`    // files that hold no session, and why; never nil
	Secrets  map[string]int  `json:"secrets"`  // masks made in this import, by rule; never nil
	Parsed   int             `json:"parsed"`   // transcripts that were read; 0 when nothing changed
	Synced   int             `json:"synced"`   // sessions taken from the bucket that the index had not seen
	TookMS   int64           `json:"took_ms"`

	rows map[string]*SourceReport // session: where its turns are counted, once
	own  map[string]int           // session: turns of its own
}

// SourceReport is what happened to the files of one harness under one root.
//
// Files counts transcripts and what was looked at to be one: a database counts once
// for each session in it, and a session's folder once. Of the files that a person
// gave, parts of a session that is counted at another file count as skipped.
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
	Skips     map[string]int `json:"skip_reasons"`    // of Skipped; never nil
	Fails     map[string]int `json:"fail_reasons"`    // of Failed; never nil
	Turns     int            `json:"turns"`           // of all sessions counted; what several files or sessions hold counts once
	Bytes     int64          `json:"bytes"`           // on disk
	Unknown   map[string]int `json:"unknown_records"` // record types not known, with counts; never nil
	BadLines  int            `json:"bad_lines"`       // lines that could not be read
}

// AbsentRoot is a folder that a harness would write to. That it is not there says
// nothing of the sessions it held: they stay.
type AbsentRoot struct {
	Harness string `json:"harness"`
	Root    string `json:"root"`
}

// FileReason names a file and says why.
type FileReason struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Failed is the number of files that could not be imported.
func (r *Report) Failed() int { return len(r.Failures) }

// Files is the number of files that were looked at.
func (r *Report) Files() (n int) {
	for _, s := range r.Sources {
		n += s.Files
	}
	return n
}

// Sessions is the number of files that hold a session.
func (r *Report) Sessions() (n int) {
	for _, s := range r.Sources {
		n += s.Sessions
	}
	return n
}

func newReport() *Report {
	return &Report{
		Sources: []*SourceReport{}, Absent: []AbsentRoot{},
		Failures: []FileReason{}, Skips: []FileReason{}, Secrets: map[string]int{},
		rows: map[string]*SourceReport{}, own: map[string]int{},
	}
}

// source is the row of a harness and a root.
func (r *Report) source(harness, root string) *SourceReport {
	for _, s := range r.Sources {
		if s.Harness == harness && s.Root == root {
			return s
		}
	}
	s := &SourceReport{Harness: harness, Root: root, Skips: map[string]int{}, Fails: map[string]int{}, Unknown: map[string]int{}}
	r.Sources = append(r.Sources, s)
	return s
}

// file begins the account of one transcript.
func (r *Report) file(src harness.Source, harnessName string) *SourceReport {
	s := r.source(harnessName, src.Root)
	s.Files++
	s.Bytes += src.Size
	return s
}

func (r *Report) skip(s *SourceReport, path, reason string) {
	s.Skipped++
	s.Skips[reason]++
	r.Skips = append(r.Skips, FileReason{path, reason})
}

func (r *Report) fail(s *SourceReport, path, reason string) {
	s.Failed++
	s.Fails[reason]++
	r.Failures = append(r.Failures, FileReason{path, reason})
}

// refuse gives a file that holds no session its outcome.
func (r *Report) refuse(s *SourceReport, path string, err error, asked bool) {
	if passedOver(err, asked) {
		r.skip(s, path, reason(err, path, asked))
		return
	}
	r.fail(s, path, reason(err, path, asked))
}

// session accounts for a file that holds a session. Turns are those of the session, not
// of the file: of a session that stands in several files they count once.
func (r *Report) session(s *SourceReport, o library.Outcome, id string, turns int) {
	if was := r.rows[id]; was == nil || compareRows(s, was) < 0 {
		r.rows[id] = s
	}
	r.own[id] = turns
	s.Sessions++
	switch o {
	case library.Created:
		s.New++
	case library.Changed:
		s.Changed++
	default:
		s.Unchanged++
	}
}

// lost adds what could not be read of a transcript, now or when it last changed.
func (s *SourceReport) lost(unknown map[string]int, badLines int) {
	for k, n := range unknown {
		s.Unknown[k] += n
	}
	s.BadLines += badLines
}

// recount takes up that sessions have other numbers of turns of their own.
func (r *Report) recount(own map[string]int) {
	for id, n := range own {
		if r.rows[id] != nil {
			r.own[id] = n
		}
	}
}

func compareRows(a, b *SourceReport) int {
	return cmp.Or(strings.Compare(a.Root, b.Root), strings.Compare(a.Harness, b.Harness))
}

// settle adds up, and puts everything in an order that does not depend on timing.
func (r *Report) settle() {
	for id, row := range r.rows {
		row.Turns += r.own[id]
	}
	clear(r.rows)
	slices.SortFunc(r.Sources, compareRows)
	for _, l := range [][]FileReason{r.Failures, r.Skips} {
		slices.SortFunc(l, func(a, b FileReason) int { return strings.Compare(a.Path, b.Path) })
	}
}
