package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func matches(pattern, text string) bool { return regexp.MustCompile(pattern).MatchString(text) }

// says gives what a command prints, for people.
func (d desk) says(args ...string) (string, error) {
	cmd := exec.CommandContext(d.t.Context(), d.program, args...)
	cmd.Env = d.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// up finds the sessions of all five harnesses in another home, and ends when told.
func acceptUp(t *testing.T, program string) {
	if runtime.GOOS == "windows" {
		t.Skip("needs signals")
	}
	v := newVillage(t)
	d := acceptDesk(t, program, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), clientWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.program, "up", "--home", v.home, "--addr", "127.0.0.1:0")
	cmd.Env = d.env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for len(d.sessions()) < len(v.told) && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
	d.has(v.told)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("up ends with %v: %s", err, said.String())
	}
	for _, h := range harnesses {
		if !strings.Contains(said.String(), h) {
			t.Errorf("up does not tell of %s: %s", h, said.String())
		}
	}
}

// harnesses are the five, each with the program that runs it and a word that one
// of its sessions says.
var harnesses = []string{"claude-code", "codex-cli", "gemini-cli", "grok-build", "opencode"}

var harnessProgram = map[string]string{"claude-code": "claude", "codex-cli": "codex", "gemini-cli": "gemini", "grok-build": "grok", "opencode": "opencode"}
var harnessWord = map[string]string{"claude-code": "quokka", "codex-cli": "egret", "gemini-cli": "moose", "grok-build": "badger", "opencode": "bonito"}

// Each harness can take up the work of each, with the packed context as its
// prompt; and what begins with such a prompt is linked to what it goes on with.
func acceptHandOver(t *testing.T, program string) {
	v := newVillage(t)
	d := acceptDesk(t, program, v.home)
	d.run([]int{0}, "import")
	next := map[string]string{} // the sessions that go on, by the harness of the first
	for i, from := range harnesses {
		s := v.of(harnessWord[from])
		var prompt string
		for _, to := range harnesses {
			r := d.run([]int{0, 1}, "resume", s.native, "--in", to)
			argv := r.Get("argv").Array()
			if r.Get("harness").String() != to || len(argv) < 2 || argv[0].String() != harnessProgram[to] {
				t.Errorf("%s in %s: %s", from, to, r)
				continue
			}
			if prompt = argv[len(argv)-1].String(); !strings.Contains(r.Get("argv").Raw, s.word) {
				t.Errorf("%s in %s: the prompt says no %s: %s", from, to, s.word, r)
			}
		}
		// As Claude Code writes it down.
		c := &claudeLog{id: native(fmt.Sprintf("fe%d", i)), version: "2.1.300"}
		c.user(100, strings.TrimPrefix(prompt, "--prompt="), nil)
		c.reply(101, obj{"type": "text", "text": "I go on."})
		v.put(lines(c.all...), ".claude/projects/-srv-mill", c.id+".jsonl")
		next[from] = c.id
	}
	d.run([]int{0}, "import")
	natives := d.sessions()
	for from, id := range next {
		s := v.of(harnessWord[from])
		card := d.run([]int{0}, "show", id).Get("card")
		linked := card.Get("forked_from").String() // either id
		if native, ok := natives[linked]; ok {
			linked = native
		}
		if linked != s.native {
			t.Errorf("what goes on with %s is linked to %q: %s", s.native, linked, card)
		}
		// The pack is an echo: who looks for its words finds the original first.
		if got := d.run([]int{0}, "search", s.word).Get("hits.0.native_id").String(); got != s.native {
			t.Errorf("%s finds %s first, want %s", s.word, got, s.native)
		}
	}
}

// A session whose own file is gone is restored where its harness looks, and
// imports as what it was; a file that is there stays as it is.
func acceptRestore(t *testing.T, program string) {
	v := newVillage(t)
	d := acceptDesk(t, program, v.home)
	d.run([]int{0}, "import")
	was := map[string]gjson.Result{}
	for _, h := range harnesses {
		was[h] = d.run([]int{0}, "show", v.of(harnessWord[h]).native)
	}
	for _, h := range harnesses {
		s := v.of(harnessWord[h])
		if r := d.run([]int{0, 1}, "resume", s.native); len(r.Get("restored").Array()) != 0 {
			t.Errorf("%s is there and restored: %s", h, r)
		}
	}
	for _, root := range []string{".claude/projects", ".codex/sessions", ".codex/archived_sessions", ".gemini/tmp", ".grok/sessions", ".local/share/opencode"} {
		if err := os.RemoveAll(filepath.Join(v.home, root)); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range harnesses {
		s := v.of(harnessWord[h])
		if h == "opencode" { // through its own program, which is not here
			continue
		}
		dry := d.run([]int{0, 1}, "resume", s.native, "--dry-run").Get("restored")
		if len(dry.Array()) == 0 {
			t.Errorf("%s: nothing would be restored", h)
		}
		for _, p := range dry.Array() {
			if _, err := os.Stat(p.String()); err == nil {
				t.Errorf("%s: --dry-run made %s", h, p)
			}
		}
		r := d.run([]int{0, 1}, "resume", s.native)
		if r.Get("restored").Raw != dry.Raw {
			t.Errorf("%s: restored %s, foretold %s", h, r.Get("restored").Raw, dry.Raw)
		}
		if len(r.Get("argv").Array()) == 0 || !strings.Contains(r.Get("argv").Raw, s.native) || r.Get("argv.0").String() != harnessProgram[h] {
			t.Errorf("%s: goes on with %s", h, r.Get("argv").Raw)
		}
		for _, p := range r.Get("restored").Array() {
			fi, err := os.Stat(p.String())
			if err != nil {
				t.Error(err)
			} else if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has mode %v", h, p, fi.Mode())
			}
		}
		if again := d.run([]int{0, 1}, "resume", s.native); len(again.Get("restored").Array()) != 0 {
			t.Errorf("%s: restored twice: %s", h, again.Get("restored").Raw)
		}
		if s.path != "" {
			if _, err := os.Stat(s.path); err != nil {
				t.Errorf("%s: its file is not where it was: %v", h, err)
			}
		}
	}
	// In another library the restored files are the same sessions.
	fresh := acceptDesk(t, program, v.home)
	fresh.run([]int{0}, "import")
	for _, h := range harnesses {
		if h == "opencode" {
			continue
		}
		is := fresh.run([]int{0}, "show", v.of(harnessWord[h]).native)
		for _, key := range []string{"card.turns", "card.opening", "card.start", "card.last_active", "card.dir", "card.files", "outline", "last"} {
			if is.Get(key).Raw != was[h].Get(key).Raw {
				t.Errorf("%s: restored, its %s is %s, was %s", h, key, is.Get(key).Raw, was[h].Get(key).Raw)
			}
		}
	}
}

// The five agents' configurations come back byte for byte.
func acceptInstall(t *testing.T, program string) {
	home := t.TempDir()
	d := acceptDesk(t, program, home)
	v := &village{t: t, home: home}
	configs := map[string]string{
		".claude.json":                   "{\n\t\"numStartups\": 7,\n\t\"projects\": {}\n}",
		".claude/settings.json":          "{\n  \"hooks\": {\n    \"SessionEnd\": [ {\"hooks\": [{\"type\": \"command\", \"command\": \"echo bye\"}]} ]\n  }\n}\n",
		".codex/config.toml":             "# mine\r\nmodel = \"gpt-5\" # the good one\r\n\r\n[mcp_servers.other]\r\ncommand = 'x'\r\n",
		".gemini/settings.json":          "{\n  // my theme\n  \"theme\": \"Default\",\n}\n",
		".config/opencode/opencode.json": "{\"$schema\":\"https://opencode.ai/config.json\",\"mcp\":{}}",
		".grok/config.toml":              "[ui]\nfork = true\n\n# the end",
	}
	tree := func() map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(home, func(path string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			rel, _ := filepath.Rel(home, path)
			all[filepath.ToSlash(rel)] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for name, text := range configs {
		v.put([]byte(text), name)
	}
	must := func(args ...string) string {
		t.Helper()
		said, err := d.says(args...)
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, said)
		}
		return said
	}
	before := tree()
	diff := must("install", "--all", "--dry-run")
	for path, text := range tree() {
		if before[path] != text {
			t.Errorf("--dry-run writes %s", path)
		}
	}
	if !matches(`(?m)^ *\+.*sessdex`, diff) || !matches(`(?m)^ *--- `, diff) {
		t.Errorf("--dry-run shows no difference: %s", diff)
	}
	must("install", "--all")
	installed := tree()
	for name, text := range configs {
		// Every line of the person's own is still there, in its order, up to a comma.
		rest := installed[name]
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n}], ")
			at := strings.Index(rest, line)
			if at < 0 {
				t.Errorf("%s lost %q: %s", name, line, installed[name])
				break
			}
			rest = rest[at+len(line):]
		}
		if installed[name] == text {
			continue
		}
		kept := false
		for path, data := range installed {
			kept = kept || path != name && strings.HasPrefix(path, name) && data == text
		}
		if !kept {
			t.Errorf("no backup beside %s has its bytes", name)
		}
	}
	for name := range configs {
		if name != ".claude/settings.json" && !strings.Contains(installed[name], "sessdex") {
			t.Errorf("%s names no sessdex: %s", name, installed[name])
		}
	}
	must("install", "--all")
	for path, text := range tree() {
		if installed[path] != text {
			t.Errorf("installing again changes %s", path)
		}
	}
	must("uninstall", "--all")
	for name, text := range configs {
		if got := tree()[name]; got != text {
			t.Errorf("%s is %q, was %q", name, got, text)
		}
	}
}
