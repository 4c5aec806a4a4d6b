package indexer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"sessdex/session"
)

// ErrTag means that a word cannot be a tag.
var ErrTag = errors.New("a tag is 1 to 64 letters, digits and . _ - : / without spaces")

const maxTag = 64 // runes

// CleanTag is the tag a person means: lower case, without a leading "#".
func CleanTag(s string) (string, error) {
	t := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(s), "#"))
	n := 0
	for _, r := range t {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		if n++; n > maxTag || !word && (n == 1 || !strings.ContainsRune("._:/-", r)) {
			return "", fmt.Errorf("tag %q: %w", s, ErrTag)
		}
	}
	if n == 0 {
		return "", fmt.Errorf("tag %q: %w", s, ErrTag)
	}
	return t, nil
}

// Tag adds and removes people's tags on a session and shows them to search. A tag
// that the session has by itself goes too, and stays away until it is added.
func (x *Indexer) Tag(ctx context.Context, id string, add, remove []string) (*session.Card, error) {
	pass := x.Scrubber.NewPass()
	clean := func(words []string) ([]string, error) {
		var out []string
		for _, w := range words {
			t, err := CleanTag(pass.Text(w))
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
		return out, nil
	}
	add, err := clean(add)
	if err != nil {
		return nil, err
	}
	if remove, err = clean(remove); err != nil {
		return nil, err
	}
	card, _, err := x.Library.EditCard(ctx, id, func(c *session.Card) error {
		tags := session.Unique(c.PeopleTags, add)
		tags = slices.DeleteFunc(tags, func(t string) bool { return slices.Contains(remove, t) })
		slices.Sort(tags)
		c.PeopleTags = tags
		for _, t := range slices.Concat(c.Tags, c.AutoTags) { // the next import makes these again
			if t = strings.ToLower(t); slices.Contains(remove, t) {
				c.DroppedTags = append(c.DroppedTags, t)
			}
		}
		c.DroppedTags = slices.DeleteFunc(session.Unique(c.DroppedTags), func(t string) bool { return slices.Contains(add, t) })
		slices.Sort(c.DroppedTags)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return card, x.Refresh(ctx, id)
}

// tagger makes tags from what a session shows: the languages of the files it
// edited, the programs its shell commands ran, and "pr" where it made or was
// linked to a pull request.
type tagger struct {
	langs, tools map[string]bool
	pr           bool
}

// languages by file extension; only what people would filter by.
var languages = map[string]string{
	".go": "go", ".py": "python", ".ts": "typescript", ".tsx": "typescript", ".mts": "typescript",
	".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
	".rs": "rust", ".java": "java", ".kt": "kotlin", ".swift": "swift", ".rb": "ruby", ".php": "php",
	".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".scala": "scala",
	".ex": "elixir", ".exs": "elixir", ".clj": "clojure", ".hs": "haskell", ".lua": "lua", ".zig": "zig",
	".dart": "dart", ".r": "r", ".jl": "julia", ".pl": "perl", ".sh": "shell", ".bash": "shell", ".zsh": "shell",
	".ps1": "powershell", ".sql": "sql", ".html": "html", ".css": "css", ".scss": "css", ".vue": "vue",
	".svelte": "svelte", ".tf": "terraform", ".md": "markdown", ".mdx": "markdown", ".proto": "protobuf",
	".ipynb": "jupyter", ".sol": "solidity", ".nix": "nix",
}

// programs worth a tag when a shell command starts with one.
var programs = map[string]string{
	"docker": "docker", "docker-compose": "docker", "podman": "podman", "kubectl": "kubernetes", "helm": "helm",
	"psql": "psql", "pg_dump": "psql", "mysql": "mysql", "sqlite3": "sqlite", "redis-cli": "redis", "mongosh": "mongodb",
	"terraform": "terraform", "tofu": "terraform", "ansible-playbook": "ansible", "aws": "aws", "gcloud": "gcloud", "az": "azure",
	"gh": "github", "glab": "gitlab", "npm": "npm", "pnpm": "pnpm", "yarn": "yarn", "bun": "bun", "deno": "deno",
	"cargo": "cargo", "pytest": "pytest", "pip": "pip", "uv": "uv", "poetry": "poetry", "make": "make", "cmake": "cmake",
	"bazel": "bazel", "gradle": "gradle", "mvn": "maven", "jest": "jest", "vitest": "vitest", "playwright": "playwright",
	"golangci-lint": "golangci-lint", "eslint": "eslint", "tmux": "tmux", "ffmpeg": "ffmpeg", "curl": "curl", "ssh": "ssh",
	"supabase": "supabase", "vercel": "vercel", "flyctl": "fly", "fly": "fly", "wrangler": "cloudflare", "systemctl": "systemd",
}

// shellTools are the names that harnesses give to the tool that runs commands.
var shellTools = map[string]bool{
	"bash": true, "shell": true, "shell_command": true, "exec_command": true, "local_shell": true, "local_shell_call": true,
	"run_shell_command": true, "run_terminal_cmd": true, "run_terminal_command": true, "bash-input": true,
	"container.exec": true, "commandexecution": true,
}

// IsShell reports whether a tool of that name runs shell commands.
func IsShell(tool string) bool { return shellTools[strings.ToLower(tool)] }

// commandStart finds the programs that a script starts. It is compiled on first
// use: most runs of the program never need it.
var commandStart = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\n;|&(]|&&|\|\|)\s*(?:sudo\s+|[A-Z_][A-Z0-9_]*=\S*\s+|npx\s+|uv run\s+|poetry run\s+|pnpm exec\s+)*([a-zA-Z0-9_.-]+)`)
})

func (g *tagger) turn(t *session.Turn) {
	if g.langs == nil {
		g.langs, g.tools = map[string]bool{}, map[string]bool{}
	}
	for _, f := range t.Edits {
		if strings.EqualFold(path.Base(strings.ReplaceAll(f, `\`, "/")), "dockerfile") {
			g.tools["docker"] = true
		}
		if l := languages[strings.ToLower(path.Ext(f))]; l != "" {
			g.langs[l] = true
		}
	}
	if t.Role != session.Tool || !IsShell(t.Tool) {
		return
	}
	script := session.Command(t.Input)
	if len(script) > 4096 { // a here-document: what runs stands at its beginning
		script = script[:4096]
	}
	for _, m := range commandStart().FindAllStringSubmatch(script, -1) {
		if p := programs[m[1]]; p != "" {
			g.tools[p] = true
		}
	}
	g.pr = g.pr || !t.Failed && strings.Contains(script, "gh pr create")
}

func (g *tagger) of(c *session.Card) []string {
	var out []string
	for l := range g.langs {
		out = append(out, l)
	}
	for t := range g.tools {
		out = append(out, t)
	}
	if g.pr || len(c.PRs) > 0 {
		out = append(out, "pr")
	}
	slices.Sort(out)
	return slices.Compact(out)
}
