// Command sessdex keeps the sessions of coding agents, finds any of them, and
// hands an agent as much of one as its context can hold.
//
// This package is flags, environment and assembly; what the program does is in
// the packages beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"sessdex/serve"
)

// Exit codes.
const (
	exitDone   = 0
	exitSome   = 1 // nothing found, or some items failed
	exitUsage  = 2 // wrong usage
	exitBroken = 3 // the store, the index or the server cannot be used
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program whatever it waits for
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program with its surroundings passed in.
func run(ctx context.Context, args []string, getenv func(string) string, in io.Reader, out, errOut io.Writer) int {
	a := &app{args: args, getenv: getenv, in: in, out: out, errOut: errOut}
	root := a.command()
	root.SetArgs(escapeDashes(args))
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if closeErr := a.close(); err == nil {
		err = closeErr
	}
	return a.exit(ctx, err)
}

// errSome ends a command with exit code 1 after it has said everything itself.
var errSome = errors.New("")

// usageError is wrong usage that cobra reports.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exit says one sentence about an error and chooses the code.
func (a *app) exit(ctx context.Context, err error) int {
	code := exitBroken
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSome):
		return exitSome
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(a.errOut, "sessdex: stopped")
		return exitSome
	case errors.As(err, &usage), errors.Is(err, serve.ErrUsage):
		code = exitUsage
	case errors.Is(err, serve.ErrNotFound):
		code = exitSome
	}
	fmt.Fprintln(a.errOut, "sessdex: "+withHint(err))
	return code
}

// oneError is an error as one line that is safe to show, without the marker that
// only says what kind it is.
func oneError(err error) string {
	if errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), syscall.ENOSPC.Error()) { // Bleve keeps only the words
		return "the disk is full: make room and try again (" + line(err.Error(), 200) + ")"
	}
	msg := strings.TrimPrefix(err.Error(), serve.ErrUsage.Error()+": ")
	return shown(strings.Join(strings.Fields(msg), " "))
}
