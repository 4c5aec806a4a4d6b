//go:build unix

package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// connect puts sessdex into every agent, and checks that each of them starts it.
func connect(t *testing.T, m *machine) {
	report := m.ask(t, "install", "--all")
	if n := len(report.Get("agents").Array()); n != 5 || len(report.Get("not_found").Array()) > 0 {
		t.Errorf("sessdex was put into %d of 5 agents: %s", n, report)
	}
	for _, a := range agents {
		if a == codexClassic {
			continue // the same program
		}
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			model := Start(nil) // that nobody asks; without one Claude Code looks for its vendor's
			defer model.Close()
			stdout, stderr, err := m.try(t, "", a.env(model.URL), a.list...)
			if list := stdout + stderr; err != nil || !regexp.MustCompile(a.connected).MatchString(list) {
				t.Errorf("%s does not show %q: %v\n%s", strings.Join(a.list, " "), a.connected, err, list)
			}
		})
	}
}

// wantHooked waits until a session that was just held is in the library, into which
// only a hook of the agent's can have brought it.
func wantHooked(t *testing.T, m *machine, a *agent, opening string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		out, _, _ := m.try(t, "", nil, m.sessdex, "--json", "search", opening, "--harness", a.harness)
		for _, hit := range gjson.Get(out, "hits").Array() {
			if strings.Contains(m.ask(t, "show", hit.Get("id").String()).Get("card.opening").String(), opening) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s has a hook, and its session %q was not imported", a.name, opening)
		}
	}
}

// disconnect takes sessdex out of every agent, and checks that nothing is left of it.
func disconnect(t *testing.T, m *machine) {
	m.ask(t, "uninstall", "--all")
	if got, err := os.ReadFile(filepath.Join(m.home, ".gemini", "settings.json")); string(got) != geminiSettings {
		t.Errorf("Gemini CLI's settings are not what they were: %v\n%s", err, got)
	}
	ours := regexp.MustCompile(regexp.QuoteMeta(m.sessdex) + `[^-]`) // the home folder's name begins alike
	for _, name := range []string{".claude.json", ".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".config/opencode", ".grok"} {
		err := filepath.WalkDir(filepath.Join(m.home, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "backup") {
				return nil
			}
			if data, err := os.ReadFile(path); err != nil || ours.Match(data) {
				t.Errorf("sessdex is still in %s: %v", path, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
