package serve

import (
	"path"
	"regexp"
	"strings"

	"sessdex/indexer"
)

// A Shell is a command language that resume lines are written in.
type Shell string

// The shells whose rules are known. [Bash] stands for every POSIX shell.
const (
	Bash       Shell = "bash"
	Zsh        Shell = "zsh"
	Fish       Shell = "fish"
	PowerShell Shell = "powershell"
	Cmd        Shell = "cmd"
)

// Shells lists them all.
var Shells = []Shell{Bash, Zsh, Fish, PowerShell, Cmd}

// ShellOf is the shell that a person uses, as far as the environment tells: what
// SHELL names; on Windows otherwise cmd where its PROMPT is set, else PowerShell.
func ShellOf(goos string, getenv func(string) string) Shell {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(getenv("SHELL"), `\`, "/")), ".exe")
	switch {
	case name == "zsh":
		return Zsh
	case name == "fish":
		return Fish
	case name == "pwsh" || name == "powershell":
		return PowerShell
	case goos != "windows" || name != "" && name != ".":
		return Bash
	case getenv("PROMPT") != "":
		return Cmd
	}
	return PowerShell
}

// Line is a line that makes the shell run a command in its folder. ok is false
// where the shell has no certain way to pass these very words: cmd gives no
// quoting to a percent sign or a line break, and PowerShell before 7.3 drops
// quotation marks on the way to a program.
func (sh Shell) Line(c indexer.Command) (line string, ok bool) {
	words := make([]string, len(c.Argv))
	for i, w := range c.Argv {
		if words[i], ok = sh.quote(w); !ok {
			return "", false
		}
	}
	run := strings.Join(words, " ")
	if sh == PowerShell && strings.HasPrefix(run, "'") {
		run = "& " + run
	}
	if c.Dir == "" {
		return run, true
	}
	dir, ok := sh.quote(c.Dir)
	if !ok {
		return "", false
	}
	switch sh {
	case PowerShell: // && only since version 7; a terminating error ends the line
		return "Set-Location -LiteralPath " + dir + " -ErrorAction Stop; " + run, true
	case Cmd:
		return "cd /d " + dir + " && " + run, true
	}
	return "cd " + dir + " && " + run, true
}

// bare are the characters of a word that no shell acts on, wherever they stand
// but at the beginning.
const bare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@+,"

// psBare are words that PowerShell passes on as they stand: it reads what begins with
// a digit as a number, and breaks an option at a dot or a colon.
var psBare = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9_./-]*|--?[A-Za-z][A-Za-z0-9-]*)$`)

// quote writes one word.
func (sh Shell) quote(w string) (string, bool) {
	if strings.ContainsRune(w, 0) {
		return "", false // no argument of any program
	}
	plain := w != "" && strings.Trim(w, bare) == "" && !strings.ContainsAny(w[:1], "=@:,+")
	switch sh {
	case Fish:
		if plain {
			return w, true
		}
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(w) + "'", true
	case PowerShell:
		if psBare.MatchString(w) {
			return w, true
		}
		// It takes typographic quotation marks for plain ones.
		return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(w) + "'", w != "" && !strings.Contains(w, `"`)
	case Cmd:
		if plain && !strings.ContainsAny(w, "=,") {
			return w, true
		}
		// A program reads \" as a quotation mark, so a last backslash is doubled.
		tail := w[len(strings.TrimRight(w, `\`)):]
		return `"` + w + tail + `"`, !strings.ContainsAny(w, "\"%!\r\n")
	}
	if plain {
		return w, true
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'", true
}

// Quote joins words into a line that a POSIX shell reads as those words.
func Quote(words []string) string {
	line, _ := Bash.Line(indexer.Command{Argv: words})
	return line
}
