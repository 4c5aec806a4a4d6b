package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sessdex/contextpack"
	"sessdex/serve"
	"sessdex/session"
)

// oneID is what commands about one session take.
func oneID(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return errors.New("no session id was given")
	case 1:
		return nil
	}
	return fmt.Errorf("one session id is wanted, not %d words", len(args))
}

func (a *app) contextCommand() *cobra.Command {
	var req serve.ContextRequest
	c := &cobra.Command{
		Use:   "context ID",
		Short: "Print as much of a session as fits a token budget",
		Long: `Context prints a session's opening request and the newest turns that fit, or
those around one turn. The token count is exact and never above --max-tokens.
ID is a session's id, a unique beginning of it, or the harness's own id.`,
		Args: oneID,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.service(c.Context())
			if err != nil {
				return err
			}
			req.ID = args[0]
			pack, err := s.Context(c.Context(), req)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					SchemaVersion int `json:"schema_version"`
					*contextpack.Pack
				}{serve.SchemaVersion, pack})
			}
			if _, tty := terminal(a.errOut); tty {
				fmt.Fprintf(a.errOut, "%s of %s (%s)\n", thousands(pack.Tokens), count(pack.MaxTokens, "token"), pack.Encoding)
			}
			_, err = fmt.Fprint(a.out, pack.Text)
			return err
		},
	}
	f := c.Flags()
	f.IntVar(&req.MaxTokens, "max-tokens", contextpack.DefaultTokens, fmt.Sprintf("the budget, %d to %d", contextpack.MinTokens, contextpack.MaxTokens))
	f.BoolVar(&req.ToolCalls, "include-tool-calls", false, "show tool calls as one line each")
	f.IntVar(&req.Around, "around", 0, "the turns around this one instead of the newest")
	f.StringVar(&req.Version, "version", "", "an older version of the session")
	f.StringVar(&req.Encoding, "encoding", contextpack.Encodings[0], "count tokens in "+strings.Join(contextpack.Encodings, " or "))
	_ = c.RegisterFlagCompletionFunc("encoding", cobra.FixedCompletions(contextpack.Encodings, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (a *app) showCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "A session at a glance: what was asked, what was done",
		Args:  oneID,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.service(c.Context())
			if err != nil {
				return err
			}
			sum, err := s.Summary(c.Context(), args[0], "")
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(sum)
			}
			a.printSummary(sum)
			return nil
		},
	}
}

func (a *app) printSummary(sum *serve.Summary) {
	st, c := a.style(), sum.Card
	fmt.Fprintln(a.out, a.fold(st.bold(line(c.ShownTitle(), 120)), 0))
	fact := func(name, value string) {
		if value = line(value, 300); value != "" {
			if name == "resume" { // to be copied
				value = unbroken(value)
			}
			fmt.Fprintln(a.out, a.fold(st.dim(unbroken(fmt.Sprintf("  %-10s ", name)))+value, 13))
		}
	}
	fact("id", c.ID)
	fact("harness", strings.TrimSpace(c.Harness+" "+c.Meta.Version))
	fact("native id", c.NativeID)
	fact("owner", c.Owner)
	fact("repository", c.Repo)
	fact("branches", strings.Join(c.Branches, ", "))
	fact("folder", c.Dir)
	fact("models", strings.Join(c.Models, ", "))
	fact("when", span(c.Start, c.LastActive))
	turns := c.Turns.Less(c.Inherited)
	fact("turns", fmt.Sprintf("%d user, %d assistant, %d tool (%d failed)", turns.User, turns.Assistant, turns.Tool, sum.Errors))
	fact("tags", strings.Join(c.AllTags(), ", "))
	fact("parent", c.Parent)
	fact("forked from", c.ForkedFrom)
	if n := c.Inherited.Total(); n > 0 {
		fact("inherited", count(n, "turn")+" before its own")
	}
	fact("agents", strings.Join(sum.Children, ", "))
	fact("resume", sum.Resume)
	list := func(name string, items []string, most int) {
		if len(items) == 0 {
			return
		}
		fmt.Fprintln(a.out, st.bold(name))
		for i, it := range items {
			if i == most {
				fmt.Fprintf(a.out, "  … and %d more\n", len(items)-most)
				break
			}
			fmt.Fprintln(a.out, "  "+line(it, 200))
		}
	}
	var asked []string
	for _, o := range sum.Outline {
		asked = append(asked, fmt.Sprintf("%4d  %s", o.Turn, o.Text))
	}
	if len(asked) > 0 {
		fmt.Fprintln(a.out, st.bold("Asked"))
		for _, l := range asked {
			fmt.Fprintln(a.out, a.fold("  "+shown(l), 8))
		}
	}
	list("Files edited", serve.Within(c.Dir, c.Files), 30)
	list("Commands, newest last", sum.Commands, len(sum.Commands))
	if sum.Last != "" {
		fmt.Fprintln(a.out, st.bold("Last answer"))
		for l := range strings.SplitSeq(shown(strings.TrimSpace(sum.Last)), "\n") {
			fmt.Fprintln(a.out, a.fold("  "+strings.TrimRight(l, " "), 2))
		}
	}
}

// span is from when to when, in local time, without saying a day or a minute twice.
func span(from, to time.Time) string {
	at := func(t time.Time, layout string) string {
		if t.IsZero() {
			return "?"
		}
		return t.Local().Format(layout)
	}
	const day, minute = "2006-01-02", "2006-01-02 15:04"
	switch {
	case at(from, minute) == at(to, minute):
		return at(to, minute)
	case at(from, day) == at(to, day):
		return at(from, minute) + " – " + at(to, "15:04")
	}
	return at(from, minute) + " – " + at(to, minute)
}

func (a *app) tagCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "tag ID +WORD -WORD…",
		Short:   "Add and remove tags of a session",
		Example: `  sessdex tag 8f3k2m +auth +incident -wip`,
		// "-word" removes a tag, so words are not flags here.
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, words []string) error {
			words, err := a.tagFlags(c, words)
			if err != nil || words == nil {
				return err
			}
			var add, remove []string
			for _, w := range words[1:] {
				switch {
				case strings.HasPrefix(w, "-"):
					remove = append(remove, w[1:])
				default:
					add = append(add, strings.TrimPrefix(w, "+"))
				}
			}
			s, err := a.ready(c.Context())
			if err != nil {
				return err
			}
			card, err := s.Tag(c.Context(), words[0], add, remove)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(struct {
					SchemaVersion int `json:"schema_version"`
					*session.Card
				}{serve.SchemaVersion, card})
			}
			fmt.Fprintf(a.out, "%s: %s\n", card.ID, line(strings.Join(card.AllTags(), ", "), 1000))
			return nil
		},
	}
	return c
}

// tagFlags takes the program's own flags out of a tag command's words. It returns
// nil after help was shown.
func (a *app) tagFlags(c *cobra.Command, words []string) ([]string, error) {
	out := []string{}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "--json":
			a.json = true
		case w == "--verbose":
			a.verbose = true
		case w == "-h" || w == "--help":
			return nil, c.Help()
		case (w == "--data" || w == "--store") && i+1 < len(words):
			i++
			*map[string]*string{"--data": &a.data, "--store": &a.store}[w] = words[i]
		case strings.HasPrefix(w, "--data="):
			a.data = w[len("--data="):]
		case strings.HasPrefix(w, "--store="):
			a.store = w[len("--store="):]
		case strings.HasPrefix(w, "--"):
			return nil, usagef("unknown flag: %s: see `sessdex tag --help`", w)
		default:
			out = append(out, w)
		}
	}
	if len(out) == 0 {
		return nil, usagef("no session id was given: see `sessdex tag --help`")
	}
	return out, nil
}
