package harness

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A Root is a folder in which discovery looks for the sessions of a harness.
type Root struct {
	Path  string // as the harness names it
	Found bool   // it is there; else it holds nothing today, which says nothing of what it held
}

// A Problem is a file or folder that discovery could not take, and why.
type Problem struct {
	Harness string
	Root    string // the root below which it is
	Path    string
	Err     error
}

func (p Problem) Error() string { return p.Path + ": " + p.Err.Error() }
func (p Problem) Unwrap() error { return p.Err }

// ErrNotFolder marks a root in whose place something else stands.
var ErrNotFolder = errors.New("not a folder")

// Discover walks the roots of h on a machine and calls found for each transcript
// its layout claims, and problem for each file or folder it cannot take. It reads no
// transcript, and no list of sessions that the harness keeps: such lists go stale.
// Links to folders are followed, and no folder is walked twice.
//
// It returns the roots it looked for, those that are not there included, and of a
// root with several names the first.
func Discover(h *Harness, env Env, found func(Source), problem func(Problem)) []Root {
	var roots []Root
	w := Walk{Follow: true}
	for _, root := range h.Roots(env) {
		fail := func(path string, err error) {
			if !errors.Is(err, ErrWalked) {
				problem(Problem{h.Name, root, path, err})
			}
		}
		real, err := rootFolder(root)
		file := errors.Is(err, ErrNotFolder) && h.Claims(".")
		switch {
		case file:
		case err != nil:
			fail(root, err)
			roots = append(roots, Root{root, true})
			continue
		case real == "":
			roots = append(roots, Root{root, false})
			continue
		case w.Walked(real):
			continue
		}
		roots = append(roots, Root{root, true})
		w.Failed = fail
		w.Enter = func(_, rel string) bool { return h.Enter == nil || h.Enter(rel) }
		w.File = func(path, rel string) {
			if !h.Claims(rel) {
				return
			}
			srcs, carrier, err := sources(path, false, h)
			if carrier != path {
				return // counted with its carrier
			}
			if err != nil {
				fail(path, err)
			}
			for _, src := range srcs {
				src.Harness, src.Root = h, root
				found(src)
			}
		}
		if file {
			w.File(root, ".")
		} else {
			w.Folder(real)
		}
	}
	return roots
}

// rootFolder is the folder behind a root's name, "" where there is none.
func rootFolder(root string) (string, error) {
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		if _, linkErr := os.Lstat(root); linkErr == nil {
			return "", err // a link that leads nowhere
		}
		return "", nil
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", ErrNotFolder
	}
	if root, err = filepath.Abs(root); err != nil { // variables may hold relative ones
		return "", err
	}
	return filepath.EvalSymlinks(root)
}

// envList splits a variable that holds several paths by any of seps, and expands
// a leading "~".
func envList(env Env, name, seps string) []string {
	if env.Getenv == nil {
		return nil
	}
	var out []string
	for _, p := range strings.FieldsFunc(env.Getenv(name), func(r rune) bool { return strings.ContainsRune(seps, r) }) {
		if p = strings.TrimSpace(p); p == "~" || strings.HasPrefix(p, "~/") {
			p = filepath.Join(env.Home, p[1:])
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// envDir is the folder that a variable names, or else one below the home folder.
func envDir(env Env, name string, below ...string) string {
	if set := envList(env, name, ""); len(set) > 0 {
		return set[0]
	}
	return filepath.Join(append([]string{env.Home}, below...)...)
}

// dataHome is where programs keep their data by the XDG base directory specification,
// which tells to pass over a relative path.
func dataHome(env Env) string {
	if dir := envDir(env, "XDG_DATA_HOME", ".local", "share"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(env.Home, ".local", "share")
}
