//go:build unix

package e2e

import (
	"fmt"
	"strings"
)

// An agent is one command line in one way of use: how it is started, and how a
// model calls its tools.
type agent struct {
	name    string
	harness string // its name in sessdex

	env     func(modelURL string) []string
	command func(modelURL string, o talkOptions) []string

	// shell and write are the calls with which a model runs a command and makes a
	// file. Paths are relative to the working folder.
	shell func(command string) Call
	write func(m *machine, path, content string) Call

	// load is the step in which a model makes a server's tools callable, nil where
	// they are callable at once.
	load func(server string, tools ...string) Step

	// mcp is the call of a tool of an MCP server.
	mcp func(r *Request, server, tool string, args map[string]any) (Call, error)
}

var agents = []*agent{claude, codex, codexClassic}

// claude is Claude Code. It offers tools of MCP servers by name only, until the
// model has asked for them with ToolSearch.
var claude = &agent{
	name:    "claude",
	harness: "claude-code",
	env: func(modelURL string) []string {
		return []string{"ANTHROPIC_BASE_URL=" + modelURL, "ANTHROPIC_API_KEY=none", "DISABLE_TELEMETRY=1",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	},
	command: func(_ string, o talkOptions) []string {
		argv := []string{"claude"}
		if o.resume != nil {
			argv = o.resume
		}
		allowed := "mcp__sessdex"
		if o.free {
			allowed = "Bash,Write"
		}
		return append(argv, "-p", o.prompt, "--allowedTools="+allowed)
	},
	shell: func(command string) Call {
		return Call{Tool: "Bash", Args: map[string]any{"command": command, "description": "Look around"}}
	},
	write: func(m *machine, path, content string) Call {
		return Call{Tool: "Write", Args: map[string]any{"file_path": m.repo + "/" + path, "content": content}}
	},
	load: func(server string, tools ...string) Step {
		return func(r *Request) (Reply, error) {
			var names []string
			for _, tool := range tools {
				name := "mcp__" + server + "__" + tool
				if !strings.Contains(string(r.Body), name) {
					return Reply{}, fmt.Errorf("the agent does not announce %s", name)
				}
				names = append(names, name)
			}
			return Reply{Calls: []Call{{Tool: "ToolSearch", Args: map[string]any{"query": "select:" + strings.Join(names, ","), "max_results": 5}}}}, nil
		}
	},
	mcp: offered,
}

// codex is Codex with a current model: its only tool for work is "exec", which
// runs JavaScript that calls the others.
var codex = &agent{
	name:    "codex",
	harness: "codex-cli",
	env:     func(string) []string { return nil },
	command: codexCommand("gpt-6-sol"),
	shell: func(command string) Call {
		return Call{Tool: "functions/exec", Raw: fmt.Sprintf("text(await tools.exec_command({cmd: %s}))", encode(command))}
	},
	write: func(_ *machine, path, content string) Call {
		patch := "*** Begin Patch\n*** Add File: " + path + "\n+" +
			strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+") + "\n*** End Patch"
		return Call{Tool: "functions/exec", Raw: fmt.Sprintf("text(await tools.apply_patch(%s))", encode(patch))}
	},
	mcp: func(_ *Request, server, tool string, args map[string]any) (Call, error) {
		return Call{Tool: "functions/exec", Raw: fmt.Sprintf(
			`const tool = ALL_TOOLS.find(t => t.name.includes(%s) && t.name.endsWith(%s));
const result = await tools[tool.name](%s);
for (const part of result.content) text(part.text);`, encode(server), encode(tool), encode(args))}, nil
	},
}

// codexClassic is Codex with a model that it does not know: every tool is called
// by itself.
var codexClassic = &agent{
	name:    "codex-classic",
	harness: "codex-cli",
	env:     func(string) []string { return nil },
	command: codexCommand("unheard-of"),
	shell: func(command string) Call {
		return Call{Tool: "exec_command", Args: map[string]any{"cmd": command}}
	},
	write: func(_ *machine, path, content string) Call {
		return Call{Tool: "exec_command", Args: map[string]any{"cmd": "mkdir -p $(dirname " + path + ") && cat > " + path + " <<'END'\n" + content + "END"}}
	},
	mcp: offered,
}

// offered is the call of an MCP server's tool that the request offers as such.
func offered(r *Request, server, tool string, args map[string]any) (Call, error) {
	name, err := r.Tool(tool)
	if err == nil && !strings.Contains(name, server) {
		err = fmt.Errorf("the tool %s is not of the server %s", name, server)
	}
	return Call{Tool: name, Args: args}, err
}

func codexCommand(model string) func(string, talkOptions) []string {
	return func(modelURL string, o talkOptions) []string {
		provider := fmt.Sprintf(`{name="scripted", base_url=%q, wire_api="responses"}`, modelURL+"/v1")
		argv := []string{"codex", "exec", "--skip-git-repo-check",
			"-c", "model=" + model, "-c", "model_provider=scripted", "-c", "model_providers.scripted=" + provider}
		if o.free {
			argv = append(argv, "--dangerously-bypass-approvals-and-sandbox")
		}
		if o.resume != nil {
			argv = append(argv, o.resume[1:]...) // "codex resume ID" is the same inside exec
		}
		return append(argv, o.prompt)
	}
}
