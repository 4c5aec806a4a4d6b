package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"sessdex/contextpack"
)

// The program is a command of the scripts, run as a process of its own. So are
// two clients: fetch asks an HTTP server, and mcptool starts an MCP one.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"sessdex": main,
		"fetch":   func() { os.Exit(fetchMain(os.Args[1:])) },
		"mcptool": func() { os.Exit(mcpMain(os.Args[1:])) },
	})
}

// TestScripts holds the command line to what it promises, one script a promise.
// A script's home and data folder are its own, and of the environment it has
// nothing but PATH. Beside testscript's commands they use:
//
//	machine                    lay out the made-up machine of testdata/home
//	long FILE N                write a Claude Code session of N requests
//	exits CODE PROGRAM ARG…    run it and ask for that exit code
//	one                        stderr is one sentence of ours, stdout is empty
//	[!] json FILE PATH [WANT]  what a JSON file has at a gjson path
//	get VAR FILE PATH          keep it in a variable
//	within FILE MIN MAX        the pack's text has that many tokens, and it says so
//	said REGEXP                stdout or stderr has a line like this
//	token VAR PREFIX N         make up something that looks like a secret
//	subst FILE                 replace $VAR in a file
//	nowhere WORD DIR           no file there holds the word
//	hits FILE                  the session ids of a --json or MCP answer, as stdout
//	keep NAME PATH, same NAME PATH  a folder's content did not change
//	prefix VAR WORD N          keep the first N characters of a word
//	rmglob GLOB, tear GLOB     remove the files, or all but their beginning
//	sqlite FILE SCRIPT         make a database by statements, one a line
//	port VAR                   an address nobody listens at
//	minio                      run a real MinIO and set AWS_*
//	append FILE MORE           put the bytes of another file at the end
//	waitfor PROGRAM ARG…       run it until it ends with 0
//	term                       SIGTERM to the program put in the background last
func TestScripts(t *testing.T) {
	plain := ""
	if raceDetector {
		plain = plainProgram(t)
	}
	testscript.Run(t, testscript.Params{
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Dir:                "testdata",
		WorkdirRoot:        t.TempDir(), // its own default leaves an empty folder behind
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			program, err := exec.LookPath("sessdex")
			if err != nil {
				return err
			}
			if raceDetector && !servers.MatchString(e.T().(testing.TB).Name()) {
				program = plain
				e.Setenv("PATH", filepath.Dir(program)+string(os.PathListSeparator)+e.Getenv("PATH"))
			}
			e.Setenv("BIN", filepath.Dir(program))
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home)
			e.Values["t"], e.Values["kept"] = e.T(), map[string]string{}
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"machine": cmdMachine,
			"long":    cmdLong,
			"exits":   cmdExits,
			"one":     cmdOne,
			"json":    cmdJSON,
			"get":     cmdGet,
			"hits":    cmdHits,
			"keep":    cmdKeep,
			"same":    cmdSame,
			"port":    cmdPort,
			"sqlite":  cmdSQLite,
			"minio":   cmdMinio,
			"term":    cmdTerm,
			"within":  cmdWithin,
			"append":  cmdAppend,
			"said":    cmdSaid,
			"token":   cmdToken,
			"subst":   cmdSubst,
			"nowhere": cmdNowhere,
			"rmglob":  cmdRmGlob,
			"tear":    cmdTear,
			"prefix":  cmdPrefix,
			"waitfor": cmdWaitFor,
		},
	})
}

// plainProgram builds the program without the race detector, which makes it ten
// times as slow and sees nothing between processes. It goes when the test ends.
func plainProgram(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "sessdex")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	cmd.Dir = sourceDir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return path
}

// servers are the scripts in which one process does several things at once: only
// they gain from the race detector, which makes every start of the program slow.
var servers = regexp.MustCompile(`/(?:up|up_machine|home_five|serve|import_watch)$`)

func usage(ts *testscript.TestScript, ok bool, want string) {
	if !ok {
		ts.Fatalf("usage: %s", want)
	}
}

func cmdMachine(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "machine")
	work := ts.MkAbs(".")
	ts.Check(layOut(work))
}

// layOut writes the machine of testdata/home below a folder, which the
// transcripts call $WORK.
func layOut(work string) error {
	ar, err := txtar.ParseFile(filepath.Join(sourceDir, "testdata", "home", "sessions.txtar"))
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(filepath.ToSlash(work))
	if err != nil {
		return err
	}
	inside := strings.Trim(string(quoted), `"`)
	for _, f := range ar.Files {
		path := filepath.Join(work, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(f.Data), "$WORK", inside)), 0o600); err != nil {
			return err
		}
	}
	return os.MkdirAll(filepath.Join(work, "kiosk"), 0o700)
}

// sourceDir is this package's folder, where go test starts the test.
var sourceDir = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()

func cmdLong(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "long FILE N")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	ts.Check(os.WriteFile(path, longSession(strings.TrimSuffix(filepath.Base(path), ".jsonl"), n), 0o600))
}

// longSession is a Claude Code transcript of n requests, each answered after one
// command, about 120 tokens a request.
func longSession(id string, n int) []byte {
	var b strings.Builder
	parent, at := "", time.Date(2026, 10, 1, 8, 0, 0, 0, time.UTC)
	record := func(kind string, message map[string]any) {
		at = at.Add(time.Second)
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", n, at.Unix())
		message["role"] = kind
		line, err := json.Marshal(map[string]any{
			"type": kind, "message": message, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "userType": "external",
			"sessionId": id, "cwd": "/srv/mill", "gitBranch": "main", "version": "2.1.300", "timestamp": at.Format("2006-01-02T15:04:05.000Z"),
		})
		if err != nil {
			panic(err)
		}
		b.Write(line)
		b.WriteByte('\n')
		parent = uuid
	}
	for i := 1; i <= n; i++ {
		record("user", map[string]any{"content": fmt.Sprintf("Request %d: grind the flour of silo %d finer, and tell me how the sieve behaves at that speed.", i, i*7)})
		call := fmt.Sprintf("toolu_%d", i)
		record("assistant", map[string]any{"id": "msg_a" + call, "model": "claude-opus-4-5", "content": []any{
			map[string]any{"type": "tool_use", "id": call, "name": "Bash", "input": map[string]any{"command": fmt.Sprintf("mill --silo %d --fine", i*7)}}}})
		record("user", map[string]any{"content": []any{
			map[string]any{"type": "tool_result", "tool_use_id": call, "content": fmt.Sprintf("ground %d kg", i*11)}}})
		record("assistant", map[string]any{"id": "msg_b" + call, "model": "claude-opus-4-5", "content": []any{
			map[string]any{"type": "text", "text": fmt.Sprintf("Answer %d: silo %d gave %d kg. The sieve hums at 40 turns a minute and clogs at 55, so I kept it at 48 and cleaned the mesh twice; nothing was lost.", i, i*7, i*11)}}})
	}
	return []byte(b.String())
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "exits CODE PROGRAM ARG…")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("run %s: %v", args[1], err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("%s ended with exit code %d, want %d", strings.Join(args[1:], " "), code, want)
	}
}

// jargon is what no sentence for a person may hold.
var jargon = regexp.MustCompile(`(?i)panic|goroutine|0x[0-9a-f]{6}|\.go:\d+|%!|<nil>|errno|\*\w+\.\w+Error`)

func cmdOne(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "one")
	said := ts.ReadFile("stderr")
	line, rest, _ := strings.Cut(said, "\n")
	switch {
	case ts.ReadFile("stdout") != "":
		ts.Fatalf("stdout is not empty")
	case !strings.HasPrefix(line, "sessdex: ") || rest != "":
		ts.Fatalf("stderr is not one sentence: %q", said)
	case jargon.MatchString(line):
		ts.Fatalf("stderr is not for people: %q", line)
	}
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 2 || len(args) == 3, "[!] json FILE PATH [WANT]")
	got := at(ts, args[0], args[1])
	ok := got.Exists()
	if ok && len(args) == 3 {
		ok = got.String() == args[2]
	}
	if ok == neg {
		ts.Fatalf("%s at %s is %q", args[0], args[1], got.String())
	}
}

func cmdGet(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "get VAR FILE PATH")
	got := at(ts, args[1], args[2])
	if !got.Exists() {
		ts.Fatalf("%s has no %s", args[1], args[2])
	}
	ts.Setenv(args[0], got.String())
}

// at reads a file that holds exactly one JSON object.
func at(ts *testscript.TestScript, file, path string) gjson.Result {
	text := ts.ReadFile(file)
	if !gjson.Valid(text) || !gjson.Parse(text).IsObject() {
		ts.Fatalf("%s is not one JSON object: %q", file, text)
	}
	var compact bytes.Buffer
	ts.Check(json.Compact(&compact, []byte(text)))
	return gjson.Get(compact.String(), path)
}

func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "within FILE MIN MAX")
	low, err := strconv.Atoi(args[1])
	ts.Check(err)
	high, err := strconv.Atoi(args[2])
	ts.Check(err)
	pack := at(ts, args[0], "@this")
	n, err := contextpack.Count(pack.Get("encoding").String(), pack.Get("text").String())
	ts.Check(err)
	if said := pack.Get("tokens").Int(); int64(n) != said {
		ts.Fatalf("it says %d tokens and has %d", said, n)
	}
	if n < low || n > high {
		ts.Fatalf("%d tokens are not from %d to %d", n, low, high)
	}
}

// hitLine is how an MCP answer begins a hit.
var hitLine = regexp.MustCompile(`(?m)^\d+\. ([0-9a-z]{12}) `)

// hitIDs lists the sessions of an answer, best first, whichever way it came.
func hitIDs(answer string) []string {
	ids := []string{}
	if gjson.Valid(answer) {
		for _, id := range gjson.Get(answer, "hits.#.id").Array() {
			ids = append(ids, id.String())
		}
		return ids
	}
	for _, m := range hitLine.FindAllStringSubmatch(answer, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func cmdHits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "hits FILE")
	ids := hitIDs(ts.ReadFile(args[0]))
	if len(ids) == 0 {
		ts.Fatalf("%s has no hits", args[0])
	}
	fmt.Fprintln(ts.Stdout(), strings.Join(ids, "\n"))
}
