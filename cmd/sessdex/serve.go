package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"sessdex/indexer"
	"sessdex/serve"
)

// defaultAddr is where up and serve listen.
const defaultAddr = "127.0.0.1:7337"

// How often a server, and one of many agent windows, looks at the bucket for what
// others wrote.
const (
	serverFollows = 5 * time.Second
	windowFollows = 30 * time.Second
)

// healWait is how long an agent's question waits for a missing index to be built:
// less than clients wait for an answer.
const healWait = 20 * time.Second

func (a *app) serveCommand() *cobra.Command {
	var addr string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve MCP at /mcp, the API at /v1 and web pages at /",
		Long: `Serve answers over HTTP: MCP at /mcp, a JSON API at /v1, pages for people at /.
It follows what others write to the store. An address that other machines can
reach needs SESSDEX_TOKEN, at least 16 characters: agents and scripts send it as a
bearer token, and browsers ask for it as the password of any user name.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := context.WithCancel(c.Context())
			defer stop()
			s, err := a.server(ctx, serverFollows)
			if err != nil {
				return err
			}
			return s.Serve(ctx, addr, a.httpOptions(func(addr net.Addr) {
				fmt.Fprintf(a.errOut, "sessdex serves at %[1]s (MCP: %[1]s/mcp)\n", urlOf(addr))
			}))
		},
	}
	c.Flags().StringVar(&addr, "addr", defaultAddr, "address to listen on")
	return c
}

func (a *app) mcpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve MCP on stdin and stdout, for an agent to start",
		Long: `Mcp speaks the Model Context Protocol on stdin and stdout. Agents start it
themselves, once "sessdex install" has told them how.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := context.WithCancel(c.Context())
			defer stop()
			s, err := a.server(ctx, windowFollows)
			if err != nil {
				return err
			}
			return s.ServeStdio(ctx, a.in, a.out)
		},
	}
}

// server is service, for a process that goes on answering, see keepUp.
func (a *app) server(ctx context.Context, every time.Duration) (*serve.Service, error) {
	s, err := a.service(ctx)
	if err = cmp.Or(err, a.unwritable); err != nil {
		return nil, err
	}
	a.keepUp(ctx, s, every)
	return s, nil
}

// keepUp makes a service follow the library until ctx ends, and let no agent wait long
// for an index that is missing.
func (a *app) keepUp(ctx context.Context, s *serve.Service, every time.Duration) {
	s.Heal = func(ctx context.Context) error { _, err := s.Indexer.Sync(ctx, nil); return err }
	s.HealWait = healWait
	go a.follow(ctx, s, every)
}

// follow brings what others wrote to the bucket into the index, now and then while
// a server runs. The first time it also builds a missing index.
func (a *app) follow(ctx context.Context, s *serve.Service, every time.Duration) {
	for {
		if rep, err := s.Indexer.Follow(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("follow the library", "err", err)
		} else if err == nil && len(rep.Failures) > 0 {
			s.Log.Warn("follow the library", "failed", len(rep.Failures), "first", rep.Failures[0].Reason)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

func (a *app) reindexCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "reindex",
		Short: "Build the index anew from the store; the old one answers meanwhile",
		Long: `Reindex makes a new index from the sessions in the store and puts it in the place
of the old one, which answers until then. It is the cure for an index that is
damaged, and changes nothing in the store.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := a.ready(c.Context())
			if err != nil {
				return err
			}
			tell, end := a.progress("reindex")
			rep, err := s.Indexer.Reindex(c.Context(), tell)
			end()
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(struct {
					SchemaVersion int `json:"schema_version"`
					*indexer.SyncReport
				}{serve.SchemaVersion, rep})
			} else {
				fmt.Fprintf(a.out, "%s, %s, from %s of transcripts in %.1f s\n", count(rep.Changed, "session"), count(rep.Turns, "turn"), size(rep.Bytes), float64(rep.TookMS)/1000)
				a.sayFailures("reindex", rep.Failures)
			}
			if err == nil && len(rep.Failures) > 0 {
				return errSome
			}
			return err
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(struct {
					SchemaVersion int    `json:"schema_version"`
					Version       string `json:"version"`
					Go            string `json:"go"`
					Platform      string `json:"platform"`
				}{serve.SchemaVersion, version(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
			}
			fmt.Fprintln(a.out, "sessdex", version())
			return nil
		},
	}
}
