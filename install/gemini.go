package install

import "path/filepath"

// geminiCLI is Google's Gemini CLI: servers and hooks are in ~/.gemini/settings.json,
// or below the folder that GEMINI_CLI_HOME names instead of the home folder. It does
// not wait for SessionEnd hooks and gives them a minute, in milliseconds.
var geminiCLI = &Agent{
	Name: "gemini-cli", Title: "Gemini CLI", Program: "gemini",
	signs: func(env Env) []string { return []string{geminiFolder(env)} },
	parts: func(env Env) []part {
		settings := filepath.Join(geminiFolder(env), "settings.json")
		return []part{
			jsonServer(settings, []string{"mcpServers", serverName}, geminiServer),
			jsonHook(settings, "gemini-cli", func(h *hookHandler) { h.Name, h.Timeout = serverName, 0 }),
		}
	},
}

func geminiFolder(env Env) string { return filepath.Join(env.dir("GEMINI_CLI_HOME"), ".gemini") }

// Gemini CLI keeps variables with names like keys and tokens from a server's command
// unless the entry names them.
func geminiServer(s Server) any {
	if s.URL == "" {
		var env map[string]string
		for _, name := range s.Env {
			if env == nil {
				env = map[string]string{}
			}
			env[name] = "${" + name + "}"
		}
		return struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env,omitempty"`
		}{s.Command[0], s.Command[1:], env}
	}
	return struct {
		URL     string            `json:"url"`
		Type    string            `json:"type"`
		Headers map[string]string `json:"headers,omitempty"`
	}{s.URL, "http", bearer(s, "${", "}")}
}
