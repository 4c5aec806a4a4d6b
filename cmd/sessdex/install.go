package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sessdex/blobstore"
	"sessdex/install"
	"sessdex/serve"
)

// installation is one run of install or uninstall.
type installation struct {
	verb     string // "install" or "uninstall"
	all, dry bool
	home     string
	noHook   bool
	url      string
	tokenEnv string
}

func (a *app) installCommand() *cobra.Command {
	i := installation{verb: "install"}
	c := &cobra.Command{
		Use:   "install AGENT… | --all",
		Short: "Put sessdex into coding agents: the MCP server, and an import when a session ends",
		Long: `Install writes into each agent's own configuration how to start this program as an
MCP server, and a hook that imports the agent's sessions when one ends. Everything else
in the files stays byte for byte, each file that changes gets a backup beside it, and
installing again changes nothing.

Agents: ` + strings.Join(agentNames(), ", ") + `.
The agent uses the library that this command uses: --data and --store, or their
variables, are written along. With --url it asks a server instead of starting one.`,
		Example: `  sessdex install --all
  sessdex install claude-code codex-cli --dry-run
  sessdex install gemini-cli --url http://127.0.0.1:7337/mcp`,
		RunE: func(c *cobra.Command, names []string) error { return a.installIn(i, names) },
	}
	a.installFlags(c, &i)
	f := c.Flags()
	f.BoolVar(&i.noHook, "no-hook", false, "no import when a session ends")
	f.StringVar(&i.url, "url", "", "have the agent ask the MCP server at this address")
	f.StringVar(&i.tokenEnv, "token-env", "", "with --url: the variable in the agent's environment that has the bearer token")
	return c
}

func (a *app) uninstallCommand() *cobra.Command {
	i := installation{verb: "uninstall"}
	c := &cobra.Command{
		Use:   "uninstall AGENT… | --all",
		Short: "Take sessdex out of coding agents again",
		Long: `Uninstall removes what install has written into the agents' configuration, and
nothing else. What was imported stays in the library.`,
		RunE: func(c *cobra.Command, names []string) error { return a.installIn(i, names) },
	}
	a.installFlags(c, &i)
	return c
}

func (a *app) installFlags(c *cobra.Command, i *installation) {
	f := c.Flags()
	f.BoolVar(&i.all, "all", false, "every agent that is on this machine")
	f.BoolVar(&i.dry, "dry-run", false, "show what would change, write nothing")
	f.StringVar(&i.home, "home", "", "the home folder of the agents instead of yours")
	c.ValidArgsFunction = cobra.FixedCompletions(agentNames(), cobra.ShellCompDirectiveNoFileComp)
}

func agentNames() []string {
	var names []string
	for _, agent := range install.All {
		names = append(names, agent.Name)
	}
	return names
}

// installReport is the JSON of an installation.
type installReport struct {
	SchemaVersion int           `json:"schema_version"`
	DryRun        bool          `json:"dry_run,omitempty"`
	Agents        []agentReport `json:"agents"`
	NotFound      []string      `json:"not_found"` // of --all
}

type agentReport struct {
	Agent string       `json:"agent"`
	Files []fileReport `json:"files"`
	Error string       `json:"error,omitempty"`
}

type fileReport struct {
	Path   string         `json:"path"`
	Parts  []install.Part `json:"parts"`
	Backup string         `json:"backup,omitempty"`
	Diff   string         `json:"diff,omitempty"` // of --dry-run
}

func (a *app) installIn(i installation, names []string) error {
	if err := isFolder(i.home); err != nil {
		return err
	}
	env := install.Env{Home: a.home(), Getenv: a.getenv, LookPath: exec.LookPath}
	if i.home != "" { // another home: this machine's variables and programs say nothing
		env = install.Env{Home: i.home}
	}
	rep := installReport{SchemaVersion: serve.SchemaVersion, DryRun: i.dry, Agents: []agentReport{}, NotFound: []string{}}
	agents, err := i.agents(env, names, &rep)
	if err != nil {
		return err
	}
	var want install.Want
	if i.verb == "install" {
		if want, err = a.wanted(i); err != nil {
			return err
		}
	}
	failed := false
	for _, agent := range agents {
		r, err := i.one(agent, env, want)
		if err != nil {
			failed = true
			r.Error = oneError(err)
			fmt.Fprintf(a.errOut, "sessdex: %s %s: %s\n", i.verb, agent.Name, r.Error)
		}
		rep.Agents = append(rep.Agents, r)
		if !a.json {
			a.sayInstalled(i, agent, r)
		}
	}
	if a.json {
		if err := a.printJSON(rep); err != nil {
			return err
		}
	} else if len(rep.NotFound) > 0 {
		fmt.Fprintf(a.out, "not on this machine: %s\n", strings.Join(rep.NotFound, ", "))
	}
	if failed || len(agents) == 0 {
		return errSome
	}
	return nil
}

// agents are those that the person means, each once. Those found nowhere go into rep.
func (i installation) agents(env install.Env, names []string, rep *installReport) ([]*install.Agent, error) {
	if i.all == (len(names) > 0) {
		return nil, usagef("name agents to %s, or give --all: there are %s", i.verb, strings.Join(agentNames(), ", "))
	}
	if i.verb == "uninstall" && i.all {
		return install.All, nil // also where only our entry is left of one
	}
	var agents []*install.Agent
	for _, name := range names {
		agent := install.ByName(name)
		if agent == nil {
			return nil, usagef("there is no agent %q: there are %s", name, strings.Join(agentNames(), ", "))
		}
		if !slices.Contains(agents, agent) {
			agents = append(agents, agent)
		}
	}
	if !i.all {
		return agents, nil
	}
	for _, agent := range install.All {
		if agent.Found(env) {
			agents = append(agents, agent)
		} else {
			rep.NotFound = append(rep.NotFound, agent.Name)
		}
	}
	return agents, nil
}

// one changes the files of one agent. Where one of them cannot be changed it ends, and
// says what was done before.
func (i installation) one(agent *install.Agent, env install.Env, want install.Want) (agentReport, error) {
	rep := agentReport{Agent: agent.Name, Files: []fileReport{}}
	changes, err := agent.Plan(env, want)
	if err != nil {
		return rep, err
	}
	for _, c := range changes {
		f := fileReport{Path: c.Path, Parts: c.Parts}
		if i.dry {
			f.Diff = c.Diff()
		} else if f.Backup, err = c.Apply(); err != nil {
			return rep, err
		}
		rep.Files = append(rep.Files, f)
	}
	return rep, nil
}

func (a *app) sayInstalled(i installation, agent *install.Agent, rep agentReport) {
	var lines []string
	hook := false
	for _, f := range rep.Files {
		for _, p := range f.Parts {
			if p.Outcome != install.Kept {
				lines = append(lines, fmt.Sprintf("%s %s: %s", p.What, p.Outcome, line(f.Path, 4096)))
				hook = hook || p.What == install.PartHook && p.Outcome != install.Removed
			}
		}
		if f.Backup != "" {
			lines = append(lines, a.style().dim("backup: "+line(f.Backup, 4096)))
		}
		if f.Diff != "" {
			lines = append(lines, strings.Split(strings.TrimRight(shown(f.Diff), "\n"), "\n")...)
		}
	}
	switch {
	case len(lines) > 0 && i.dry:
		lines = append(lines, "nothing written (--dry-run)")
	case len(lines) > 0:
		lines = append(lines, "Restart "+agent.Title+".")
		if hook && agent.Hint != "" {
			lines = append(lines, agent.Hint)
		}
	case rep.Error != "":
		return // said already
	case i.verb == "install":
		lines = append(lines, "installed already")
	case i.all:
		return // not worth a line each
	default:
		lines = append(lines, "not installed")
	}
	fmt.Fprintln(a.out, a.style().bold(agent.Name))
	for _, l := range lines {
		fmt.Fprintln(a.out, "  "+l)
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// wanted is what install writes.
func (a *app) wanted(i installation) (install.Want, error) {
	var want install.Want
	if i.url != "" {
		u, err := url.Parse(i.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return want, usagef("--url takes the address of an MCP server, such as http://%s/mcp", defaultAddr)
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = "/mcp"
		}
		want.Server.URL = u.String()
	}
	if i.tokenEnv != "" && (i.url == "" || !variableName.MatchString(i.tokenEnv)) {
		return want, usagef("--token-env goes with --url and takes the name of a variable, such as SESSDEX_TOKEN")
	}
	want.Server.TokenEnv = i.tokenEnv
	if i.url != "" && i.noHook {
		return want, nil
	}
	exe, err := installedProgram()
	if err != nil {
		return want, err
	}
	flags, err := a.libraryFlags(i.home)
	if err != nil {
		return want, err
	}
	if i.url == "" {
		want.Server.Command = append([]string{exe, "mcp"}, flags...)
		for _, name := range storeVariables {
			if a.getenv(name) != "" && strings.Contains(strings.Join(flags, " "), "s3://") {
				want.Server.Env = append(want.Server.Env, name)
			}
		}
	}
	if !i.noHook {
		want.Hook = append([]string{exe}, flags...)
	}
	return want, nil
}

// storeVariables are those that an s3:// store needs.
var storeVariables = []string{
	"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION",
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
}

// libraryFlags are the flags with which the program finds the library of this run when
// an agent starts it, which has few of our variables. There are none where it would
// find it anyway, so that entries stay short.
func (a *app) libraryFlags(home string) ([]string, error) {
	dir, err := a.dataPath()
	if err != nil {
		return nil, err
	}
	bare := &app{getenv: func(name string) string {
		switch {
		case name == "HOME" || name == "USERPROFILE":
			return cmp.Or(home, a.home())
		case name == "LocalAppData" && home == "":
			return a.getenv(name)
		}
		return ""
	}}
	var flags []string
	if usual, err := bare.dataPath(); err != nil || dir != usual {
		flags = append(flags, "--data", dir)
	}
	if addr := cmp.Or(a.store, a.getenv("SESSDEX_STORE")); addr != "" {
		if addr, err = blobstore.Address(addr, a.getenv); err != nil {
			return nil, usageError{err}
		}
		flags = append(flags, "--store", addr)
	}
	return flags, nil
}

// installedProgram is the path of this program as agents shall start it: the one on
// PATH where that is this one, because a path of a package's version changes.
func installedProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if passing(exe) {
		return "", usagef("`go run` leaves no program for an agent to start: run `go install ./cmd/sessdex`, then `sessdex install`")
	}
	onPath, err := exec.LookPath("sessdex")
	if err == nil || errors.Is(err, exec.ErrDot) {
		if onPath, err = filepath.Abs(onPath); err == nil && sameFile(onPath, exe) {
			return onPath, nil
		}
	}
	return exe, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

var goBuild = regexp.MustCompile(`^go-build\d*$`)

// passing reports whether a program is one that `go run` made.
func passing(exe string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(exe, func(r rune) bool { return r == '/' || r == '\\' }), goBuild.MatchString)
}
