package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"

	"github.com/spf13/cobra"

	"sessdex/indexer"
	"sessdex/serve"
)

// samples are small made-up sessions, shown where a machine has none of its own.
//
//go:embed sample/*.jsonl
var samples embed.FS

// sampleTag marks the samples.
const sampleTag = "sample"

func (a *app) upCommand() *cobra.Command {
	var home, addr string
	c := &cobra.Command{
		Use:   "up",
		Short: "Import this machine's sessions and serve them: start here",
		Long: `Up imports the sessions of every coding agent on this machine, or the bundled
sample where there are none, serves web pages and MCP on this machine only, and
goes on importing what changes.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := context.WithCancel(c.Context())
			defer stop()
			s, err := a.ready(ctx)
			if err != nil {
				return err
			}
			s.Indexer.Env = a.env(home)
			tell, end := a.progress("import")
			rep, err := s.Indexer.Import(ctx, indexer.ImportOptions{Progress: tell})
			end()
			if err != nil {
				return err
			}
			if err := a.sayImported(ctx, s, rep); err != nil {
				return err
			}
			go a.follow(ctx, s, serverFollows)
			go a.keepImporting(ctx, s)
			return s.Serve(ctx, addr, a.httpOptions(a.sayUp))
		},
	}
	c.Flags().StringVar(&home, "home", "", "look for sessions in this home folder instead of yours")
	c.Flags().StringVar(&addr, "addr", defaultAddr, "address to listen on")
	return c
}

func (a *app) sayImported(ctx context.Context, s *serve.Service, rep *indexer.Report) error {
	sessions, turns := 0, 0
	for _, r := range rep.Sources {
		sessions += r.Sessions
		turns += r.Turns
		if r.Files > 0 {
			fmt.Fprintf(a.out, "%-12s %s, %s, %d new, %d changed\n", r.Harness, count(r.Sessions, "session"), count(r.Turns, "turn"), r.New, r.Changed)
		}
	}
	for _, f := range rep.Failures {
		fmt.Fprintf(a.out, "failed: %s: %s\n", shown(f.Path), shown(f.Reason))
	}
	if sessions > 0 {
		fmt.Fprintf(a.out, "Imported this machine's sessions: %s, %s.\n", count(sessions, "session"), count(turns, "turn"))
		return a.dropSamples(ctx, s)
	}
	n, err := a.importSamples(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "No agent's sessions found on this machine, so here is the bundled sample: %d made-up sessions.\n", n)
	return nil
}

// eachSample calls fn with every bundled transcript.
func eachSample(fn func(raw []byte) error) error {
	return fs.WalkDir(samples, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(p) != ".jsonl" {
			return err
		}
		raw, err := samples.ReadFile(p)
		if err != nil {
			return err
		}
		return fn(raw)
	})
}

func (a *app) importSamples(ctx context.Context, s *serve.Service) (int, error) {
	n := 0
	err := eachSample(func(raw []byte) error {
		n++
		_, err := s.Indexer.Publish(ctx, raw, indexer.Published{Tags: []string{sampleTag}})
		return err
	})
	return n, err
}

// dropSamples removes the samples once there is something real.
func (a *app) dropSamples(ctx context.Context, s *serve.Service) error {
	return eachSample(func(raw []byte) error {
		id, err := s.Indexer.IDOf(ctx, raw)
		if err != nil {
			return err
		}
		if err := s.Indexer.Remove(ctx, id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// keepImporting follows this machine's sessions until the server ends.
func (a *app) keepImporting(ctx context.Context, s *serve.Service) {
	_ = s.Indexer.Watch(ctx, indexer.ImportOptions{}, func(_ *indexer.Report, err error) { // ends with ctx only
		if err != nil {
			s.Log.Warn("import", "err", err)
		}
	})
}

func (a *app) sayUp(addr net.Addr) {
	url := "http://" + addr.String()
	fmt.Fprintf(a.out, `
Search in the browser   %[1]s/
Search here             sessdex search "login redirect"

Give it to an agent:
  Claude Code   claude mcp add --transport http sessdex %[1]s/mcp
  Codex         codex mcp add sessdex --url %[1]s/mcp
  Gemini CLI    gemini mcp add --transport http sessdex %[1]s/mcp
  OpenCode      in opencode.json: "mcp": {"sessdex": {"type": "remote", "url": "%[1]s/mcp"}}

Stop with Ctrl-C.
`, url)
}

// httpOptions are what every server of the program has.
func (a *app) httpOptions(ready func(net.Addr)) serve.HTTPOptions {
	return serve.HTTPOptions{Token: a.getenv("SESSDEX_TOKEN"), Ready: ready}
}
