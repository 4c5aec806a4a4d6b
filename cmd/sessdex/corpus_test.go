package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"sessdex/blobstore/miniotest"
	"sessdex/contextpack"
	"sessdex/session"
)

// A desk is a data folder of its own and the program run on it, as processes.
type desk struct {
	t       *testing.T
	program string
	env     []string
}

func newDesk(t *testing.T, program string, env ...string) desk {
	home := t.TempDir()
	return desk{t, program, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SESSDEX_DATA=" + filepath.Join(home, "data")}, env...)}
}

func (d desk) path(elem ...string) string {
	return filepath.Join(append([]string{strings.TrimPrefix(d.env[2], "SESSDEX_DATA=")}, elem...)...)
}

// run gives the JSON object that a command prints; its exit code must be in codes.
func (d desk) run(codes []int, args ...string) gjson.Result {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), 3*clientWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.program, append([]string{"--json"}, args...)...)
	cmd.Env = d.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		d.t.Fatalf("run %v: %v", args, err)
	}
	if !slices.Contains(codes, code) || !gjson.ValidBytes(out) {
		d.t.Fatalf("%v ended with exit code %d: %s%.300s", args, code, said.Bytes(), out)
	}
	return gjson.ParseBytes(out)
}

// mcp starts an agent's window on the desk.
func (d desk) mcp() *mcpClient {
	d.t.Helper()
	c, err := startMCP(d.t.Context(), d.program, d.env)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// questions are general on purpose: they name no session of any corpus.
var questions = []string{
	"", "tests fail", "why does the build break", "fix the bug in the parser", "add a button", "refactor into smaller functions",
	"docker compose", "git commit and push", "TypeError undefined", "database migration", "rename the function", "README",
	"error handling with retries", `"unit tests"`, "getUserById", "file:main.go", "file:src harness:claude-code", "harness:codex-cli sandbox",
	"role:user please", "since:2025-10-01 config", "tag:typescript component -react", "日本語",
}

// found lists the hits of every question, by the command line.
func (d desk) found() map[string][]string {
	all := map[string][]string{}
	for _, q := range questions {
		all[q] = hitIDs(d.run([]int{0, 1}, "search", "--limit", "5", "--", q).Raw)
	}
	return all
}

// TestCorpus takes the program through the whole line on the real sessions of
// SESSDEX_CORPUS: it imports them while two agents ask, accounts for every file,
// packs every session, and finds the same through every door.
func TestCorpus(t *testing.T) {
	roots := corpusRoots(t)
	program := "sessdex"
	if raceDetector {
		program = plainProgram(t)
	}
	d := newDesk(t, program)

	// One harness is there; two agents' windows ask all the time while a third
	// process imports the other.
	first := d.run([]int{0}, "import", roots[1])
	checkAccount(t, roots[1:], first)
	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		c := d.mcp()
		asking.Go(func() { askUntil(t, c, done) })
	}
	second := d.run([]int{0}, "import", roots[0])
	close(done)
	asking.Wait()
	checkAccount(t, roots[:1], second)

	again := d.run([]int{0}, append([]string{"import"}, roots...)...)
	checkAccount(t, roots, again)
	if n := again.Get("parsed").Int(); n != 0 {
		t.Errorf("the second import parses %d files", n)
	}
	for _, s := range again.Get("sources").Array() {
		if s.Get("new").Int() != 0 || s.Get("changed").Int() != 0 {
			t.Errorf("the second import changes something: %s", s.Raw)
		}
	}

	cards := readCards(t, d.path("store"))
	if n := newIn(first) + newIn(second); n == 0 || len(cards) != n {
		t.Errorf("%d cards of %d new sessions", len(cards), n)
	}
	for _, c := range cards {
		checkOpening(t, c)
	}
	c := d.mcp()
	for i, card := range cards {
		if !raceDetector || i%20 == 0 {
			checkPacks(t, c, card)
		}
	}

	// The same hits through MCP, from a new index, and from a bucket.
	want := d.found()
	for _, q := range questions {
		text, err := c.call("search_sessions", map[string]any{"query": q, "limit": 5})
		if err != nil {
			t.Fatal(err)
		}
		if got := hitIDs(text); !slices.Equal(got, want[q]) {
			t.Errorf("%q by MCP: %v, by the command line: %v", q, got, want[q])
		}
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
	some := 0
	for _, ids := range want {
		some += min(len(ids), 1)
	}
	if some < len(questions)/2 {
		t.Errorf("only %d of %d questions find anything", some, len(questions))
	}
	if err := os.RemoveAll(d.path("index")); err != nil {
		t.Fatal(err)
	}
	if n := d.run([]int{0}, "reindex").Get("sessions").Int(); n != int64(len(cards)) {
		t.Errorf("reindex takes %d of %d sessions", n, len(cards))
	}
	sameHits(t, "after a reindex", d.found(), want)

	t.Run("bucket", func(t *testing.T) {
		bucket := newDesk(t, program, append(miniotest.Start(t).Environ(), "SESSDEX_STORE=s3://sessions/corpus")...)
		report := bucket.run([]int{0}, append([]string{"import"}, roots...)...)
		checkAccount(t, roots, report)
		sameHits(t, "from a bucket", bucket.found(), want)
	})
}

// askUntil asks one question after the other, at least three and until done is
// closed, and then ends the conversation. No answer may be an error.
func askUntil(t *testing.T, c *mcpClient, done <-chan struct{}) {
	for asked := 0; ; asked++ {
		if _, err := c.call("search_sessions", map[string]any{"query": questions[asked%len(questions)], "limit": 5}); err != nil {
			t.Errorf("question %d while importing: %v", asked, err)
		}
		select {
		case <-done:
			if asked < 3 {
				continue
			}
			if err := c.close(); err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

// newIn is how many sessions an import found for the first time.
func newIn(report gjson.Result) int {
	n := int64(0)
	for _, s := range report.Get("sources.#.new").Array() {
		n += s.Int()
	}
	return int(n)
}

func sameHits(t *testing.T, when string, got, want map[string][]string) {
	t.Helper()
	for _, q := range questions {
		if !slices.Equal(got[q], want[q]) {
			t.Errorf("%q %s: %v, was %v", q, when, got[q], want[q])
		}
	}
}

// corpusRoots are the folders of the two harnesses' real sessions.
func corpusRoots(t *testing.T) []string {
	root := os.Getenv("SESSDEX_CORPUS")
	if root == "" {
		t.Skip("SESSDEX_CORPUS names no folder of real sessions")
	}
	roots := []string{filepath.Join(root, "claude-code"), filepath.Join(root, "codex-cli")}
	for _, dir := range roots {
		if _, err := os.Stat(dir); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}

// checkAccount wants every file of each folder to be a session or skipped with a
// reason, and none to fail.
func checkAccount(t *testing.T, roots []string, report gjson.Result) {
	t.Helper()
	if n := len(report.Get("failures").Array()); n != 0 {
		t.Errorf("%d failures: %s", n, report.Get("failures").Raw)
	}
	skips := map[string]bool{}
	for _, s := range report.Get("skips").Array() {
		if s.Get("reason").String() == "" {
			t.Errorf("skipped without a reason: %s", s.Raw)
		}
		skips[s.Get("path").String()] = true
	}
	skipped := int64(0)
	for _, root := range roots {
		there, accounted := int64(0), int64(0)
		err := filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				there++
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range report.Get("sources").Array() {
			if s.Get("root").String() != root {
				continue
			}
			accounted += s.Get("sessions").Int() + s.Get("skipped").Int()
			skipped += s.Get("skipped").Int()
			if s.Get("sessions").Int() != s.Get("new").Int()+s.Get("changed").Int()+s.Get("unchanged").Int() {
				t.Errorf("sessions are not new, changed or unchanged: %s", s.Raw)
			}
		}
		if accounted != there {
			t.Errorf("%s has %d files; sessions and skipped are %d: %s", root, there, accounted, report.Get("sources").Raw)
		}
	}
	if int64(len(skips)) != skipped {
		t.Errorf("%d skipped, %d named", skipped, len(skips))
	}
}

// readCards reads the bucket as the design says it is laid out.
func readCards(t *testing.T, store string) []*session.Card {
	paths, err := filepath.Glob(filepath.Join(store, "*", "cards", "*.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cards in %s: %v", store, err)
	}
	var cards []*session.Card
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		card := new(session.Card)
		if err := json.Unmarshal(data, card); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		cards = append(cards, card)
	}
	return cards
}

// checkPacks packs a session into four budgets and holds each pack to its word.
func checkPacks(t *testing.T, c *mcpClient, card *session.Card) {
	said := readTranscript(t, card)
	for _, budget := range []int{500, 2000, 8000, 100_000} {
		text, err := c.call("fetch_session_context", map[string]any{"id": card.ID, "max_tokens": budget})
		if err != nil {
			t.Errorf("pack %s (%s) into %d: %v", card.ID, card.SourcePath, budget, err)
			continue
		}
		n, err := contextpack.Count("o200k_base", text)
		if err != nil {
			t.Fatal(err)
		}
		if n > budget {
			t.Errorf("pack %s (%s) into %d: %d tokens", card.ID, card.SourcePath, budget, n)
		}
		if said.tokens > budget && n < budget*9/10 {
			t.Errorf("pack %s (%s) into %d: only %d tokens, of %d that were said", card.ID, card.SourcePath, budget, n, said.tokens)
		}
		labels := turnLabel.FindAllStringSubmatch(text, -1)
		switch {
		case len(labels) == 0:
			if said.last > 0 {
				t.Errorf("pack %s (%s) into %d shows no turn", card.ID, card.SourcePath, budget)
			}
		case labels[0][1] != said.firstLabel():
			t.Errorf("pack %s (%s) into %d begins with turn %s, the opening is turn %s", card.ID, card.SourcePath, budget, labels[0][1], said.firstLabel())
		case labels[len(labels)-1][1] != said.lastLabel():
			t.Errorf("pack %s (%s) into %d ends with turn %s, the newest is %s", card.ID, card.SourcePath, budget, labels[len(labels)-1][1], said.lastLabel())
		}
	}
}
