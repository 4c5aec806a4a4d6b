//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// claudeSettings are of a person who has been through the first questions of Claude
// Code, which it asks at a terminal only.
const claudeSettings = `{"hasCompletedOnboarding": true, "theme": "dark",
  "customApiKeyResponses": {"approved": ["none"], "rejected": []},
  "projects": {%q: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}
`

// handOverAtTerminal is handOver as a person does it: "sessdex resume --exec" starts
// the other agent at a terminal, and it begins without a further key.
func handOverAtTerminal(t *testing.T, m *machine, w *work, to *agent) {
	defer to.turn()()
	model := Start(Script{Say("I go on with it.")})
	defer model.Close()
	answered := func() bool { return len(model.Conversation()) > 0 }
	screen := m.terminal(t, to, model.URL, answered, m.sessdex, "resume", w.id, "--in", to.harness, "--exec")
	for _, problem := range model.Problems() {
		t.Errorf("%s: %v", to.name, problem)
	}
	said := model.Conversation()
	if len(said) == 0 {
		t.Fatalf("%s asked its model nothing; its screen:\n%q", to.name, tail(screen))
	}
	wantShown(t, said[0], w.id, w.request, "First I look around.", w.answer)
	wantNoSecret(t, said[0])
}

// hasTerminals reports whether there is the script(1) of Linux, and a way to find what
// it leaves running.
func hasTerminals() bool {
	_, err := exec.LookPath("script")
	return err == nil && runtime.GOOS == "linux"
}

var terminals atomic.Int64

// terminal runs a command that starts an agent at a terminal, which script(1) makes,
// until done or for as long as patience lasts, and gives what was written to it.
func (m *machine) terminal(t *testing.T, a *agent, modelURL string, done func() bool, argv ...string) string {
	t.Helper()
	dir := filepath.Join(m.tmp(), fmt.Sprintf("terminal-%d", terminals.Add(1)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := m.path
	if a.flags != nil { // what the agent takes on its command line only
		quoted := []string{"exec", m.find(a.program)}
		for _, flag := range a.flags(m, modelURL) {
			quoted = append(quoted, "'"+flag+"'")
		}
		shim := "#!/bin/sh\n" + strings.Join(quoted, " ") + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, a.program), []byte(shim), 0o700); err != nil {
			t.Fatal(err)
		}
		path = dir + string(filepath.ListSeparator) + path
	}
	mark := "SESSDEX_E2E_TERMINAL=" + dir
	cmd := exec.Command("script", "-q", "-e", "-f", "-c", "stty rows 40 cols 120; exec "+strings.Join(argv, " "), os.DevNull)
	cmd.Dir = m.repo
	cmd.Env = append(append(append([]string{}, m.env...), a.env(modelURL)...), "TERM=xterm-256color", "SHELL=/bin/sh", "PATH="+path, mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var screen bytes.Buffer
	cmd.Stdout, cmd.Stderr = &screen, &screen
	keyboard, err := cmd.StdinPipe() // open, and silent
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait() // how it ends is not the point
		close(ended)
	}()
	limit := time.Now().Add(patience)
	for over := false; !over && !done() && time.Now().Before(limit); {
		select {
		case <-ended:
			over = true
		case <-time.After(100 * time.Millisecond):
		}
	}
	time.Sleep(time.Second) // for the answer to arrive and be written down
	keyboard.Close()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGKILL} {
		for _, pid := range processes(mark) {
			syscall.Kill(pid, sig)
		}
		for wait := 0; wait < 50 && len(processes(mark)) > 0; wait++ {
			time.Sleep(100 * time.Millisecond)
		}
	}
	<-ended
	return screen.String()
}
