package indexer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sessdex/indexer"
	"sessdex/session"
)

// git runs git in a folder, with no configuration but this test's.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@box.invalid", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// A folder belongs to the repository of its main work tree, whatever its own name.
func TestGitRepo(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	for _, dir := range []string{"shop/cmd", "plain"} {
		if err := os.MkdirAll(at(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	git(t, at("shop"), "init", "-q", "-b", "main")
	git(t, at("shop"), "commit", "-q", "--allow-empty", "-m", "begin")
	git(t, at("shop"), "worktree", "add", "-q", at("elsewhere", "fix"))
	git(t, top, "clone", "-q", "--bare", at("shop"), at("store.git"))
	git(t, at("store.git"), "remote", "remove", "origin")
	git(t, at("store.git"), "worktree", "add", "-q", at("elsewhere", "of-bare"), "main")
	git(t, top, "clone", "-q", at("shop"), at("copy"))
	git(t, at("copy"), "remote", "set-url", "origin", "https://ann:pw@git.example/ann/shop.git")
	git(t, at("copy"), "worktree", "add", "-q", at("elsewhere", "of-copy"))
	check := func(dir, want string) {
		t.Helper()
		if got := indexer.GitRepo(dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	check(at("shop"), "shop")
	check(at("shop", "cmd"), "shop")
	check(at("elsewhere", "fix"), "shop")
	check(at("elsewhere", "of-bare"), "store")
	check(at("copy"), "git.example/ann/shop")
	check(at("elsewhere", "of-copy"), "git.example/ann/shop")
	check(at("plain"), "")
	check("not/absolute", "")

	// What stands where git keeps a path may be anything.
	if os.Symlink("/dev/zero", at("plain", ".git")) == nil {
		check(at("plain"), "plain") // and not read
	}

	// What a card says survives the folder.
	m := newMachine(t)
	said := func(words ...string) *session.Card {
		path := m.write(t, claudeFile, claudeIn(at("elsewhere", "fix"), claudeID, words...))
		m.imp(t, indexer.ImportOptions{Paths: []string{path}})
		return m.card(t, claudeID)
	}
	if c := said("one"); c.Repo != "shop" {
		t.Errorf("card of a work tree names %q", c.Repo)
	}
	git(t, at("shop"), "worktree", "remove", "--force", at("elsewhere", "fix"))
	if c := said("one", "two"); c.Repo != "shop" || c.Turns.User != 2 {
		t.Errorf("after the work tree is gone the card names %q", c.Repo)
	}
}
