package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// theFile is the one file that Gemini CLI has, with text in it.
func theFile(t *testing.T, text string) (Env, string) {
	t.Helper()
	env := Env{Home: t.TempDir()}
	path := filepath.Join(env.Home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return env, path
}

// apply plans and applies, and gives the backups.
func apply(t *testing.T, a *Agent, env Env, want Want) []string {
	t.Helper()
	changes, err := a.Plan(env, want)
	if err != nil {
		t.Fatal(err)
	}
	var backups []string
	for _, c := range changes {
		backup, err := c.Apply()
		if err != nil {
			t.Fatal(err)
		}
		if backup != "" {
			backups = append(backups, backup)
		}
	}
	return backups
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const someSettings = "{\n\t\"theme\": \"dusk\" // mine\n}"

func TestApplyKeepsABackupAndTheMode(t *testing.T) {
	env, path := theFile(t, someSettings)
	first := apply(t, geminiCLI, env, made)
	if len(first) != 1 || content(t, first[0]) != someSettings {
		t.Fatalf("the backups are %v", first)
	}
	if again := apply(t, geminiCLI, env, made); len(again) != 0 {
		t.Errorf("installing again backs up %v", again)
	}
	second := apply(t, geminiCLI, env, Want{}) // in the same second
	if len(second) != 1 || content(t, first[0]) != someSettings || !strings.Contains(content(t, second[0]), serverName) {
		t.Errorf("the second backup %v is not one more", second)
	}
	if got := content(t, path); got != someSettings {
		t.Errorf("uninstalled it is %q", got)
	}
	for _, p := range []string{path, first[0]} {
		if info, _ := os.Stat(p); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
	}
	list, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}

func TestEveryAgentGoesWithoutTrace(t *testing.T) {
	for _, a := range All {
		env := Env{Home: t.TempDir()}
		if a.Found(env) {
			t.Errorf("%s is found in an empty home", a.Name)
		}
		apply(t, a, env, made)
		if !a.Found(env) {
			t.Errorf("%s is not found where its files are", a.Name)
		}
		apply(t, a, env, Want{})
		err := filepath.WalkDir(env.Home, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.Contains(path, ".sessdex-backup-") {
				t.Errorf("%s leaves %s behind", a.Name, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsWrittenWhereAFileCannotBe(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"no JSON":           {`{"theme": `, ErrUnreadable},
		"no object":         {`[]`, ErrShape},
		"servers no object": {`{"mcpServers": []}`, ErrShape},
		"hooks no list":     {`{"hooks": {"SessionEnd": {}}}`, ErrShape},
	} {
		env, path := theFile(t, tc.text)
		_, err := geminiCLI.Plan(env, made)
		if !errors.Is(err, tc.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if content(t, path) != tc.text {
			t.Errorf("%s: it was written", name)
		}
	}
}

func TestApplySeesThatSomeoneWrote(t *testing.T) {
	env, path := theFile(t, someSettings)
	changes, err := geminiCLI.Plan(env, made)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := changes[0].Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("over a change of another: %v", err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if content(t, path) != "{}" || len(entries) != 1 {
		t.Errorf("it holds %q, beside it are %v", content(t, path), entries)
	}
	os.Remove(path)
	if _, err := changes[0].Apply(); !errors.Is(err, ErrChanged) {
		t.Errorf("where it was removed meanwhile: %v", err)
	}
}

func TestApplyWritesWhereALinkLeads(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links take rights there")
	}
	env, path := theFile(t, someSettings)
	real := filepath.Join(env.Home, "dotfiles.json")
	if err := os.Rename(path, real); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../dotfiles.json", path); err != nil {
		t.Fatal(err)
	}
	backups := apply(t, geminiCLI, env, made)
	if dest, err := os.Readlink(path); err != nil || dest != "../dotfiles.json" {
		t.Errorf("the link is now %q, %v", dest, err)
	}
	if !strings.Contains(content(t, real), serverName) || len(backups) != 1 || filepath.Dir(backups[0]) != env.Home {
		t.Errorf("the file it leads to was not written, or backed up elsewhere: %v", backups)
	}
	os.Remove(real) // a link to nothing
	apply(t, geminiCLI, env, made)
	if !strings.Contains(content(t, real), serverName) {
		t.Error("where a link leads to nothing yet, nothing was written")
	}
	os.Remove(path)
	if err := os.Symlink("settings.json", path); err != nil {
		t.Fatal(err)
	}
	if _, err := geminiCLI.Plan(env, made); !errors.Is(err, ErrShape) {
		t.Errorf("a link to itself: %v", err)
	}
}

func TestReadOnlyMeansNo(t *testing.T) {
	env, path := theFile(t, someSettings)
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if _, err := geminiCLI.Plan(env, made); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a file that is protected: %v", err)
	}
	if _, err := geminiCLI.Plan(env, Want{}); err != nil {
		t.Errorf("where there is nothing to do: %v", err)
	}
}

func TestVariablesMoveTheFiles(t *testing.T) {
	env := Env{Home: "/h", Getenv: func(name string) string { return "/v/" + name }}
	want := map[string][]string{
		"claude-code": {"/v/CLAUDE_CONFIG_DIR/.claude.json", "/v/CLAUDE_CONFIG_DIR/settings.json"},
		"codex-cli":   {"/v/CODEX_HOME/config.toml", "/v/CODEX_HOME/hooks.json"},
		"gemini-cli":  {"/v/GEMINI_CLI_HOME/.gemini/settings.json", "/v/GEMINI_CLI_HOME/.gemini/settings.json"},
		"opencode":    {"/v/XDG_CONFIG_HOME/opencode/opencode.json", "/v/XDG_CONFIG_HOME/opencode/plugins/sessdex.js"},
		"grok-build":  {"/v/GROK_HOME/config.toml", "/v/GROK_HOME/hooks/sessdex.json"},
	}
	for _, a := range All {
		for i, p := range a.parts(env) {
			if filepath.ToSlash(p.path) != want[a.Name][i] {
				t.Errorf("%s: %s, want %s", a.Name, p.path, want[a.Name][i])
			}
		}
	}
}

func TestAnotherHandlerInOurGroupStays(t *testing.T) {
	hook := jsonHook("", "claude-code", nil)
	text, _, err := hook.edit(nil, made)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"hooks": [`+"\n"+`          {`), []byte(`"hooks": [{"type": "command", "command": "theirs"}, {`), 1)
	moved := made
	moved.Hook = []string{"/elsewhere/sessdex"}
	text, outcome, err := hook.edit(text, moved)
	if err != nil || outcome != Replaced || !bytes.Contains(text, []byte("/elsewhere/")) || !bytes.Contains(text, []byte("theirs")) {
		t.Fatalf("%s, %v:\n%s", outcome, err, text)
	}
	text, outcome, err = hook.edit(text, Want{})
	if err != nil || outcome != Removed || bytes.Contains(text, []byte(hookMark("claude-code"))) || !bytes.Contains(text, []byte("theirs")) {
		t.Fatalf("%s, %v:\n%s", outcome, err, text)
	}
}

func TestForeignPluginStays(t *testing.T) {
	theirs := []byte("export const Sessdex = async () => ({})\n")
	if _, _, err := openCodePlugin(theirs, made); !errors.Is(err, ErrForeign) {
		t.Errorf("installing over it: %v", err)
	}
	if text, outcome, err := openCodePlugin(theirs, Want{}); err != nil || outcome != Kept || !bytes.Equal(text, theirs) {
		t.Errorf("uninstalling: %q, %s, %v", text, outcome, err)
	}
}

func TestShellLine(t *testing.T) {
	for _, tc := range []struct {
		goos  string
		words []string
		want  string
	}{
		{"linux", []string{"/opt/bin/sessdex", "import"}, "/opt/bin/sessdex import"},
		{"linux", []string{"/home/a b/it's", ""}, `'/home/a b/it'\''s' ''`},
		{"linux", []string{"$HOME", "a;b"}, `'$HOME' 'a;b'`},
		{"windows", []string{`C:\Program Files\sessdex.exe`, `--data`, `D:\x`}, `"C:/Program Files/sessdex.exe" --data D:/x`},
	} {
		if got := shellLine(tc.words, tc.goos); got != tc.want {
			t.Errorf("%q on %s is %s, want %s", tc.words, tc.goos, got, tc.want)
		}
	}
}
