package install

import "path/filepath"

// grokBuild is xAI's Grok Build: servers are in config.toml, and every file of the
// folder hooks beside it may hold hooks, both in ~/.grok or the folder that GROK_HOME
// names. A SessionEnd hook has 1.5 seconds unless it asks
// for more.
var grokBuild = &Agent{
	Name: "grok-build", Title: "Grok Build", Program: "grok",
	signs: func(env Env) []string { return []string{env.dir("GROK_HOME", ".grok")} },
	parts: func(env Env) []part {
		dir := env.dir("GROK_HOME", ".grok")
		return []part{
			tomlServer(filepath.Join(dir, "config.toml"), []string{"mcp_servers", serverName}, grokServer),
			jsonHook(filepath.Join(dir, "hooks", serverName+".json"), "grok-build", nil),
		}
	},
}

func grokServer(s Server) []tomlPair {
	if s.URL == "" {
		return []tomlPair{{"command", s.Command[0]}, {"args", s.Command[1:]}}
	}
	t := []tomlPair{{"url", s.URL}}
	for name, value := range bearer(s, "${", "}") {
		t = append(t, tomlPair{"headers", []tomlPair{{name, value}}})
	}
	return t
}
