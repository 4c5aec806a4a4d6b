// Package harness is everything we know about the coding agents whose sessions
// we keep: where each one writes, how its transcripts are read, and how a
// session goes on in it. What is about one harness stands in files and under names
// that begin with it, and what several share under neutral ones; [All] is the list of
// them.
//
// A harness is described by a value, not by an interface. Parsers are pure: they
// take bytes line by line and give values; nothing here writes to disk.
package harness

import (
	"io"
	"iter"

	"sessdex/session"
)

// A Harness is one coding agent.
type Harness struct {
	// Name as the design and the people of that harness write it: "claude-code".
	Name string

	// Roots lists the folders that may hold its sessions on a machine, present or
	// not, without duplicates. A root may be a file, of which Claims is asked by ".".
	Roots func(Env) []string

	// Claims reports whether a file, by its slash-separated path relative to a
	// root, belongs to a session by the harness's own layout. It does no I/O. Files
	// it does not claim (caches, prompt histories, tool results, indexes) are no
	// sessions and are not counted.
	Claims func(rel string) bool

	// Enter reports whether a folder, by its slash-separated path relative to a root,
	// may have below it what Claims takes; nil where every folder may. It does no I/O.
	Enter func(rel string) bool

	// Group, for a harness whose session is several files or whose file is several
	// sessions, tells what a file belongs to; nil where every file is one session.
	// It looks at names, and at bytes only where a name alone cannot tell.
	Group func(path string) Group

	// Detect reports whether the head of a file is one of its transcripts, by the
	// shape of its records alone.
	Detect func(Head) bool

	// New starts the parser of one transcript.
	New func(Source) Parser

	// Resume is the command with which the session goes on, and the folder to run
	// it in; nil where the harness cannot. It is not asked about sub-agents, which go on
	// in the session that started them.
	Resume func(*session.Meta) Command

	// Restore tells what the harness needs to have on a machine so that Resume's
	// command finds a session that was kept elsewhere. It looks at the machine and
	// changes nothing; nil where it is not known.
	Restore func(Env, Stored) (Layout, error)

	// Start is the command that begins a new session in a folder with a prompt, as a
	// person would in a terminal; nil where the harness has none.
	Start func(dir, prompt string) Command
}

// A Group is what one file is part of: the files of one session, or the sessions
// of one file. The zero value means that the file stands for itself.
type Group struct {
	// Carrier is the file that stands for the whole when files are counted: the
	// others of the group are parts of it. Asked for its carrier, a group is the same.
	Carrier string

	// Sources lists the sessions. Their Path is the carrier, their Stamp covers all
	// that each is made from, and Open gives one canonical document. The caller
	// fills in Harness and Root. An error is about all of them.
	Sources func() ([]Source, error)
}

// All lists every harness. [Detect] asks them in this order.
var All = []*Harness{
	CodexCLI, GeminiCLI, QwenCode, ClaudeCode, GrokBuild, OpenCode, // Qwen's envelope is Claude's
	CopilotCLI, Pi, Droid, Amp, CursorAgent,
	Unknown, // what none of them claims
}

// Env is what discovery may know of the machine: tests make their own.
type Env struct {
	Home   string              // the person's home folder
	Getenv func(string) string // nil: no variables
	GOOS   string              // runtime.GOOS
}

// A Source is one transcript that discovery found.
type Source struct {
	Harness *Harness // whose root it was found under; nil where given as a file
	Root    string   // the root it was found under, or the path that was given
	Path    string   // the file, absolute
	Part    string   // which session of the file, where it holds several: the harness's id
	Size    int64    // bytes on disk
	Stamp   string   // changes whenever the content may have changed
	Dir     string   // the session's working folder, where the harness keeps it outside the transcript

	// What others know of it better than its bytes: that it begins with so many turns
	// of the session with that native id. Parsers of harnesses that copy histories
	// without a word of where they are from take it for told.
	ForkedFrom string
	Inherited  int

	// Open gives the transcript's bytes, decompressed where the harness
	// compresses, without a byte order mark.
	Open func() (io.ReadCloser, error)
}

// A Parser reads one transcript. It never fails: what it cannot read it counts
// in Meta.BadLines or Meta.Unknown. It is not safe for concurrent use.
type Parser interface {
	// Line takes the next line without its newline. The bytes are only valid
	// during the call. Whole-document formats collect what they need here.
	Line(line []byte)

	// Finish ends the transcript. The turns may be ranged over more than once;
	// there are none when the file holds no conversation.
	Finish() (session.Meta, iter.Seq[session.Turn])
}

// Key names a source among all of a machine's.
func (s Source) Key() string {
	if s.Part == "" {
		return s.Path
	}
	return s.Path + "#" + s.Part
}

// Command is a program to run in a folder.
type Command struct {
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`
}

// ByName finds a harness, or nil.
func ByName(name string) *Harness {
	for _, h := range All {
		if h.Name == name {
			return h
		}
	}
	return nil
}

// Revision is raised whenever a parser reads the same bytes differently, so that
// files imported before are read again.
const Revision = 3
