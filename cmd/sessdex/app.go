package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sessdex/blobstore"
	"sessdex/contextpack"
	"sessdex/harness"
	"sessdex/indexer"
	"sessdex/library"
	"sessdex/scrub"
	"sessdex/search"
	"sessdex/serve"
)

// app is one run of the program: its surroundings, the flags that every command
// has, and what the commands share once it is needed.
type app struct {
	args        []string // as the program was called
	getenv      func(string) string
	in          io.Reader
	out, errOut io.Writer

	data, store string // flags
	json        bool
	verbose     bool

	opened      blobstore.Store
	unwritable  error  // why nothing can be stored, where nothing can
	firstSearch string // that `up` proposes
}

// command assembles the command line.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "sessdex",
		Short: "Keep, find and hand on the sessions of coding agents",
		Long: `Sessdex keeps every coding-agent session, finds any of them in milliseconds,
and gives an agent exactly as much of one as its context can hold.

Start with "sessdex up". Everything is kept under --data (environment:
SESSDEX_DATA); transcripts go to --store (SESSDEX_STORE), which is a folder
inside it, or a bucket: s3://BUCKET/PREFIX with the usual AWS_* variables.

Exit codes: 0 done, 1 nothing found or some items failed, 2 wrong usage,
3 the store, the index or the server cannot be used.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.SetVersionTemplate("sessdex {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		what, _, _ := strings.Cut(err.Error(), ": strconv.") // how it was parsed is of no use
		return usagef("%s: see `%s --help`", what, c.CommandPath())
	})
	f := root.PersistentFlags()
	f.StringVar(&a.data, "data", "", "folder for everything sessdex keeps on this machine")
	f.StringVar(&a.store, "store", "", "where transcripts go: file:DIR or s3://BUCKET/PREFIX")
	f.BoolVar(&a.json, "json", false, "print one JSON object")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say more on stderr")
	root.AddCommand(
		a.upCommand(), a.importCommand(), a.searchCommand(), a.contextCommand(), a.showCommand(), a.tagCommand(),
		a.resumeCommand(), a.reindexCommand(), a.serveCommand(), a.mcpCommand(), a.doctorCommand(), a.installCommand(), a.uninstallCommand(), a.versionCommand(),
	)
	for _, c := range root.Commands() {
		args := c.Args
		if c.ValidArgsFunction == nil && c.Name() != "import" {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.Args = func(c *cobra.Command, words []string) error {
			if args == nil {
				return nil
			}
			if err := args(c, words); err != nil {
				return usagef("%s: see `%s --help`", err, c.CommandPath())
			}
			return nil
		}
	}
	root.Args = func(c *cobra.Command, words []string) error {
		if len(words) > 0 {
			return usagef("there is no command %q: see `sessdex --help`", words[0])
		}
		return nil
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return root
}

// dataDir is the folder for everything kept here, which it makes.
func (a *app) dataDir() (string, error) {
	dir, err := a.dataPath()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the data folder: %w: give another one with --data", err)
	}
	return dir, nil
}

// dataPath is where that folder is.
func (a *app) dataPath() (string, error) {
	dir := cmp.Or(a.data, a.getenv("SESSDEX_DATA"))
	if dir == "" {
		base, err := a.userData()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "sessdex")
	}
	return filepath.Abs(dir)
}

// userData is the folder where programs keep a person's data, by each system's
// custom.
func (a *app) userData() (string, error) {
	home := a.home()
	switch {
	case runtime.GOOS == "windows" && a.getenv("LocalAppData") != "":
		return a.getenv("LocalAppData"), nil
	case a.getenv("XDG_DATA_HOME") != "":
		return a.getenv("XDG_DATA_HOME"), nil
	case home == "":
		return "", errors.New("there is no home folder to keep data in: give a folder with --data")
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support"), nil
	}
	return filepath.Join(home, ".local", "share"), nil
}

func (a *app) home() string {
	if h := a.getenv("HOME"); h != "" {
		return h
	}
	return a.getenv("USERPROFILE")
}

// service opens the store and puts everything together. It does no work on the
// index and none on the network beyond making sure that a bucket is there.
func (a *app) service(ctx context.Context) (*serve.Service, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	own := "file:" + filepath.Join(dir, "store")
	addr := cmp.Or(a.store, a.getenv("SESSDEX_STORE"), own)
	if a.opened, err = blobstore.Open(addr, a.getenv); errors.Is(err, fs.ErrInvalid) {
		return nil, usageError{err}
	} else if err != nil {
		return nil, err
	}
	scrubber, err := a.scrubber(dir)
	a.unwritable = err // reading needs no scrubber
	log := a.log()
	lib := library.New(a.opened, library.DefaultWorkspace)
	index := search.Open(filepath.Join(dir, indexDir(a.opened.String(), own)))
	host, _ := os.Hostname() // only shown
	ix := &indexer.Indexer{
		Library: lib, Index: index, Scrubber: scrubber, StateDir: filepath.Join(dir, "imports"),
		Owner: owner(a.getenv), Host: host, Env: a.env(""), Log: log,
	}
	wd, _ := os.Getwd() // without one there is no current repository
	return &serve.Service{
		Library: lib, Index: index, Indexer: ix, Packer: contextpack.New(),
		Owner: ix.Owner, Repo: indexer.GitRepo(wd), Version: version(), Log: log,
		Shell: serve.ShellOf(runtime.GOOS, a.getenv),
		Heal: func(ctx context.Context) error {
			tell, end := a.progress("building the index")
			defer end()
			_, err := ix.Reindex(ctx, tell)
			return err
		},
	}, nil
}

// indexDir names the folder of a store's index. An index is a view of one store, so
// every store but the data folder's own has an index to itself.
func indexDir(store, own string) string {
	if store == own {
		return "index"
	}
	sum := sha256.Sum256([]byte(store))
	return "index-" + hex.EncodeToString(sum[:6])
}

// ready is service, for commands that write: the store is made where it is not
// there, and waited for.
func (a *app) ready(ctx context.Context) (*serve.Service, error) {
	s, err := a.service(ctx)
	if err = cmp.Or(err, a.unwritable); err != nil {
		return nil, err
	}
	for _, w := range blobstore.Warnings(a.opened) {
		fmt.Fprintln(a.errOut, "sessdex: warning: "+shown(w))
	}
	said := false
	return s, blobstore.Ready(ctx, a.opened, func(error, time.Duration) {
		if !said {
			fmt.Fprintf(a.errOut, "sessdex: waiting for %s\n", a.opened)
		}
		said = true
	})
}

// scrubber makes the scrubber with this library's mask key, which is made on
// first use: the same secret has the same mark everywhere in one library.
func (a *app) scrubber(dir string) (*scrub.Scrubber, error) {
	key, err := maskKey(filepath.Join(dir, "mask.key"))
	if err != nil {
		return nil, err
	}
	return scrub.New(scrub.WithKey(key)), nil
}

func (a *app) env(home string) harness.Env {
	if home != "" {
		if abs, err := filepath.Abs(home); err == nil {
			home = abs
		}
		// Another home: this machine's variables point elsewhere.
		return harness.Env{Home: home, Getenv: func(string) string { return "" }, GOOS: runtime.GOOS}
	}
	return harness.Env{Home: a.home(), Getenv: a.getenv, GOOS: runtime.GOOS}
}

func (a *app) log() *slog.Logger {
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: level}))
}

func (a *app) close() error {
	if a.opened == nil {
		return nil
	}
	return a.opened.Close()
}

// owner is the name that new sessions belong to: the account's.
func owner(getenv func(string) string) string {
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	for _, v := range []string{"USER", "USERNAME"} {
		if name == "" {
			name = getenv(v)
		}
	}
	if i := strings.LastIndexByte(name, '\\'); i >= 0 { // Windows: DOMAIN\name
		name = name[i+1:]
	}
	if name == "" {
		return "me"
	}
	return strings.ToLower(name)
}

// version is the module's version as built, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// isMissing reports that a file is not there.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
