package serve

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sessdex/indexer"
)

func TestShellLine(t *testing.T) {
	plain := indexer.Command{Argv: []string{"claude", "--resume", "a1d0-11"}, Dir: "/srv/shop"}
	odd := indexer.Command{Argv: []string{"codex", "resume", "019d"}, Dir: `/srv/it's 100% "$HOME" !x`}
	for _, c := range []struct {
		sh   Shell
		cmd  indexer.Command
		want string // "": the shell cannot be given it
	}{
		{Bash, plain, `cd /srv/shop && claude --resume a1d0-11`},
		{Bash, odd, `cd '/srv/it'\''s 100% "$HOME" !x' && codex resume 019d`},
		{Zsh, indexer.Command{Argv: []string{"x", "=ls", "~", ""}}, `x '=ls' '~' ''`},
		{Fish, plain, `cd /srv/shop && claude --resume a1d0-11`},
		{Fish, odd, `cd '/srv/it\'s 100% "$HOME" !x' && codex resume 019d`},
		{Fish, indexer.Command{Argv: []string{"x", `a\b`}}, `x 'a\\b'`},
		{PowerShell, plain, `Set-Location -LiteralPath '/srv/shop' -ErrorAction Stop; claude --resume a1d0-11`},
		{PowerShell, indexer.Command{Argv: []string{"codex", "resume", "019d"}, Dir: `C:\it's ‘so’`}, `Set-Location -LiteralPath 'C:\it''s ‘‘so’’' -ErrorAction Stop; codex resume '019d'`},
		{PowerShell, indexer.Command{Argv: []string{"my agent", "-a.b", "$x", "two\nlines"}}, "& 'my agent' '-a.b' '$x' 'two\nlines'"},
		{PowerShell, indexer.Command{Argv: []string{"x", `say "hi"`}}, ""},
		{PowerShell, indexer.Command{Argv: []string{"x", ""}}, ""},
		{Cmd, plain, `cd /d /srv/shop && claude --resume a1d0-11`},
		{Cmd, indexer.Command{Argv: []string{"codex", "a&b|c^d", `e f\`}, Dir: `C:\my work`}, `cd /d "C:\my work" && codex "a&b|c^d" "e f\\"`},
		{Cmd, indexer.Command{Argv: []string{"x"}, Dir: `C:\%CMDCMDLINE:~-1%&calc`}, ""},
		{Cmd, indexer.Command{Argv: []string{"x", "two\nlines"}}, ""},
		{Cmd, indexer.Command{Argv: []string{"x", `"&calc`}}, ""},
		{Cmd, indexer.Command{Argv: []string{"x", "!PATH!"}}, ""},
		{Bash, indexer.Command{Argv: []string{"x", "a\x00b"}}, ""},
	} {
		got, ok := c.sh.Line(c.cmd)
		if ok != (c.want != "") || got != c.want {
			t.Errorf("%s: %q in %q: %s, %v, want %s", c.sh, c.cmd.Argv, c.cmd.Dir, got, ok, c.want)
		}
	}
}

func TestShellOf(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want Shell
	}{
		{"linux", map[string]string{"SHELL": "/usr/bin/zsh"}, Zsh},
		{"linux", map[string]string{"SHELL": "/opt/fish/bin/fish"}, Fish},
		{"darwin", map[string]string{"SHELL": "/bin/tcsh"}, Bash},
		{"linux", nil, Bash},
		{"linux", map[string]string{"SHELL": "/usr/bin/pwsh"}, PowerShell},
		{"windows", map[string]string{"PROMPT": "$P$G"}, Cmd},
		{"windows", nil, PowerShell},
		{"windows", map[string]string{"SHELL": `C:\Program Files\Git\usr\bin\bash.exe`, "PROMPT": "$P$G"}, Bash},
	} {
		if got := ShellOf(c.goos, func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.goos, c.env, got, c.want)
		}
	}
}

// hostile are words that some shell acts on.
var hostile = []string{
	"", " ", "a b", "'", `"`, `\`, `\\`, `a\`, `'"'"'`, "$HOME", "${x}", "$(echo no)", "`echo no`", "%PATH%", "%", "!!", "!x", "*", "?", "[a]",
	"~", "~root", "=ls", "-n", "--", "--version", "#x", "a#b", ";", "&", "&&", "|", ">x", "<x", "(", ")", "{a,b}", "two\nlines", "\n", "tab\there",
	"end\n", "^", "ä ö 日本 🙂", "‘so’", "\u00a0", "a=b", "1>2", "%self", "$'x'", "\r",
}

// Real shells take the lines for what they stand for.
func TestRealShells(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shells here are those of Unix")
	}
	show := filepath.Join(t.TempDir(), "show")
	if err := os.WriteFile(show, []byte("#!/bin/sh\npwd\nprintf '%s\\0' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, c := range []struct {
		program string
		sh      Shell
		args    []string
	}{
		{"sh", Bash, []string{"-c"}},
		{"bash", Bash, []string{"--norc", "-c"}},
		{"bash", Bash, []string{"--norc", "-O", "extglob", "-H", "-c"}},
		{"zsh", Zsh, []string{"-f", "-c"}},
		{"zsh", Zsh, []string{"-f", "-o", "extendedglob", "-c"}},
		{"fish", Fish, []string{"--no-config", "-c"}},
		{"pwsh", PowerShell, []string{"-NoProfile", "-Command"}},
	} {
		if _, err := exec.LookPath(c.program); err != nil {
			continue
		}
		tested++
		t.Run(c.program+strings.Join(c.args[:len(c.args)-1], ""), func(t *testing.T) {
			argv := []string{show}
			for _, w := range hostile {
				if _, ok := c.sh.quote(w); ok {
					argv = append(argv, w, "x"+w, w+"x")
				} else if c.sh != PowerShell {
					t.Errorf("%q cannot be written", w)
				}
			}
			dirs := []string{"plain", "it's 100% \"$HOME\" !x", "`no` $(no)", "two\nlines\n", `back\slash\`, "日本 🙂", "-n"}
			for _, name := range dirs {
				dir := filepath.Join(t.TempDir(), name)
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if line, ok := c.sh.Line(indexer.Command{Argv: argv, Dir: dir}); ok {
					runLine(t, c.program, c.args, line, dir, argv[1:])
				} else if c.sh != PowerShell {
					t.Errorf("%q cannot be written", dir)
				}
			}
		})
	}
	if tested == 0 {
		t.Skip("no shell is installed")
	}
}

func runLine(t testing.TB, program string, args []string, line, dir string, want []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(append([]string{}, args...), line)...)
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=dumb", "LC_ALL=C.UTF-8"}
	cmd.Dir = home
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %s: %v %s", program, line, err, errOut.String())
		return
	}
	got := strings.TrimSuffix(out.String(), "\x00")
	if diff := cmp.Diff(dir+"\n"+strings.Join(want, "\x00"), got); diff != "" {
		t.Errorf("%s: %s\n%s", program, line, diff)
	}
}

// Whatever the words, a POSIX shell gives them back.
func TestQuoteIsUndoneByAShell(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh is installed")
	}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[^\x00]{0,12}`), 1, 20).Draw(t, "words")
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+Quote(words)).Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(words, "\x00")+"\x00", string(out)); diff != "" {
			t.Error(diff)
		}
	})
}
