package indexer

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"sessdex/harness"
)

// gitRemote is the repository that a folder on this machine belongs to, as
// "host/owner/name" from the remote called origin, or "" where the folder, its
// repository or the remote is not there. It reads files and runs nothing.
func gitRemote(dir string) string {
	if dir == "" || !filepath.IsAbs(dir) {
		return ""
	}
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if config := gitConfig(filepath.Join(d, ".git")); config != "" {
			return originOf(config)
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// GitRepo is the repository of a folder as cards name it: by its remote, else by
// the base name of its main work tree; "" outside of one.
func GitRepo(dir string) string {
	if repo := gitRemote(dir); repo != "" {
		return repo
	}
	root := GitRoot(dir)
	if root == "" {
		return ""
	}
	// The common folder of all work trees is <main>/.git, or a bare <name>.git.
	switch common := filepath.Dir(gitConfig(filepath.Join(root, ".git"))); filepath.Base(common) {
	case ".":
		return filepath.Base(root)
	case ".git":
		return filepath.Base(filepath.Dir(common))
	default:
		return strings.TrimSuffix(filepath.Base(common), ".git")
	}
}

// GitRoot is the work tree that a folder lies in, "" outside of one.
func GitRoot(dir string) string {
	for d := filepath.Clean(dir); filepath.IsAbs(d); d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	return ""
}

// gitConfig is the path of the configuration behind a .git entry: a folder, or a
// file that points to a linked work tree's folder.
func gitConfig(dotGit string) string {
	info, err := os.Stat(dotGit)
	if err != nil {
		return ""
	}
	dir := dotGit
	if !info.IsDir() {
		raw := pointer(dotGit)
		if raw == "" {
			return ""
		}
		dir = strings.TrimSpace(strings.TrimPrefix(raw, "gitdir:"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(dotGit), dir)
		}
		if at := pointer(filepath.Join(dir, "commondir")); filepath.IsAbs(at) {
			dir = at
		} else {
			dir = filepath.Join(dir, at)
		}
	}
	return filepath.Join(dir, "config")
}

// maxPointer is more than the longest path of any system, in bytes.
const maxPointer = 64 << 10

// pointer is what a file says that holds a path, trimmed; "" where there is none. What
// stands in a folder that a transcript names may be anything.
func pointer(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPointer {
		return ""
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

func originOf(config string) string {
	if info, err := os.Stat(config); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(config)
	if err != nil {
		return ""
	}
	defer f.Close()
	in := false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if strings.HasPrefix(line, "[") {
			in = line == `[remote "origin"]`
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && in && strings.TrimSpace(key) == "url" {
			return harness.RepoName(value)
		}
	}
	return ""
}
