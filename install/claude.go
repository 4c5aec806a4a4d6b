package install

import "path/filepath"

// claudeCode is Anthropic's Claude Code. Its servers are in ~/.claude.json and its
// hooks in ~/.claude/settings.json; CLAUDE_CONFIG_DIR moves both into one folder.
// What a SessionEnd hook prints is not shown, and it has 1.5 seconds unless it asks
// for more.
var claudeCode = &Agent{
	Name: "claude-code", Title: "Claude Code", Program: "claude",
	signs: func(env Env) []string { return []string{env.dir("CLAUDE_CONFIG_DIR", ".claude"), claudeConfig(env)} },
	parts: func(env Env) []part {
		settings := filepath.Join(env.dir("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
		return []part{
			jsonServer(claudeConfig(env), []string{"mcpServers", serverName}, claudeServer),
			jsonHook(settings, "claude-code", nil),
		}
	},
}

func claudeConfig(env Env) string {
	return filepath.Join(env.dir("CLAUDE_CONFIG_DIR"), ".claude.json")
}

// A command of Claude Code's has the environment that Claude Code has.
func claudeServer(s Server) any {
	if s.URL == "" {
		return struct {
			Type    string   `json:"type"`
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{"stdio", s.Command[0], s.Command[1:]}
	}
	return struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
	}{"http", s.URL, bearer(s, "${", "}")}
}
