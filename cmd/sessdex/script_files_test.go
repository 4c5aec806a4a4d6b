package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	_ "modernc.org/sqlite"

	"sessdex/blobstore/miniotest"
)

// The scripts' commands that change or look at files, places and processes.

// A tree is the content of a folder: names, modes and bytes, not times.
func tree(ts *testscript.TestScript, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if fi.Mode().IsRegular() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%s %v %q\n", path, fi.Mode(), data)
		return nil
	})
	ts.Check(err)
	return b.String()
}

func cmdKeep(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "keep NAME PATH")
	ts.Value("kept").(map[string]string)[args[0]] = tree(ts, ts.MkAbs(args[1]))
}

func cmdSame(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "same NAME PATH")
	was, ok := ts.Value("kept").(map[string]string)[args[0]]
	if !ok {
		ts.Fatalf("nothing was kept as %s", args[0])
	}
	if is := tree(ts, ts.MkAbs(args[1])); is != was {
		for line := range strings.Lines(was) {
			if !strings.Contains(is, line) {
				ts.Logf("was: %.300s", line)
			}
		}
		for line := range strings.Lines(is) {
			if !strings.Contains(was, line) {
				ts.Logf("is:  %.300s", line)
			}
		}
		ts.Fatalf("%s changed", args[1])
	}
}

func cmdRmGlob(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "rmglob GLOB")
	for _, path := range files(ts, args[0]) {
		ts.Check(os.Remove(path))
	}
}

func cmdTear(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "tear GLOB")
	for _, path := range files(ts, args[0]) {
		fi, err := os.Stat(path)
		ts.Check(err)
		ts.Check(os.Truncate(path, min(1000, fi.Size()/2)))
	}
}

// files are those a pattern names; there must be some.
func files(ts *testscript.TestScript, glob string) []string {
	found, err := filepath.Glob(ts.MkAbs(glob))
	ts.Check(err)
	if len(found) == 0 {
		ts.Fatalf("there is no %s", glob)
	}
	return found
}

func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "prefix VAR WORD N")
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	ts.Setenv(args[0], args[1][:n])
}

func cmdPort(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "port VAR")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	ts.Check(l.Close())
}

func cmdMinio(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "minio")
	t, ok := ts.Value("t").(testing.TB)
	if !ok {
		ts.Fatalf("a script's T is %T", ts.Value("t"))
	}
	for _, kv := range miniotest.Start(t).Environ() {
		name, value, _ := strings.Cut(kv, "=")
		ts.Setenv(name, value)
	}
}

func cmdTerm(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "term")
	all := ts.BackgroundCmds()
	if len(all) == 0 {
		ts.Fatalf("nothing runs in the background")
	}
	ts.Check(all[len(all)-1].Process.Signal(syscall.SIGTERM))
}

func cmdAppend(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "append FILE MORE")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteString(ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(f.Close())
}

func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 1, "waitfor PROGRAM ARG…")
	for end := time.Now().Add(clientWait); ts.Exec(args[0], args[1:]...) != nil; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("%s does not come to pass", strings.Join(args, " "))
		}
	}
}

func cmdSaid(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "said REGEXP")
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	if all := ts.ReadFile("stdout") + ts.ReadFile("stderr"); !re.MatchString(all) || jargon.MatchString(all) {
		ts.Fatalf("nothing like %s is said, or not for people", args[0])
	}
}

func cmdToken(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "token VAR PREFIX N")
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	var b strings.Builder
	for b.WriteString(args[1]); n > 0; n-- {
		b.WriteByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[rand.IntN(62)])
	}
	ts.Setenv(args[0], b.String())
}

func cmdSubst(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "subst FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}

func cmdNowhere(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "nowhere WORD DIR")
	if strings.Contains(tree(ts, ts.MkAbs(args[1])), args[0]) {
		ts.Fatalf("%s holds it", args[1])
	}
}

func cmdSQLite(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "sqlite FILE SCRIPT")
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	defer db.Close()
	for statement := range strings.Lines(ts.ReadFile(args[1])) {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
}
