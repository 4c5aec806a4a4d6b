package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sessdex/indexer"
	"sessdex/search"
	"sessdex/serve"
)

func (a *app) searchCommand() *cobra.Command {
	var q search.Query
	var since, until string
	c := &cobra.Command{
		Use:   "search [WORDS…]",
		Short: "Find sessions; without words, list the newest",
		Long: `Search ranks sessions by how well they fit the words. Words may be anything:
questions, error messages, identifiers, paths. These filters can stand among them:

  "exact phrase"   -without   harness:codex-cli   tag:docker   file:src/auth.go
  branch:main   repo:web   author:ann   role:user   since:2w   until:2026-01-31

A file is given by its path, its base name or any run of its folders. Of several
arguments, one that holds spaces is a phrase. Without --sort, words are ranked
by relevance and browsing shows the newest first.`,
		Example: `  sessdex search why does the login redirect loop
  sessdex search "connection refused" -proxy harness:claude-code since:2w
  sessdex search --file auth/session.go --sort recent`,
		RunE: func(c *cobra.Command, words []string) error {
			var err error
			if q.Since, err = date("since", since); err != nil {
				return err
			}
			if q.Until, err = date("until", until); err != nil {
				return err
			}
			if q.Sort != "" && q.Sort != search.Relevance && q.Sort != search.Recent {
				return usagef("--sort is %s or %s, not %q", search.Relevance, search.Recent, q.Sort)
			}
			if err := knownHarnesses(q.Harness); err != nil {
				return err
			}
			q.Text = queryText(words)
			q.Facets = a.json
			s, err := a.service(c.Context())
			if err != nil {
				return err
			}
			reply, err := s.Search(c.Context(), q)
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(reply)
			} else {
				a.printHits(reply, q.Offset)
				if len(reply.Hits) == 0 {
					a.sayNothingFound(c.Context(), s)
				}
			}
			if err == nil && len(reply.Hits) == 0 {
				return errSome
			}
			return err
		},
	}
	f := c.Flags()
	f.IntVar(&q.Limit, "limit", 10, "how many sessions, at most 100")
	f.IntVar(&q.Offset, "offset", 0, "how many to pass over first")
	f.StringVar(&q.Sort, "sort", "", "relevance or recent")
	f.StringSliceVar(&q.Harness, "harness", nil, "only these harnesses: "+strings.Join(indexer.Harnesses(), ", "))
	f.StringSliceVar(&q.Tags, "tag", nil, "only sessions with all these tags")
	f.StringVar(&q.File, "file", "", "only sessions that touched this file: a path, a base name or a run of folders")
	f.StringVar(&q.Branch, "branch", "", "only sessions on this git branch")
	f.StringVar(&q.Repo, "repo", "", "only sessions in this repository")
	f.StringVar(&q.Author, "author", "", "only sessions of this person")
	f.StringVar(&since, "since", "", "only sessions active since: 2026-01-31, 2w, yesterday")
	f.StringVar(&until, "until", "", "only sessions active until: a day, month or year counts as a whole")
	f.BoolVar(&q.Subagents, "subagents", false, "sub-agents' sessions too")
	_ = c.RegisterFlagCompletionFunc("harness", cobra.FixedCompletions(indexer.Harnesses(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("sort", cobra.FixedCompletions([]string{search.Relevance, search.Recent}, cobra.ShellCompDirectiveNoFileComp))
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

// queryText joins the arguments of a search. The shell took the quotes off what
// was written as a phrase beside other words, so they are put back.
func queryText(args []string) string {
	out := make([]string, len(args))
	for i, w := range args {
		w = strings.TrimPrefix(w, escapedDash)
		if len(args) > 1 && strings.ContainsAny(w, " \t") && !strings.ContainsAny(w, "\":") {
			w = `"` + w + `"`
		}
		out[i] = w
	}
	return strings.Join(out, " ")
}

// escapedDash marks a word to leave out, so that it is not read as a flag.
const escapedDash = "\x00"

// escapeDashes marks the arguments of `search` that begin with one dash and are no
// flag: "-word" leaves a word out.
func escapeDashes(args []string) []string {
	at := slices.Index(args, "search")
	if at < 0 {
		return args
	}
	out := slices.Clone(args)
	for i := at + 1; i < len(out) && out[i] != "--"; i++ {
		if w := out[i]; len(w) > 1 && w[0] == '-' && w[1] != '-' && w != "-h" && w != "-v" {
			out[i] = escapedDash + w
		}
	}
	return out
}

// date reads a --since or --until.
func date(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	start, end, ok := search.ParseDate(s, time.Now())
	if !ok {
		return start, usagef("--%s %q is no date: write 2026-01-31, 2026-01, 7d, 2w or yesterday", flag, s)
	}
	if flag == "until" { // the whole of a day, a month or a year
		return end, nil
	}
	return start, nil
}

// sayNothingFound says why a search found nothing, as far as one can tell.
func (a *app) sayNothingFound(ctx context.Context, s *serve.Service) {
	if st, err := s.Index.Status(ctx); err == nil && st.Sessions == 0 {
		fmt.Fprintln(a.errOut, "Nothing was imported yet: run `sessdex import`.")
		return
	}
	fmt.Fprintln(a.errOut, "No session found. Try fewer or other words, or no filter.")
}

func (a *app) printHits(r *serve.SearchReply, offset int) {
	st := a.style()
	for i, h := range r.Hits {
		fmt.Fprintln(a.out, a.fold(st.dim(fmt.Sprintf("%d.", offset+i+1))+" "+st.bold(line(h.Title, 100)), 3))
		facts := []string{h.ID, h.Harness}
		if place := strings.Trim(h.Repo+"@"+h.Branch, "@"); place != "" {
			facts = append(facts, place)
		}
		facts = append(facts, ago(h.LastActive, time.Now()), count(h.Turns, "turn"))
		if h.Turn > 0 {
			facts = append(facts, fmt.Sprintf("best: turn %d (%s)", h.Turn, h.Role))
		}
		for i, f := range facts {
			facts[i] = unbroken(line(f, 200))
		}
		fmt.Fprintln(a.out, st.dim(a.fold("   "+strings.Join(facts, " · "), 3)))
		if h.Snippet != "" && h.Title != line(h.Snippet, 120) {
			fmt.Fprintln(a.out, a.fold("   "+marked(st, h.Snippet, h.Marks), 3))
		}
	}
	if r.NextOffset > 0 {
		more := ""
		if !r.TotalExact {
			more = "at least "
		}
		fmt.Fprintf(a.errOut, "%s%s in all; more with --offset %d\n", more, count(r.Total, "session"), r.NextOffset)
	}
}

// marked is a snippet on one line with its matched words standing out.
func marked(st style, snippet string, marks [][2]int) string {
	var b strings.Builder
	at := 0
	flat := func(s string) string { return strings.NewReplacer("\n", " ", "\t", " ").Replace(shown(s)) }
	for _, m := range marks {
		if m[0] < at || m[1] > len(snippet) || m[0] > m[1] {
			continue
		}
		b.WriteString(flat(snippet[at:m[0]]))
		b.WriteString(st.mark(flat(snippet[m[0]:m[1]])))
		at = m[1]
	}
	b.WriteString(flat(snippet[at:]))
	return b.String()
}
