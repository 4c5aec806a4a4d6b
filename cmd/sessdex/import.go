package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/serve"
)

func (a *app) importCommand() *cobra.Command {
	var home string
	var only []string
	var watch, dry bool
	c := &cobra.Command{
		Use:   "import [PATH…]",
		Short: "Bring sessions in: this machine's, or the given files and folders",
		Long: `Import finds the sessions of every coding agent on this machine, or takes the
given files and folders, removes secrets, stores them and makes them searchable.
Files that did not change since the last import are not read again.

Exit code 1 means that some files failed; the rest was imported.`,
		Example: `  sessdex import
  sessdex import ~/old-laptop/.claude/projects
  sessdex import --harness codex-cli --dry-run
  sessdex import --watch`,
		RunE: func(c *cobra.Command, paths []string) error {
			if err := knownHarnesses(only); err != nil {
				return err
			}
			if len(paths) > 0 && home != "" {
				return usagef("give either paths or --home, not both")
			}
			if watch && (dry || a.json) {
				return usagef("--watch goes neither with --dry-run nor with --json")
			}
			if err := isFolder(home); err != nil {
				return err
			}
			s, err := a.ready(c.Context())
			if err != nil {
				return err
			}
			s.Indexer.Env = a.env(home)
			o := indexer.ImportOptions{Paths: paths, Harnesses: only, DryRun: dry}
			if watch {
				return a.watch(c.Context(), s, o)
			}
			tell, end := a.progress("import")
			o.Progress = tell
			rep, err := s.Indexer.Import(c.Context(), o)
			end()
			if err != nil {
				return err
			}
			if !dry && rep.Sessions() > 0 {
				if err := a.dropSamples(c.Context(), s); err != nil {
					return err
				}
			}
			return a.printReport(rep, dry, len(paths) == 0)
		},
	}
	f := c.Flags()
	f.StringVar(&home, "home", "", "look for sessions in this home folder instead of yours")
	f.StringSliceVar(&only, "harness", nil, "only these harnesses: "+strings.Join(indexer.Harnesses(), ", "))
	f.BoolVar(&watch, "watch", false, "go on importing what changes, until stopped")
	f.BoolVar(&dry, "dry-run", false, "read everything, store nothing")
	_ = c.RegisterFlagCompletionFunc("harness", cobra.FixedCompletions(indexer.Harnesses(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// isFolder checks a --home.
func isFolder(home string) error {
	if info, err := os.Stat(home); home != "" && (err != nil || !info.IsDir()) {
		return usagef("there is no folder %s to look for sessions in", home)
	}
	return nil
}

func knownHarnesses(names []string) error {
	for _, n := range names {
		if harness.ByName(n) == nil {
			return usagef("there is no harness %q: there are %s", n, strings.Join(indexer.Harnesses(), ", "))
		}
	}
	return nil
}

// importReport is the JSON of an import.
type importReport struct {
	SchemaVersion int  `json:"schema_version"`
	DryRun        bool `json:"dry_run,omitempty"`
	*indexer.Report
}

func (a *app) printReport(rep *indexer.Report, dry, discovered bool) error {
	if a.json {
		if err := a.printJSON(importReport{serve.SchemaVersion, dry, rep}); err != nil {
			return err
		}
	} else {
		a.sayReport(rep, dry, discovered)
	}
	if rep.Failed() > 0 {
		return errSome
	}
	return nil
}

func (a *app) sayReport(rep *indexer.Report, dry, discovered bool) {
	if len(rep.Sources) == 0 && discovered {
		fmt.Fprintf(a.out, "No sessions found: looked for those of %s.\n", strings.Join(indexer.Harnesses(), ", "))
	}
	for _, s := range rep.Sources {
		fmt.Fprintf(a.out, "%s  %s\n", s.Harness, a.style().dim(line(s.Root, 4096)))
		parts := []string{count(s.Files, "file"), count(s.Sessions, "session"), count(s.Turns, "turn"),
			fmt.Sprintf("%d new", s.New), fmt.Sprintf("%d changed", s.Changed), fmt.Sprintf("%d unchanged", s.Unchanged)}
		if s.Skipped > 0 {
			parts = append(parts, fmt.Sprintf("%d skipped", s.Skipped))
		}
		if s.Failed > 0 {
			parts = append(parts, fmt.Sprintf("%d failed", s.Failed))
		}
		fmt.Fprintf(a.out, "  %s\n", strings.Join(parts, ", "))
		if s.BadLines > 0 {
			fmt.Fprintf(a.out, "  %s could not be read\n", count(s.BadLines, "line"))
		}
		if len(s.Unknown) > 0 {
			fmt.Fprintf(a.out, "  records this version does not know: %s\n", tally(s.Unknown))
		}
	}
	if byReason := reasons(rep.Skips); len(byReason) > 0 {
		fmt.Fprintf(a.out, "skipped: %s\n", tally(byReason))
	}
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

// sayFailures names on stderr what could not be done, and why.
func (a *app) sayFailures(what string, list []indexer.FileReason) {
	for _, f := range list {
		fmt.Fprintf(a.errOut, "sessdex: %s %s: %s\n", what, line(f.Path, 4096), line(f.Reason, 500))
	}
}

func reasons(list []indexer.FileReason) map[string]int {
	n := map[string]int{}
	for _, f := range list {
		n[f.Reason]++
	}
	return n
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

// watch imports until stopped, with a line for every import that did something.
func (a *app) watch(ctx context.Context, s *serve.Service, o indexer.ImportOptions) error {
	fmt.Fprintln(a.errOut, "watching for new turns; stop with Ctrl-C")
	err := s.Indexer.Watch(ctx, o, func(rep *indexer.Report, err error) {
		if err != nil {
			fmt.Fprintln(a.errOut, "sessdex: "+oneError(err))
			return
		}
		var sum indexer.SourceReport
		for _, r := range rep.Sources {
			sum.New += r.New
			sum.Changed += r.Changed
			sum.Failed += r.Failed
		}
		fmt.Fprintf(a.out, "%d new, %d changed, %d failed in %d ms\n", sum.New, sum.Changed, sum.Failed, rep.TookMS)
	})
	if errors.Is(err, context.Canceled) {
		return nil // stopping is how it ends
	}
	return err
}
