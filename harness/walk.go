package harness

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrWalked marks a link to a folder that is not followed: Follow is off, or it
// leads to a folder that is walked anyway, as one that leads in a circle does.
var ErrWalked = errors.New("a link to a folder, which is not followed here")

// A Walk goes through folders and what is below them, no folder twice. Its zero
// value does nothing; set it up before the first Folder.
type Walk struct {
	// Follow says that links to folders are followed. Links to files always count as
	// the files they are.
	Follow bool

	// Enter is asked before a folder below the first is read. It and File have a
	// thing's path, and the slash-separated path to it from the folder where the walk
	// began, in which links keep their own names. Both may be nil.
	Enter func(path, rel string) bool

	// File is told of everything that is no folder.
	File func(path, rel string)

	// Failed is told of folders that cannot be read, and of links with ErrWalked. It may be nil.
	Failed func(path string, err error)

	walked map[string]bool // by path without links
}

// Walked reports whether a folder, named without links, was walked.
func (w *Walk) Walked(real string) bool { return w.walked[real] }

// Folder walks a folder, named without links.
func (w *Walk) Folder(real string) { w.folder(real, "") }

func (w *Walk) folder(real, rel string) {
	if w.walked[real] {
		return
	}
	if w.walked == nil {
		w.walked = map[string]bool{}
	}
	w.walked[real] = true
	entries, err := os.ReadDir(real)
	if err != nil {
		w.fail(real, err) // what was read before the error counts
	}
	for _, e := range entries {
		at, below := filepath.Join(real, e.Name()), path.Join(rel, e.Name())
		switch {
		case e.IsDir():
			if w.Enter == nil || w.Enter(at, below) {
				w.folder(at, below)
			}
		case e.Type()&fs.ModeSymlink != 0 && isFolder(at):
			w.link(at, below)
		case w.File != nil:
			w.File(at, below)
		}
	}
}

func (w *Walk) link(at, rel string) {
	real, err := filepath.EvalSymlinks(at)
	switch {
	case err != nil:
		w.fail(at, err)
	case !w.Follow, w.walked[real], within(at, real):
		w.fail(at, ErrWalked)
	case w.Enter == nil || w.Enter(real, rel):
		w.folder(real, rel)
	}
}

func (w *Walk) fail(path string, err error) {
	if w.Failed != nil {
		w.Failed(path, err)
	}
}

// within reports whether path is below folder.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
