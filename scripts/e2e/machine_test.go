//go:build unix

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// patience is how long one command may take. An agent that cannot reach its
// model tries for minutes.
const patience = 4 * time.Minute

// cleanupTime is kept free before go test's time is up.
const cleanupTime = 15 * time.Second

// A machine is a person's computer as the programs see it: a home folder of its
// own, a small repository in it, an empty environment, and nothing of the real one.
type machine struct {
	home    string
	repo    string
	path    string   // PATH
	env     []string // all variables that every program has
	sessdex string   // the program under test
}

// newMachine makes a machine, or skips the test where the programs are missing.
// The machine is gone after the test, with everything that runs on it.
func newMachine(t *testing.T) *machine {
	t.Helper()
	folder, sessdex := os.Getenv("SESSDEX_AGENTS"), os.Getenv("SESSDEX_BIN")
	if folder == "" || sessdex == "" {
		t.Skip("real agents are driven by scripts/e2e/run only: SESSDEX_AGENTS and SESSDEX_BIN are not set")
	}
	bin := filepath.Join(folder, "node_modules", ".bin")
	dirs := []string{bin}
	for _, a := range agents {
		if _, err := os.Stat(filepath.Join(bin, a.program)); err != nil {
			t.Skipf("%s is not installed in %s: run scripts/install-agents", a.program, folder)
		}
	}
	for _, program := range []string{"node", "git"} {
		found, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("the agents need %s, which is not installed", program)
		}
		dirs = append(dirs, filepath.Dir(found))
	}
	// Not t.TempDir: agents put sockets below it, and a socket's path must be short.
	home, err := os.MkdirTemp("", "sessdex-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	home, err = filepath.EvalSymlinks(home)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{
		home:    home,
		repo:    filepath.Join(home, "work", "marmot"),
		path:    strings.Join(append(dirs, filepath.Join(home, "bin"), "/usr/local/bin", "/usr/bin", "/bin"), string(filepath.ListSeparator)),
		sessdex: sessdex,
	}
	m.env = []string{"HOME=" + m.home, "PATH=" + m.path, "TMPDIR=" + m.tmp(), "TERM=dumb"}
	for _, a := range agents {
		if a.alone != nil {
			m.env = append(m.env, a.alone(home)...)
		}
	}
	t.Cleanup(func() { m.remove(t) })
	for _, dir := range []string{m.repo, m.tmp()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.writeFile(t, ".gemini/settings.json", geminiSettings)
	m.writeFile(t, ".claude.json", fmt.Sprintf(claudeSettings, m.repo))
	m.writeFile(t, openCodeModels, "{}")
	m.run(t, nil, "git", "init", "--quiet", "--initial-branch=trunk")
	m.run(t, nil, "git", "remote", "add", "origin", "git@git.example.com:burrow/marmot.git")
	m.run(t, nil, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "--quiet", "--allow-empty", "-m", "Begin")
	return m
}

func (m *machine) tmp() string { return filepath.Join(m.home, "tmp") }

// run runs a program in the repository and gives what it printed on stdout. A
// program that fails, or does not end, fails the test.
func (m *machine) run(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	return m.pipe(t, "", env, argv...)
}

// pipe is run of a program that reads something.
func (m *machine) pipe(t *testing.T, stdin string, env []string, argv ...string) string {
	t.Helper()
	stdout, stderr, err := m.try(t, stdin, env, argv...)
	if err != nil {
		t.Fatalf("run %s: %v\nstdout: %s\nstderr: %s", strings.Join(argv, " "), err, tail(stdout), tail(stderr))
	}
	return stdout
}

// try is pipe of a program that may fail.
func (m *machine) try(t *testing.T, stdin string, env []string, argv ...string) (stdout, stderr string, err error) {
	limit := time.Now().Add(patience)
	if end, ok := t.Deadline(); ok && end.Add(-cleanupTime).Before(limit) {
		limit = end.Add(-cleanupTime) // go test's own end would leave everything behind
	}
	ctx, cancel := context.WithDeadline(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.find(argv[0]), argv[1:]...)
	cmd.Dir = m.repo
	cmd.Env = slices.Concat(m.env, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children die with it
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	if err = cmd.Run(); err != nil {
		err = errors.Join(err, ctx.Err())
	}
	return out.String(), errOut.String(), err
}

// find looks a program up in the machine's PATH, which is not ours.
func (m *machine) find(program string) string {
	if strings.ContainsRune(program, filepath.Separator) {
		return program
	}
	for _, dir := range filepath.SplitList(m.path) {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return program // exec says that it is not there
}

func tail(s string) string {
	const most = 4000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// ask runs sessdex with --json and gives the one object that it prints.
func (m *machine) ask(t *testing.T, args ...string) gjson.Result {
	t.Helper()
	out := m.run(t, nil, append([]string{m.sessdex, "--json"}, args...)...)
	if !gjson.Valid(out) || !gjson.Parse(out).IsObject() {
		t.Fatalf("sessdex %s printed no JSON object: %s", strings.Join(args, " "), tail(out))
	}
	return gjson.Parse(out)
}

// talk runs an agent with one prompt against a script, and gives the requests of
// the conversation. Anything that does not go by the script fails the test.
func (m *machine) talk(t *testing.T, a *agent, opts talkOptions) []*Request {
	t.Helper()
	defer a.turn()()
	model := Start(opts.script)
	defer model.Close()
	if opts.argv == nil {
		opts.argv = []string{a.program}
	}
	argv, stdin := a.headless(m, model.URL, opts)
	m.pipe(t, stdin, a.env(model.URL), argv...)
	for _, problem := range model.Problems() {
		t.Errorf("%s: %v", a.name, problem)
	}
	said := model.Conversation()
	if len(said) == 0 {
		t.Fatalf("%s asked its model nothing", a.name)
	}
	return said
}

type talkOptions struct {
	argv   []string // the command that a person would give; nil: a new session
	prompt string   // what is then said, if argv does not say it
	script Script
	free   bool // the agent may write files and run commands without asking
}

// words are the prompt as arguments.
func (o talkOptions) words() []string {
	if o.prompt == "" {
		return nil
	}
	return []string{o.prompt}
}

// remove ends what still runs on the machine, which should be nothing, and
// deletes it.
func (m *machine) remove(t *testing.T) {
	if left := m.leftovers(); len(left) > 0 {
		for _, pid := range left {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d is still running: %s", pid, bytes.ReplaceAll(cmdline, []byte{0}, []byte(" ")))
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if keep := os.Getenv("SESSDEX_E2E_KEEP"); keep != "" {
		for _, dir := range []string{".claude/projects", ".codex/sessions", ".gemini", ".local/share/opencode"} {
			if err := os.CopyFS(filepath.Join(keep, dir), os.DirFS(filepath.Join(m.home, dir))); err != nil {
				t.Errorf("keep transcripts: %v", err)
			}
		}
	}
	var err error
	for range 20 { // a process that was just ended may still write
		if err = os.RemoveAll(m.home); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("remove home: %v", err)
}

// writeFile writes a file below the home.
func (m *machine) writeFile(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

// removeFiles removes the files below the home that a pattern matches.
func (m *machine) removeFiles(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.home, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files like %s: %v", pattern, err)
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// leftovers lists the processes whose home is the machine's, after giving them
// time to end.
func (m *machine) leftovers() (left []int) {
	for range 200 {
		if left = processes("HOME=" + m.home); left == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}

// processes lists those that were started with a variable of that value. It knows
// only Linux's /proc.
func processes(variable string) (pids []int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
