package install

import (
	"encoding/json"
	"runtime"
	"strings"
)

// bearer is the header that sends the token from the environment: open and shut are
// how an agent marks a variable's name in a text.
func bearer(s Server, open, shut string) map[string]string {
	if s.TokenEnv == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + open + s.TokenEnv + shut}
}

// jsonServer is our server as a member of a JSON file.
func jsonServer(file string, path []string, entry func(Server) any) part {
	return part{PartServer, file, func(text []byte, want Want) ([]byte, Outcome, error) {
		if want.Server.none() {
			return editJSON(text, func(d *jsonFile) (Outcome, error) { return d.remove(path) })
		}
		return editJSON(text, func(d *jsonFile) (Outcome, error) { return d.set(path, entry(want.Server)) })
	}}
}

// tomlServer is our server as a table of a TOML file.
func tomlServer(file string, path []string, entry func(Server) []tomlPair) part {
	return part{PartServer, file, func(text []byte, want Want) ([]byte, Outcome, error) {
		if want.Server.none() {
			return setTable(text, path, nil)
		}
		return setTable(text, path, entry(want.Server))
	}}
}

// A hook as Claude Code introduced it and Codex, Gemini CLI and Grok took it over:
// hooks.<event> is a list of groups, and a group has a list of handlers.
type hookGroup struct {
	Hooks []hookHandler `json:"hooks"`
}

type hookHandler struct {
	Name    string `json:"name,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // seconds, but for Gemini CLI
}

// hookSeconds is what our command may take. It needs a tenth of a second, but agents
// give one or so where nothing is said, which is little on a machine that is busy.
const hookSeconds = 10

// jsonHook is our handler of the event SessionEnd in a JSON file; adapt makes it the
// agent's.
func jsonHook(file, agent string, adapt func(*hookHandler)) part {
	return part{PartHook, file, func(text []byte, want Want) ([]byte, Outcome, error) {
		words := hookCommand(want, agent)
		return editJSON(text, func(d *jsonFile) (Outcome, error) {
			if words == nil {
				return d.removeHandler("SessionEnd", agent)
			}
			h := hookHandler{Type: "command", Command: shellLine(words, runtime.GOOS), Timeout: hookSeconds}
			if adapt != nil {
				adapt(&h)
			}
			return d.setHandler("SessionEnd", agent, h)
		})
	}}
}

// oursHandler reports whether a handler, as JSON, is the one we wrote for an agent.
func oursHandler(raw []byte, agent string) bool {
	var h hookHandler
	return json.Unmarshal(raw, &h) == nil && strings.Contains(h.Command+" ", " "+hookMark(agent)+" ")
}

// shellLine writes words for a shell: sh, or on Windows whatever the agent uses there,
// which all take forward slashes and double quotes.
func shellLine(words []string, goos string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case goos == "windows" && strings.ContainsAny(w, " &()[]{}^=;!'+,`~"):
			quoted[i] = `"` + strings.ReplaceAll(w, `\`, "/") + `"`
		case goos == "windows":
			quoted[i] = strings.ReplaceAll(w, `\`, "/")
		case w == "" || strings.Trim(w, plainLetters) != "":
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		default:
			quoted[i] = w
		}
	}
	return strings.Join(quoted, " ")
}

// plainLetters mean themselves to every shell.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,"
