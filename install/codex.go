package install

import "path/filepath"

// codexCLI is OpenAI's Codex: servers are in config.toml and hooks in hooks.json, both
// in ~/.codex or the folder that CODEX_HOME names. A SessionEnd hook has one second,
// and three if it asks for them. Codex asks before it runs a hook that it does not know, and runs none until it is
// answered.
var codexCLI = &Agent{
	Name: "codex-cli", Title: "Codex", Program: "codex",
	Hint:  "Codex asks once whether to trust the new hook; until then it does not run it.",
	signs: func(env Env) []string { return []string{env.dir("CODEX_HOME", ".codex")} },
	parts: func(env Env) []part {
		dir := env.dir("CODEX_HOME", ".codex")
		return []part{
			tomlServer(filepath.Join(dir, "config.toml"), []string{"mcp_servers", serverName}, codexServer),
			jsonHook(filepath.Join(dir, "hooks.json"), "codex-cli", func(h *hookHandler) { h.Timeout = 3 }),
		}
	},
}

// Codex gives a server's command a handful of variables, and those it is told to.
func codexServer(s Server) []tomlPair {
	if s.URL == "" {
		t := []tomlPair{{"command", s.Command[0]}, {"args", s.Command[1:]}}
		if len(s.Env) > 0 {
			t = append(t, tomlPair{"env_vars", s.Env})
		}
		return t
	}
	t := []tomlPair{{"url", s.URL}}
	if s.TokenEnv != "" {
		t = append(t, tomlPair{"bearer_token_env_var", s.TokenEnv})
	}
	return t
}
