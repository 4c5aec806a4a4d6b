//go:build unix

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// An agent is one command line in one way of use: how it is started, and how a
// model calls its tools.
type agent struct {
	name    string
	program string
	harness string // its name in sessdex
	branch  bool   // its sessions say on which branch they were held

	// single, where it is not nil, is held while the program runs.
	single *sync.Mutex

	// alone keeps it from all traffic but the model's, with an account that is none;
	// env leads it to the model.
	alone func(home string) []string
	env   func(modelURL string) []string

	// flags are what it takes beside env, for an agent that has no variables for it.
	flags func(m *machine, modelURL string) []string

	// headless makes of a command line that talks with a person at a terminal the
	// one that answers one prompt and ends. stdin is what it reads, "" for nothing.
	headless func(m *machine, modelURL string, o talkOptions) (argv []string, stdin string)

	// shell and write are the calls with which a model runs a command and makes a
	// file. Paths are relative to the working folder.
	shell func(command string) Call
	write func(m *machine, path, content string) Call

	// load is the step in which a model makes a server's tools callable, nil where
	// they are callable at once.
	load func(server string, tools ...string) Step

	// mcp is the call of a tool of an MCP server.
	mcp func(r *Request, server, tool string, args map[string]any) (Call, error)

	// list shows the MCP servers that it has, and connected is what it shows of ours.
	list      []string
	connected string

	// forget removes a session as the agent itself does it, by its own id, after some
	// time or when it is told to.
	forget func(t *testing.T, m *machine, native string)
}

// turn waits until the program may run, and gives what ends its turn.
func (a *agent) turn() (end func()) {
	if a.single == nil {
		return func() {}
	}
	a.single.Lock()
	return a.single.Unlock
}

var agents = []*agent{claude, codex, codexClassic, gemini, opencode}

// claude is Claude Code. It offers tools of MCP servers by name only, until the
// model has asked for them with ToolSearch.
var claude = &agent{
	name:    "claude",
	program: "claude",
	harness: "claude-code",
	branch:  true,
	alone: func(string) []string {
		return []string{"ANTHROPIC_API_KEY=none", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"MCP_CONNECTION_NONBLOCKING=false", "MCP_TIMEOUT=60000"} // a busy machine's first request may come before its servers
	},
	env: func(modelURL string) []string { return []string{"ANTHROPIC_BASE_URL=" + modelURL} },
	headless: func(_ *machine, _ string, o talkOptions) ([]string, string) {
		allowed := "mcp__sessdex"
		if o.free {
			allowed = "Bash,Write"
		}
		return slices.Concat([]string{"claude", "-p", "--allowedTools=" + allowed}, o.argv[1:], o.words()), ""
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
	mcp:       offered,
	list:      []string{"claude", "mcp", "list"},
	connected: `(?m)^sessdex: .* ✔ Connected$`,
	forget: func(t *testing.T, m *machine, native string) { // as its cleanup does after 30 days
		m.removeFiles(t, ".claude/projects/*/"+native+".jsonl")
	},
}

// codex is Codex with a current model: its only tool for work is "exec", which
// runs JavaScript that calls the others.
var codex = &agent{
	name:     "codex",
	program:  "codex",
	harness:  "codex-cli",
	branch:   true,
	env:      func(string) []string { return nil },
	flags:    codexFlags("gpt-6-sol"),
	headless: codexHeadless("gpt-6-sol"),
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
	list:      []string{"codex", "mcp", "list"},
	connected: `(?m)^sessdex +\S*/sessdex +mcp .* enabled `,
	forget:    codexDelete,
}

// codexClassic is Codex with a model that it does not know: every tool is called
// by itself.
var codexClassic = &agent{
	name:     "codex-classic",
	program:  "codex",
	harness:  "codex-cli",
	branch:   true,
	env:      func(string) []string { return nil },
	flags:    codexFlags("unheard-of"),
	headless: codexHeadless("unheard-of"),
	shell: func(command string) Call {
		return Call{Tool: "exec_command", Args: map[string]any{"cmd": command}}
	},
	write: func(_ *machine, path, content string) Call {
		return Call{Tool: "exec_command", Args: map[string]any{"cmd": "mkdir -p $(dirname " + path + ") && cat > " + path + " <<'END'\n" + content + "END"}}
	},
	mcp:    offered,
	forget: codexDelete,
}

// offered is the call of an MCP server's tool that the request offers as such.
func offered(r *Request, server, tool string, args map[string]any) (Call, error) {
	name, err := r.Tool(tool)
	if err == nil && !strings.Contains(name, server) {
		err = fmt.Errorf("the tool %s is not of the server %s", name, server)
	}
	return Call{Tool: name, Args: args}, err
}

// codexFlags lead Codex to the model, and let it work in the folder and run hooks
// without asking: nobody has trusted them at a terminal. The daemon that it would
// start there outlives it, and is a copy of the whole program.
func codexFlags(model string) func(*machine, string) []string {
	return func(m *machine, modelURL string) []string {
		provider := fmt.Sprintf(`{name="scripted", base_url=%q, wire_api="responses"}`, modelURL+"/v1")
		return []string{"-c", "model=" + model, "-c", "model_provider=scripted", "-c", "model_providers.scripted=" + provider,
			"-c", fmt.Sprintf(`projects={%q={trust_level="trusted"}}`, m.repo), "--dangerously-bypass-hook-trust", "--disable", "daemon_auto_start"}
	}
}

// codexHeadless is "codex exec": all that "codex" takes is the same inside it.
func codexHeadless(model string) func(*machine, string, talkOptions) ([]string, string) {
	return func(m *machine, modelURL string, o talkOptions) ([]string, string) {
		argv := slices.Concat([]string{"codex", "exec", "--skip-git-repo-check"}, codexFlags(model)(m, modelURL))
		if o.free {
			argv = append(argv, "--dangerously-bypass-approvals-and-sandbox")
		}
		return slices.Concat(argv, o.argv[1:], o.words()), ""
	}
}

func codexDelete(t *testing.T, m *machine, native string) {
	m.run(t, nil, "codex", "delete", "--force", native)
}

// geminiSettings are the settings of a person who has chosen a key over an account
// and wants no other traffic: Gemini CLI has no variables for these.
const geminiSettings = `{
  // chosen by hand
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false},
  "security": {"auth": {"selectedType": "gemini-api-key"}}
}
`

// gemini is Gemini CLI. When it starts it deletes every session of the folder in
// which nothing was said yet, which may be one that is just starting.
var gemini = &agent{
	name:    "gemini",
	program: "gemini",
	harness: "gemini-cli",
	single:  new(sync.Mutex),
	alone:   func(string) []string { return []string{"GEMINI_API_KEY=none", "GEMINI_CLI_TRUST_WORKSPACE=true"} },
	env:     func(modelURL string) []string { return []string{"GOOGLE_GEMINI_BASE_URL=" + modelURL} },
	headless: func(_ *machine, _ string, o talkOptions) ([]string, string) {
		argv := slices.Clone(o.argv)
		for i, arg := range argv {
			if prompt, ok := strings.CutPrefix(arg, "--prompt-interactive="); ok {
				argv[i] = "--prompt=" + prompt
			}
		}
		if o.prompt != "" {
			argv = append(argv, "-p", o.prompt)
		}
		return append(argv, "--yolo"), "" // MCP tools, too, run only if nobody has to be asked
	},
	shell: func(command string) Call {
		return Call{Tool: "run_shell_command", Args: map[string]any{"command": command, "description": "Look around"}}
	},
	write: func(m *machine, path, content string) Call {
		return Call{Tool: "write_file", Args: map[string]any{"file_path": m.repo + "/" + path, "content": content}}
	},
	mcp:       offered,
	list:      []string{"gemini", "mcp", "list"},
	connected: `✓ sessdex: .* - Connected`,
	forget: func(t *testing.T, m *machine, native string) { // as its cleanup does; one that went on is two files
		m.removeFiles(t, ".gemini/tmp/*/chats/session-*-"+native[:8]+".jsonl")
	},
}

// openCodeModels is an empty list of models below the home.
const openCodeModels = "models.json"

// opencode is OpenCode with a provider of its kind "OpenAI-compatible".
var opencode = &agent{
	name:    "opencode",
	program: "opencode",
	harness: "opencode",
	// Besides lists of models and new versions of itself, it would load a package for
	// plugins whenever it starts. The list of models that it has with it costs half of
	// its time.
	alone: func(home string) []string {
		return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "npm_config_offline=true",
			"OPENCODE_MODELS_PATH=" + home + "/" + openCodeModels}
	},
	env: func(modelURL string) []string {
		config := object{
			"model": "scripted/unheard-of",
			"provider": object{"scripted": object{
				"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
				"options": object{"baseURL": modelURL + "/v1", "apiKey": "none"},
				"models": object{"unheard-of": object{"name": "Unheard of", "tool_call": true, "reasoning": true,
					"limit": object{"context": 200000, "output": 8000}}},
			}},
		}
		return []string{"OPENCODE_CONFIG_CONTENT=" + string(encode(config))}
	},
	// An argument with spaces in it gets quotation marks that its session keeps, so
	// what is not a person's own prompt comes by stdin, and arrives as it is.
	headless: func(_ *machine, _ string, o talkOptions) ([]string, string) {
		argv, stdin := []string{"opencode", "run"}, ""
		for i := 1; i < len(o.argv); i++ {
			if o.argv[i] == "--prompt" && i+1 < len(o.argv) {
				i++
				stdin = o.argv[i]
				continue
			}
			argv = append(argv, o.argv[i])
		}
		return slices.Concat(argv, o.words()), stdin
	},
	shell: func(command string) Call {
		return Call{Tool: "bash", Args: map[string]any{"command": command, "description": "Look around"}}
	},
	write: func(m *machine, path, content string) Call {
		return Call{Tool: "write", Args: map[string]any{"filePath": m.repo + "/" + path, "content": content}}
	},
	mcp:       offered,
	list:      []string{"opencode", "mcp", "list"},
	connected: `✓ sessdex \S*connected`,
	forget: func(t *testing.T, m *machine, native string) {
		m.run(t, nil, "opencode", "session", "delete", native)
	},
}
