package install

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// openCode is OpenCode: servers are in opencode.json or opencode.jsonc, which it reads
// both, the latter last; it has no hooks, but loads the plugins beside them. All is in
// ~/.config/opencode or below the folder that XDG_CONFIG_HOME names.
var openCode = &Agent{
	Name: "opencode", Title: "OpenCode", Program: "opencode",
	signs: func(env Env) []string {
		return []string{openCodeFolder(env), filepath.Join(env.dir("XDG_DATA_HOME", ".local", "share"), "opencode")}
	},
	parts: func(env Env) []part {
		dir := openCodeFolder(env)
		config := filepath.Join(dir, "opencode.jsonc")
		if _, err := os.Stat(config); err != nil {
			config = filepath.Join(dir, "opencode.json")
		}
		return []part{
			jsonServer(config, []string{"mcp", serverName}, openCodeServer),
			{PartHook, filepath.Join(dir, "plugins", serverName+".js"), openCodePlugin},
		}
	},
}

func openCodeFolder(env Env) string {
	return filepath.Join(env.dir("XDG_CONFIG_HOME", ".config"), "opencode")
}

// A command of OpenCode's has the environment that OpenCode has.
func openCodeServer(s Server) any {
	if s.URL == "" {
		return struct {
			Type    string   `json:"type"`
			Command []string `json:"command"`
			Enabled bool     `json:"enabled"`
		}{"local", s.Command, true}
	}
	return struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Enabled bool              `json:"enabled"`
		Headers map[string]string `json:"headers,omitempty"`
	}{"remote", s.URL, true, bearer(s, "{env:", "}")}
}

// pluginMark is the first line of our plugin, by which we know it again.
const pluginMark = "// Written by `sessdex install opencode`; `sessdex uninstall opencode` removes it."

// pluginText imports when the agent has answered: OpenCode tells of no end of a
// session, and a session goes idle after each answer. While one import runs no second
// one starts, and one more follows; it outlives OpenCode.
const pluginText = pluginMark + `
import { spawn } from "node:child_process"

const command = %s

export const Sessdex = async () => {
  let running = false
  let again = false
  const run = () => {
    running = true
    again = false
    const child = spawn(command[0], command.slice(1), { detached: true, stdio: "ignore", windowsHide: true })
    child.once("error", () => (running = false))
    child.once("exit", () => {
      running = false
      if (again) run()
    })
    child.unref()
  }
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      if (running) again = true
      else run()
    },
  }
}
`

// openCodePlugin edits the plugin's file, which is all ours.
func openCodePlugin(text []byte, want Want) ([]byte, Outcome, error) {
	words := importCommand(want, []string{"import", "--harness", "opencode"})
	if text != nil && !bytes.HasPrefix(text, []byte(pluginMark)) {
		if words == nil {
			return text, Kept, nil
		}
		return nil, "", ErrForeign
	}
	if words == nil {
		if text == nil {
			return nil, Kept, nil
		}
		return nil, Removed, nil
	}
	wanted := fmt.Appendf(nil, pluginText, renderJSON(words, "", ""))
	switch {
	case text == nil:
		return wanted, Added, nil
	case bytes.Equal(text, wanted):
		return text, Kept, nil
	}
	return wanted, Replaced, nil
}
