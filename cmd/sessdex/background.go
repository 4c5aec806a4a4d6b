package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// inBackground starts this very command again without --background, as a process
// that nobody waits for and that no one's terminal, pipe or process group holds, and
// returns. An agent gives the command it calls at the end of a session about a
// second, and kills what it started when it ends itself.
func (a *app) inBackground() error {
	dir, err := a.dataDir()
	if err != nil {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	said, err := backgroundLog(filepath.Join(dir, "imports"))
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	defer said.Close()
	args := slices.DeleteFunc(slices.Clone(a.args), func(arg string) bool {
		return arg == "--background" || strings.HasPrefix(arg, "--background=") // all the ways to write it
	})
	c := exec.Command(exe, args...)
	c.Stdout, c.Stderr = said, said
	c.SysProcAttr = detached()
	if err := c.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	return c.Process.Release()
}

// backgroundLog opens what the last background import says. It replaces the file
// instead of emptying it: one that still runs goes on writing to its own.
func backgroundLog(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "background.log")
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		// Windows keeps a file that someone has open: both write to it then.
		return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}
