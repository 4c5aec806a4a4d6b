package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"sessdex/indexer"
	"sessdex/serve"
)

// importReport is the JSON of an import.
type importReport struct {
	SchemaVersion int  `json:"schema_version"`
	DryRun        bool `json:"dry_run,omitempty"`
	*indexer.Report
}

func (a *app) printReport(rep *indexer.Report, dry bool) error {
	if a.json {
		if err := a.printJSON(importReport{serve.SchemaVersion, dry, rep}); err != nil {
			return err
		}
	} else {
		a.sayReport(rep, dry)
	}
	if rep.Failed() > 0 {
		return errSome
	}
	return nil
}

func (a *app) sayReport(rep *indexer.Report, dry bool) {
	a.saySources(rep)
	a.sayFailures("import", rep.Failures)
	if len(rep.Secrets) > 0 {
		fmt.Fprintf(a.out, "secrets removed: %s\n", tally(rep.Secrets))
	}
	if rep.Synced > 0 {
		fmt.Fprintf(a.out, "%s taken from the library into the index\n", count(rep.Synced, "session"))
	}
	verb := "done"
	if dry {
		verb = "nothing stored (--dry-run)"
	}
	fmt.Fprintf(a.out, "%s in %.1f s\n", verb, float64(rep.TookMS)/1000)
}

// saySources accounts for every source: its name, and a line of what became of its
// files. With --verbose it also names the roots that are not there and each file
// that holds no session.
func (a *app) saySources(rep *indexer.Report) {
	if rep.Files() == 0 && len(rep.Absent) > 0 {
		fmt.Fprintf(a.out, "No sessions found: looked for those of %s.\n", strings.Join(lookedFor(rep), ", "))
	}
	row := func(harness, root, account string) {
		fmt.Fprintf(a.out, "%s  %s\n%s\n", harness, a.style().dim(line(root, 4096)), a.fold("  "+account, 4))
	}
	for _, s := range rep.Sources {
		row(s.Harness, s.Root, account(s))
	}
	if a.verbose {
		for _, r := range rep.Absent {
			row(r.Harness, r.Root, "not there")
		}
		a.sayFiles("skipped", rep.Skips)
	}
}

// lookedFor names the harnesses that have folders to look into.
func lookedFor(rep *indexer.Report) []string {
	var names []string
	for _, r := range rep.Absent {
		names = append(names, r.Harness)
	}
	for _, s := range rep.Sources {
		names = append(names, s.Harness)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// account is what became of the files of one source, on one line.
func account(s *indexer.SourceReport) string {
	parts := []string{
		count(s.Files, "file"), count(s.Sessions, "session"), count(s.Turns, "turn"),
		thousands(s.New) + " new", thousands(s.Changed) + " changed", thousands(s.Unchanged) + " unchanged",
	}
	if s.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%s skipped: %s", thousands(s.Skipped), tally(s.Skips)))
	}
	if s.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%s failed: %s", thousands(s.Failed), tally(s.Fails)))
	}
	if s.BadLines > 0 {
		parts = append(parts, count(s.BadLines, "line")+" could not be read")
	}
	if len(s.Unknown) > 0 {
		parts = append(parts, "records this version does not know: "+tally(s.Unknown))
	}
	return strings.Join(parts, ", ")
}

// sayFailures names on stderr what could not be done, and why.
func (a *app) sayFailures(what string, list []indexer.FileReason) { a.sayFiles("sessdex: "+what, list) }

func (a *app) sayFiles(what string, list []indexer.FileReason) {
	for _, f := range list {
		fmt.Fprintf(a.errOut, "%s %s: %s\n", what, line(f.Path, 4096), line(f.Reason, 500))
	}
}

// tally lists names with counts, most first.
func tally(n map[string]int) string {
	names := make([]string, 0, len(n))
	for k := range n {
		names = append(names, k)
	}
	sort.Slice(names, func(i, j int) bool {
		return n[names[i]] > n[names[j]] || n[names[i]] == n[names[j]] && names[i] < names[j]
	})
	for i, k := range names {
		names[i] = fmt.Sprintf("%s (%d)", line(k, 80), n[k])
	}
	return strings.Join(names, ", ")
}
