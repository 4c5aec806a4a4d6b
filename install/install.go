// Package install puts this program into the coding agents of a machine and takes
// it out again: an MCP server in each agent's own configuration file, and a hook
// that imports when a session ends. One file holds one agent; [All] lists them.
//
// An edit touches the bytes of our entry and nothing else: comments, order, white
// space, line ends and a byte order mark stay as they are, installing twice is
// installing once, and uninstalling gives back the bytes that were there before,
// down to whether there was a file. A file that cannot be parsed is not touched.
//
// [Agent.Plan] reads and computes, [Change.Apply] writes: first a backup beside the
// file, then the new text in one step, and neither if the file is not as it was read.
// Nothing here is safe against another Apply on the same file at the same time beyond
// that check.
package install

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// serverName is the name of our entry in every agent's configuration.
const serverName = "sessdex"

// Env is what an installation may know of the machine: tests make their own.
type Env struct {
	Home     string                       // the person's home folder
	Getenv   func(string) string          // nil: no variables
	LookPath func(string) (string, error) // finds a program; nil: there are none
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// dir is the folder that a variable names, or one in the home folder.
func (e Env) dir(variable string, home ...string) string {
	return cmp.Or(e.get(variable), filepath.Join(append([]string{e.Home}, home...)...))
}

// Want is what an agent's configuration shall hold. The zero value is nothing of
// ours, which uninstalls.
type Want struct {
	Server Server
	Hook   []string // program, and the flags of the import it does when a session ends; none: no hook
}

// A Server is how an agent reaches our MCP server: it starts Command, or asks URL.
type Server struct {
	Command []string // program and arguments
	Env     []string // names of variables that Command needs, from the agent's environment
	URL     string

	// TokenEnv names the variable of the agent's environment that holds the bearer
	// token for URL. The token itself is written nowhere.
	TokenEnv string
}

func (s Server) none() bool { return len(s.Command) == 0 && s.URL == "" }

// An Agent is one coding agent that can be told of us.
type Agent struct {
	Name    string // as its harness is called: "claude-code"
	Title   string // as people call it: "Claude Code"
	Program string // its command: "claude"
	Hint    string // what a person has to do besides restarting it, as a sentence

	signs func(Env) []string // files or folders that show that it is used here
	parts func(Env) []part
}

// All lists every agent.
var All = []*Agent{claudeCode, codexCLI, geminiCLI, openCode, grokBuild}

// ByName finds an agent by its name or its command, or gives nil.
func ByName(name string) *Agent {
	for _, a := range All {
		if name == a.Name || name == a.Program {
			return a
		}
	}
	return nil
}

// Found reports whether the agent is on the machine: it has left its files, or its
// program can be started.
func (a *Agent) Found(env Env) bool {
	for _, p := range a.signs(env) {
		if _, err := os.Stat(p); err == nil {
			return true
		}
	}
	if env.LookPath == nil {
		return false
	}
	_, err := env.LookPath(a.Program)
	return err == nil
}

// The parts of an installation.
const (
	PartServer = "MCP server"
	PartHook   = "session-end hook"
)

// Outcome says what became of a part.
type Outcome string

// Outcomes. Kept means that there was nothing to do.
const (
	Kept     Outcome = "kept"
	Added    Outcome = "added"
	Replaced Outcome = "replaced"
	Removed  Outcome = "removed"
)

// A part is one of our entries in one file. edit gives the text that has what is
// wanted, and only that; nil text means no file, before and after.
type part struct {
	what string
	path string
	edit func(text []byte, want Want) ([]byte, Outcome, error)
}

// Errors about an agent's configuration file. It is untouched in every case.
var (
	// ErrUnreadable means that the file is not what the agent could read either.
	ErrUnreadable = errors.New("cannot be parsed: mend it and try again")
	// ErrShape means that what holds our entry is not what the agent expects there.
	ErrShape = errors.New("is not as expected")
	// ErrReadOnly means that someone protected the file from being written.
	ErrReadOnly = errors.New("is read-only: make it writable and try again")
	// ErrChanged means that someone wrote the file in the meantime.
	ErrChanged = errors.New("changed meanwhile: try again")
	// ErrForeign means that a file of ours would take the place of another's.
	ErrForeign = errors.New("is not ours: move it away and try again")
)

// Plan computes what has to change so that the agent's configuration holds what is
// wanted: one Change for each file, also for those that stay as they are.
func (a *Agent) Plan(env Env, want Want) ([]*Change, error) {
	var list []*Change
	byTarget := map[string]*Change{}
	for _, p := range a.parts(env) {
		target, err := follow(p.path)
		if err != nil {
			return nil, err
		}
		c := byTarget[target]
		if c == nil {
			if c, err = read(p.path, target); err != nil {
				return nil, err
			}
			byTarget[target] = c
			list = append(list, c)
		}
		text, outcome, err := p.edit(c.After, want)
		if err != nil {
			return nil, &FileError{p.path, err}
		}
		c.After = text
		c.Parts = append(c.Parts, Part{p.what, outcome})
	}
	for _, c := range list {
		if c.Changed() && c.readOnly {
			return nil, &FileError{c.Path, ErrReadOnly}
		}
	}
	return list, nil
}

// FileError is what is wrong with one file.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string {
	// The sentences above go on from the path; errors of the system name it themselves.
	for _, s := range []error{ErrUnreadable, ErrShape, ErrReadOnly, ErrChanged, ErrForeign} {
		if errors.Is(e.Err, s) {
			return e.Path + " " + e.Err.Error()
		}
	}
	return "edit " + e.Path + ": " + e.Err.Error()
}

func (e *FileError) Unwrap() error { return e.Err }

// hookCommand is the words of the hook for one agent, and nil without one. They
// return at once; [hookMark] is how we know them again.
func hookCommand(want Want, agent string) []string {
	return importCommand(want, strings.Fields(hookMark(agent)))
}

func hookMark(agent string) string { return "import --background --harness " + agent }

func importCommand(want Want, words []string) []string {
	if len(want.Hook) == 0 {
		return nil
	}
	return slices.Concat(want.Hook[:1], words, want.Hook[1:])
}
