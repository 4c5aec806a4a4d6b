package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/serve"
)

func (a *app) importCommand() *cobra.Command {
	var home string
	var only []string
	var watch, dry, background bool
	c := &cobra.Command{
		Use:   "import [PATH…]",
		Short: "Bring sessions in: this machine's, or the given files and folders",
		Long: `Import finds the sessions of every coding agent on this machine, or takes the
given files and folders, removes secrets, stores them and makes them searchable.
Files that did not change since the last import are not read again.

With --background it returns at once and prints nothing: what the import says goes to
imports/background.log in the data folder, which holds the last one's words. It is
how agents call it when a session ends.

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
			if background && (watch || a.json) {
				return usagef("--background goes neither with --watch nor with --json")
			}
			if err := isFolder(home); err != nil {
				return err
			}
			if background {
				return a.inBackground()
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
			return a.printReport(rep, dry)
		},
	}
	f := c.Flags()
	f.StringVar(&home, "home", "", "look for sessions in this home folder instead of yours")
	f.StringSliceVar(&only, "harness", nil, "only these harnesses: "+strings.Join(indexer.Harnesses(), ", "))
	f.BoolVar(&watch, "watch", false, "go on importing what changes, until stopped")
	f.BoolVar(&dry, "dry-run", false, "read everything, store nothing")
	f.BoolVar(&background, "background", false, "return at once and go on without a terminal")
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
