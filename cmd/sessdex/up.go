package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"sessdex/indexer"
	"sessdex/search"
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
sample where there are none anywhere, serves web pages and MCP on this machine only, and
goes on importing what changes.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := context.WithCancel(c.Context())
			defer stop()
			if err := isFolder(home); err != nil {
				return err
			}
			if err := serve.Free(addr); err != nil {
				return err // before the import, which can take a while
			}
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
			a.firstSearch = firstSearch(ctx, s)
			a.keepUp(ctx, s, serverFollows)
			go a.keepImporting(ctx, s)
			return s.Serve(ctx, addr, a.httpOptions(a.sayUp))
		},
	}
	c.Flags().StringVar(&home, "home", "", "look for sessions in this home folder instead of yours")
	c.Flags().StringVar(&addr, "addr", defaultAddr, "address to listen on")
	return c
}

func (a *app) sayImported(ctx context.Context, s *serve.Service, rep *indexer.Report) error {
	sessions, turns := rep.Sessions(), 0
	for _, r := range rep.Sources {
		turns += r.Turns
		if r.Files > 0 {
			fmt.Fprintf(a.out, "%-12s %s, %s, %d new, %d changed\n", r.Harness, count(r.Sessions, "session"), count(r.Turns, "turn"), r.New, r.Changed)
		}
	}
	a.sayFailures("import", rep.Failures)
	if sessions > 0 {
		fmt.Fprintf(a.out, "This machine's sessions are in: %s, %s.\n", count(sessions, "session"), count(turns, "turn"))
		return a.dropSamples(ctx, s)
	}
	if st, err := s.Index.Status(ctx); err == nil && st.Sessions > 0 {
		fmt.Fprintf(a.out, "No agent's sessions found on this machine; the library has %s.\n", count(st.Sessions, "session"))
		return nil
	}
	n, err := a.importSamples(ctx, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "No agent's sessions found on this machine, so here is the bundled sample: %d made-up sessions.\n", n)
	return nil
}

// firstSearch is a search that finds something: telling words of a new session's
// title. Titles such as "ok" have none.
func firstSearch(ctx context.Context, s *serve.Service) string {
	if reply, err := s.Search(ctx, search.Query{Limit: 50}); err == nil {
		for _, h := range reply.Hits {
			if words := telling(line(h.Title, 120)); words != "" {
				return words
			}
		}
	}
	return "login redirect"
}

// telling is up to three words of a title that say what it is about, or "" where it
// does not say enough. Addresses and paths are no words; a shell may act on them.
func telling(title string) string {
	var words []string
	for f := range strings.FieldsSeq(strings.ToLower(title)) {
		if strings.ContainsAny(strings.TrimFunc(f, unicode.IsPunct), `/\:.@_`) {
			continue
		}
		for w := range strings.FieldsFuncSeq(f, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }) {
			if len(w) > 3 && !slices.Contains(commonWords, w) && len(words) < 3 {
				words = append(words, w)
			}
		}
	}
	text := strings.Join(words, " ")
	if len(text) < 8 {
		return ""
	}
	return text
}

// commonWords are words of four letters and more that many requests have.
var commonWords = strings.Fields(`about after also before cannot could does doesn don from have into make
	need please should some that their them then there these they this want were what when where
	which while will with would your`)

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

// dropSamples removes the samples once there is something real, and says so.
func (a *app) dropSamples(ctx context.Context, s *serve.Service) error {
	if reply, err := s.Search(ctx, search.Query{Tags: []string{sampleTag}, Limit: 1}); err != nil || len(reply.Hits) == 0 {
		return nil // none there, which is the rule
	}
	dropped := 0
	err := eachSample(func(raw []byte) error {
		id, err := s.Indexer.IDOf(ctx, raw)
		if err != nil {
			return err
		}
		err = s.Indexer.Remove(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		dropped++
		return err
	})
	if dropped > 0 {
		fmt.Fprintf(a.errOut, "The bundled sample (%s) was removed: there are real ones now.\n", count(dropped, "session"))
	}
	return err
}

// keepImporting follows this machine's sessions until the server ends.
func (a *app) keepImporting(ctx context.Context, s *serve.Service) {
	_ = s.Indexer.Watch(ctx, indexer.ImportOptions{}, func(_ *indexer.Report, err error) { // ends with ctx only
		if err != nil {
			s.Log.Warn("import", "err", err)
		}
	})
}

// urlOf is the address to reach a listener at from this machine.
func urlOf(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "http://" + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// self is how the program is called from this folder: `go run` leaves none behind.
func self() string {
	if exe, err := os.Executable(); err == nil && passing(exe) {
		return "go run ./cmd/sessdex"
	}
	return "sessdex"
}

func (a *app) sayUp(addr net.Addr) {
	url := urlOf(addr)
	how := self() + " install --all"
	if self() != "sessdex" {
		how = "go install ./cmd/sessdex && sessdex install --all"
	}
	fmt.Fprintf(a.out, `
Search in the browser   %[1]s/
Search here             %[2]s search %[3]s

Give it to your agents  %[4]s
MCP over HTTP           %[1]s/mcp

Stop with Ctrl-C.
`, url, self(), a.firstSearch, how)
}

// httpOptions are what every server of the program has.
func (a *app) httpOptions(ready func(net.Addr)) serve.HTTPOptions {
	return serve.HTTPOptions{Token: a.getenv("SESSDEX_TOKEN"), Ready: ready}
}
