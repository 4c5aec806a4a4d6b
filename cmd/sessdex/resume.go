package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"sessdex/contextpack"
	"sessdex/indexer"
	"sessdex/serve"
)

func (a *app) resumeCommand() *cobra.Command {
	var req serve.ResumeRequest
	var run bool
	var shell string
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Go on with a session in its own agent, or in another one",
		Long: `Resume prints the command that goes on with a session, in the session's folder;
--exec runs it. A sub-agent's session goes on in the one that started it.

Where the agent's own file of the session is gone, it is restored from the library
first, never over a file that is there; --dry-run only says what would be restored.
With --in another agent begins a new session whose prompt holds this one's context.

Where the session's folder is gone, the command is printed without it, with exit
code 1; --dir names the folder that holds the work now.`,
		Example: `  sessdex resume 8f3k2m --exec
  sessdex resume 8f3k2m --in codex-cli --max-tokens 20000 --exec
  eval "$(sessdex resume 8f3k2m --shell bash)"`,
		Args: oneID,
		RunE: func(c *cobra.Command, args []string) error {
			req.ID, req.Shell = args[0], serve.Shell(shell)
			if shell != "" && !slices.Contains(serve.Shells, req.Shell) {
				return usagef("--shell %s: the shells are %s", line(shell, 40), strings.Join(shellNames(), ", "))
			}
			if run && (a.json || req.DryRun) {
				return usagef("--exec runs the command: it goes neither with --json nor with --dry-run")
			}
			if c.Flags().Changed("max-tokens") && req.In == "" {
				return usagef("--max-tokens is the size of the prompt for another agent: name it with --in")
			}
			if req.Dir != "" {
				dir, err := filepath.Abs(req.Dir)
				if err != nil {
					return err
				}
				req.Dir = dir
			}
			s, err := a.service(c.Context())
			if err != nil {
				return err
			}
			dry := req.DryRun
			req.DryRun = dry || run
			r, err := s.Resume(c.Context(), req)
			if err != nil {
				return err
			}
			if run {
				if err := r.GoneError(); err != nil {
					return err // nothing is restored for a command that will not run
				}
				if len(r.Restored)+len(r.Ran) > 0 {
					req.DryRun = false
					if r, err = s.Resume(c.Context(), req); err != nil {
						return err
					}
				}
			}
			if a.json {
				err = a.printJSON(r)
			} else {
				a.sayRestored(r, dry)
				if run {
					return a.exec(r)
				}
				if r.Line == "" {
					return usagef("%s has no way to write the folder %s: go on with --exec", r.Shell, line(req.Dir, 4096))
				}
				_, err = fmt.Fprintln(a.out, shown(r.Line))
				if _, tty := terminal(a.out); tty && r.Tokens > 0 { // the beginning has scrolled away
					fmt.Fprintf(a.errOut, "sessdex: that is a command with a prompt of %s; --exec runs it\n", count(r.Tokens, "token"))
				}
			}
			if err != nil {
				return err
			}
			return r.GoneError()
		},
	}
	f := c.Flags()
	f.BoolVar(&run, "exec", false, "run the command")
	f.StringVar(&req.Dir, "dir", "", "go on in this folder instead of the session's own")
	f.StringVar(&req.In, "in", "", "hand the work over to another agent: "+strings.Join(indexer.Starters(), ", "))
	f.IntVar(&req.MaxTokens, "max-tokens", serve.DefaultHandover, fmt.Sprintf("with --in: the size of its prompt, %d to %d", serve.MinHandover, contextpack.MaxTokens))
	f.StringVar(&shell, "shell", "", "write the line for "+strings.Join(shellNames(), ", ")+" (default: yours)")
	f.BoolVar(&req.DryRun, "dry-run", false, "restore nothing, and say what would be")
	_ = c.RegisterFlagCompletionFunc("in", cobra.FixedCompletions(indexer.Starters(), cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("shell", cobra.FixedCompletions(shellNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func shellNames() []string {
	var names []string
	for _, sh := range serve.Shells {
		names = append(names, string(sh))
	}
	return names
}

// sayRestored tells a person what was done, or would be, beside the command.
func (a *app) sayRestored(r *serve.Resumption, dry bool) {
	did, ran := "restored", "ran"
	if dry {
		did, ran = "would restore", "would run"
	}
	for _, path := range r.Restored {
		fmt.Fprintf(a.errOut, "sessdex: %s %s\n", did, line(path, 4096))
	}
	for _, cmd := range r.Ran {
		fmt.Fprintf(a.errOut, "sessdex: %s %s\n", ran, line(serve.Quote(cmd.Argv), 4096))
	}
	if r.Shortened {
		fmt.Fprintf(a.errOut, "sessdex: the prompt is %s long: more does not fit into a command\n", count(r.Tokens, "token"))
	}
}

// exec runs an agent in the foreground.
func (a *app) exec(r *serve.Resumption) error {
	program, err := exec.LookPath(r.Argv[0])
	if err != nil {
		return fmt.Errorf("%w: %s is not installed here, or not in PATH: install it, or go on in another agent with --in", serve.ErrNotFound, r.Argv[0])
	}
	if ext := strings.ToLower(filepath.Ext(program)); runtime.GOOS == "windows" && (ext == ".cmd" || ext == ".bat") && strings.ContainsAny(strings.Join(r.Argv, ""), "\r\n\"%") {
		return fmt.Errorf("%w: %s is a batch file here and takes no prompt of several lines: start it, and ask it to go on with session %s of sessdex", serve.ErrNotFound, program, r.ID)
	}
	cmd := exec.Command(program, r.Argv[1:]...)
	cmd.Args[0], cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Argv[0], r.Dir, a.in, a.out, a.errOut
	// The terminal sends an interrupt to the agent as well, which may only want to
	// be asked twice; what is sent to this program alone is passed on.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	defer signal.Stop(stop)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case sig := <-stop:
			_ = cmd.Process.Signal(sig) // it may have ended
		case <-done:
		}
	}()
	if err := cmd.Wait(); err != nil {
		if errors.As(err, new(*exec.ExitError)) {
			fmt.Fprintf(a.errOut, "sessdex: %s ended with %s\n", line(r.Argv[0], 80), oneError(err))
			return errSome
		}
		return err
	}
	return nil
}
