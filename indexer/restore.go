package indexer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sessdex/harness"
	"sessdex/session"
)

// Restored is what Restore did, or would do.
type Restored struct {
	Files []string  // files made; never nil
	Ran   []Command // commands of the harness's that were needed; never nil
}

// ErrUnresumable means that a session's harness would not go on with it, wherever its
// files stood.
var ErrUnresumable = harness.ErrUnresumable

// Restore sees to it that the harness of sessions finds them on this machine: what
// is there stays as it is, and what is not is laid out from the library, for all of
// them or for none. dir is the folder they go on in. With dry nothing is done.
//
// A session whose transcript begins in another's brings that one along.
func (x *Indexer) Restore(ctx context.Context, cards []*session.Card, dir string, dry bool) (_ Restored, err error) {
	r := &restorer{x: x, dir: dir, dry: dry, out: Restored{Files: []string{}, Ran: []Command{}}, seen: map[string]bool{}}
	defer func() {
		if err != nil {
			for _, path := range r.out.Files {
				os.Remove(path) // made by us a moment ago
			}
		}
	}()
	for _, c := range cards {
		if err := r.restore(ctx, c); err != nil {
			return Restored{}, err
		}
	}
	return r.out, nil
}

type restorer struct {
	x    *Indexer
	dir  string
	dry  bool
	out  Restored
	seen map[string]bool // ids of sessions, also against cycles
}

func (r *restorer) restore(ctx context.Context, card *session.Card) error {
	if r.seen[card.ID] {
		return nil
	}
	r.seen[card.ID] = true
	h := harness.ByName(card.Harness)
	if h == nil || h.Restore == nil || !harness.PlainID(card.NativeID) || card.Parent != "" && !harness.PlainID(card.Parent) {
		return nil // nothing is known about it
	}
	layout, err := h.Restore(r.x.Env, harness.Stored{
		Meta: &card.Meta, Path: card.SourcePath, Dir: r.dir,
		Open: func() (io.ReadCloser, error) {
			t, _, err := r.x.Library.Transcript(ctx, card, "")
			return t, err
		},
	})
	if err != nil {
		return fmt.Errorf("restore session %s for %s: %w", card.ID, h.Name, err)
	}
	for _, native := range layout.Needs {
		base, _, err := r.x.Library.Card(ctx, session.NewID(card.Owner, card.Harness, native))
		if err == nil {
			err = r.restore(ctx, base)
		} else if errors.Is(err, fs.ErrNotExist) {
			continue // it may be there all the same; the harness will tell
		}
		if err != nil {
			return err
		}
	}
	if err := r.lay(ctx, layout); err != nil {
		return fmt.Errorf("restore session %s for %s: %w", card.ID, h.Name, err)
	}
	return nil
}

// lay makes the files of a layout, or hands them to the harness's command.
func (r *restorer) lay(ctx context.Context, l harness.Layout) error {
	if l.Run == nil {
		for _, f := range l.Files {
			if slices.Contains(r.out.Files, f.Path) {
				continue // another session of the same folder brought it
			}
			if !r.dry {
				if err := makeFile(f); err != nil {
					return err
				}
			}
			r.out.Files = append(r.out.Files, f.Path)
		}
		return nil
	}
	path := ""
	if len(l.Files) > 0 {
		path = filepath.Base(l.Files[0].Path)
		if !r.dry {
			tmp, err := os.MkdirTemp("", "sessdex-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(tmp)
			path = filepath.Join(tmp, path)
			if err := makeFile(harness.File{Path: path, Write: l.Files[0].Write}); err != nil {
				return err
			}
		}
	}
	cmd := l.Run(path)
	r.out.Ran = append(r.out.Ran, cmd)
	if r.dry {
		return nil
	}
	return runQuietly(ctx, cmd)
}

// runQuietly runs a command and keeps what it says for its error.
func runQuietly(ctx context.Context, c Command) error {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	if isFolder(c.Dir) {
		cmd.Dir = c.Dir
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed here, or not in PATH", c.Argv[0])
	}
	if err != nil {
		last := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("run %s: %w: %s", strings.Join(c.Argv, " "), err, session.OneLine(session.Plain(last[len(last)-1]), 300))
	}
	return nil
}

// makeFile makes a file whole or not at all, and never over another.
func makeFile(f harness.File) (err error) {
	dir := filepath.Dir(f.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".sessdex-*.tmp") // no harness claims it, and only we may read it
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	err = f.Write(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	if err = os.Link(tmp.Name(), f.Path); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return copyNew(f.Path, tmp.Name()) // a file system without links
}

// copyNew copies a file to one that must not be there.
func copyNew(path, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			os.Remove(path)
		}
	}()
	_, err = io.Copy(out, in)
	return err
}
