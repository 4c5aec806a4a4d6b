package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sessdex/session"
)

// A Stored session is one that was kept elsewhere and whose files may be gone:
// harnesses remove old ones, machines change.
type Stored struct {
	Meta *session.Meta // NativeID and Parent are of the form that [PlainID] asks for
	Path string        // where it was read once, maybe on another machine; "" where unknown
	Dir  string        // the folder it goes on in

	// Open gives the canonical transcript: what Source.Open gave, scrubbed.
	Open func() (io.ReadCloser, error)
}

// A Layout says what a harness needs to have so that a session is there for it.
type Layout struct {
	Present string // the file with which it is there already; then there are no Files

	Files []File // to be made, none over another

	// Run, where it is not nil, is a command of the harness's without which it does not
	// see the session. Of a harness that keeps sessions in a database of its own it
	// takes Files[0] in, whose Path is then only a name for a temporary file.
	Run func(file string) Command

	// Needs are native ids of sessions without which this one cannot go on, because
	// its transcript begins in theirs.
	Needs []string
}

// A File is one to be made.
type File struct {
	Path  string
	Write func(io.Writer) error
}

// ErrUnresumable means that a harness would not go on with the transcript, wherever it
// stood. What wraps it says why.
var ErrUnresumable = errors.New("its agent cannot go on with it")

// errNoDir is about sessions of harnesses that keep them by folder.
var errNoDir = fmt.Errorf("%w: nothing tells in which folder it was held", ErrUnresumable)

// PlainID reports whether a harness's id can stand in a command and in the name of
// a file: an id is whatever a transcript says, one that begins with a dash would be
// an option, and one with a slash would lead elsewhere.
func PlainID(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '-' {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// verbatim writes the transcript as it is, with a newline at its end.
func verbatim(s Stored) func(io.Writer) error {
	return func(w io.Writer) error {
		r, err := s.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		last := &lastByte{w: w}
		if _, err := io.Copy(last, r); err != nil {
			return err
		}
		if last.b != '\n' {
			_, err = w.Write([]byte{'\n'})
		}
		return err
	}
}

type lastByte struct {
	w io.Writer
	b byte
}

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
	}
	return l.w.Write(p)
}

// firstLine is the first line of the transcript, as much as a head has of it.
func firstLine(s Stored) ([]byte, error) {
	r, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	line, err := bufio.NewReaderSize(io.LimitReader(r, HeadBytes), 64<<10).ReadBytes('\n')
	if err == io.EOF {
		err = nil
	}
	return line, err
}

// standing is the first of the paths at which there is a file.
func standing(paths ...string) string {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p
		}
	}
	return ""
}

// folders lists the folders in dir, by name; none where it cannot be read.
func folders(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() { // links too
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// below is the part of an old path that follows a folder of that name, in
// components that are safe to use again: "" where it has none.
func below(old, folder string) string {
	parts := strings.Split(strings.ReplaceAll(old, `\`, "/"), "/")
	for i, p := range parts {
		if p != folder || i+1 == len(parts) {
			continue
		}
		for _, rest := range parts[i+1:] {
			if !plainName(rest) {
				return ""
			}
		}
		return filepath.Join(parts[i+1:]...)
	}
	return ""
}

// plainName reports whether a file of ours may bear a name that stood in a path.
func plainName(s string) bool {
	return PlainID(strings.ReplaceAll(s, ".", "_")) && strings.Trim(s, ".") != ""
}

// noHome means that nothing tells where the harness keeps its sessions.
func noHome(harness string) error {
	return fmt.Errorf("there is no home folder in which %s would look for it", harness)
}

// textFile is a small file of one line without its newline.
func textFile(path, text string) File {
	return File{path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }}
}

// mention is an at sign that a harness may take for the beginning of a file's name.
var mention = regexp.MustCompile(`(^|[\s\p{Z}\x{feff}])@(\S)`)

// escapeMentions keeps a harness from reading the files that a quoted text happens
// to name: Claude Code and Gemini CLI put the file behind "@path" into the prompt.
func escapeMentions(prompt string) string {
	return mention.ReplaceAllString(prompt, `$1\@$2`)
}

// noOption keeps a prompt that begins with a dash from being read as an option.
func noOption(prompt string) string {
	if strings.HasPrefix(prompt, "-") {
		return " " + prompt
	}
	return prompt
}
