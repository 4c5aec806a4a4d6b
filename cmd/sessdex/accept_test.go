package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestAccept holds the program to what it is for, as its user sees it: files in,
// --json out, with nothing of its inside known.
func TestAccept(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program hundreds of times")
	}
	program, err := exec.LookPath("sessdex")
	if raceDetector {
		program, err = plainProgram(t), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		test func(t *testing.T, program string)
	}{
		{"EverySessionOnce", acceptEverySessionOnce},
		{"PathsAndExports", acceptPathsAndExports},
		{"CopiesAndRemovedRoots", acceptCopiesAndRemovedRoots},
		{"AppendCostsOneSession", acceptAppendCostsOneSession},
		{"Reasons", acceptReasons},
		{"RootsAreFound", acceptRootsAreFound},
		{"Up", acceptUp},
		{"HandOver", acceptHandOver},
		{"Restore", acceptRestore},
		{"Install", acceptInstall},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, program)
		})
	}
}

// acceptDesk is the program on a data folder of its own and the given home.
func acceptDesk(t *testing.T, program, home string, env ...string) desk {
	return newDesk(t, program, append([]string{"HOME=" + home, "USERPROFILE=" + home}, env...)...)
}

// outcomes are the keys of a source that say what became of its files.
var outcomes = []string{"new", "changed", "unchanged", "skipped", "failed"}

// importAll imports, checks that every file has one outcome and every outcome
// that needs it a reason, and gives the report. Its exit code is 1 where a file
// failed and else 0.
func (d desk) importAll(args ...string) gjson.Result {
	d.t.Helper()
	r := d.run([]int{0, 1}, append([]string{"import"}, args...)...)
	failed := int64(0)
	for _, s := range r.Get("sources").Array() {
		sum := int64(0)
		for _, k := range outcomes {
			if !s.Get(k).Exists() {
				d.t.Errorf("%s has no %q", s.Raw, k)
			}
			sum += s.Get(k).Int()
		}
		if sum != s.Get("files").Int() {
			d.t.Errorf("%d outcomes for %d files: %s", sum, s.Get("files").Int(), s.Raw)
		}
		for count, reasons := range map[string]string{"skipped": "skip_reasons", "failed": "fail_reasons"} {
			sum := int64(0)
			for _, n := range s.Get(reasons).Map() {
				sum += n.Int()
			}
			if sum != s.Get(count).Int() {
				d.t.Errorf("%d reasons for %d %s files: %s", sum, s.Get(count).Int(), count, s.Raw)
			}
		}
		failed += s.Get("failed").Int()
	}
	if n := int64(len(r.Get("failures").Array())); n != failed {
		d.t.Errorf("%d failures named, %d counted", n, failed)
	}
	for _, list := range []string{"failures", "skips"} {
		seen := map[string]bool{}
		for _, f := range r.Get(list).Array() {
			if path := f.Get("path").String(); path == "" || seen[path] || f.Get("reason").String() == "" {
				d.t.Errorf("in %s: %s", list, f.Raw)
			} else {
				seen[path] = true
			}
		}
	}
	again := []int{0}
	if failed > 0 {
		again = []int{1}
	}
	// The exit code is asked on its own, as run takes either.
	if r := d.run(again, append([]string{"import"}, args...)...); sum(r, "new")+sum(r, "changed") > 0 && !slices.Contains(args, "--dry-run") {
		d.t.Errorf("the import at once after is not without change: %s", r)
	}
	return r
}

// sum adds up a number of all sources.
func sum(report gjson.Result, key string) (n int64) {
	for _, v := range report.Get("sources.#." + key).Array() {
		n += v.Int()
	}
	return n
}

// sessions are those of the library: our id of each, and its harness's.
func (d desk) sessions() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	for offset := int64(0); ; {
		r := d.run([]int{0, 1}, "search", "--subagents", "--limit", "100", "--offset", fmt.Sprint(offset))
		for _, h := range r.Get("hits").Array() {
			all[h.Get("id").String()] = h.Get("native_id").String()
		}
		if offset = r.Get("next_offset").Int(); offset == 0 {
			return all
		}
	}
}

// has checks that the library has each told session once, and no other, and gives
// their harnesses' ids by ours.
func (d desk) has(all []told) map[string]string {
	d.t.Helper()
	is := d.sessions()
	var got, want []string
	for _, native := range is {
		got = append(got, native)
	}
	for _, s := range all {
		want = append(want, s.native)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		d.t.Errorf("the sessions are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return is
}

// holds checks, too, that each session is found by its word, and right.
func (d desk) holds(all []told) {
	d.t.Helper()
	natives := d.has(all)
	for _, s := range all {
		name := s.harness + " " + s.word
		hits := d.run([]int{0, 1}, "search", "--subagents", s.word).Get("hits")
		if n := len(hits.Array()); n != 1 || hits.Get("0.native_id").String() != s.native || hits.Get("0.harness").String() != s.harness {
			d.t.Errorf("%s: %d sessions, first %s of %s, want only %s", name, n, hits.Get("0.native_id"), hits.Get("0.harness"), s.native)
			continue
		}
		c := d.run([]int{0}, "show", hits.Get("0.id").String()).Get("card")
		if own := c.Get("turns.user").Int() - c.Get("inherited.user").Int(); s.said > 0 && own != int64(s.said) {
			d.t.Errorf("%s: %d requests of the person's own, want %d: %s", name, own, s.said, c)
		}
		for key, want := range map[string]string{"start": s.start, "last_active": s.last} {
			if got := c.Get(key).String(); want != "" && got != want {
				d.t.Errorf("%s: %s is %s, want %s", name, key, got, want)
			}
		}
		for key, want := range map[string]string{"parent": s.parent, "forked_from": s.forkedFrom} {
			got := c.Get(key).String() // either id
			if id, ok := natives[got]; ok {
				got = id
			}
			if got != want {
				d.t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

func acceptEverySessionOnce(t *testing.T, program string) {
	v := newVillage(t)
	d := acceptDesk(t, program, v.home)
	r := d.run([]int{0}, "import")
	if got := sum(r, "new"); got != int64(len(v.told)) {
		t.Errorf("%d new sessions, want %d", got, len(v.told))
	}
	r = d.importAll()
	if r.Get("parsed").Int() != 0 || sum(r, "new")+sum(r, "changed") != 0 {
		t.Errorf("the second import is not without work: %s", r)
	}
	d.holds(v.told)
	if dodo := d.run([]int{0, 1}, "search", "--subagents", "dodo"); dodo.Get("total").Int() != 0 {
		t.Errorf("a harness's own index was believed: %s", dodo.Get("hits"))
	}

	// The index is made from the library, and says the same.
	was := d.run([]int{0}, "search", "--subagents", "--limit", "100").Get("hits").Raw
	if err := os.RemoveAll(d.path("index")); err != nil {
		t.Fatal(err)
	}
	d.run([]int{0}, "reindex")
	if is := d.run([]int{0}, "search", "--subagents", "--limit", "100").Get("hits").Raw; is != was {
		t.Errorf("made anew the index says %s, said %s", is, was)
	}
}

// Given as a path, in any order of names, and exported: still each session once.
func acceptPathsAndExports(t *testing.T, program string) {
	v := newVillage(t)
	d := acceptDesk(t, program, t.TempDir())
	d.importAll(v.home)
	exported := openCodeTale{id: "ses_5e0500000001FFFFFFFFFFFFFF", title: "Herring", said: []string{"Pickle the herring.", "Pickled."}, from: 1}
	box := filepath.Join(v.home, "box")
	v.put(exported.export(), "box", "talk.txt")
	v.tell(told{harness: "opencode", native: exported.id, word: "herring", said: 1, start: second(1), last: second(2)})
	v.put(openCodeTale{id: "ses_5e0200000001BBBBBBBBBBBBBB", title: "Mullet", said: []string{"Salt the mullet.", "Salted."}, from: 1}.export(), "box", "again.json")
	d.importAll(box)
	d.has(v.told)
}

// What a session was copied to, or what is gone, changes nothing that is kept.
func acceptCopiesAndRemovedRoots(t *testing.T, program string) {
	v := newVillage(t)
	d := acceptDesk(t, program, v.home)
	d.importAll()
	for _, s := range v.told {
		if s.path == "" || s.harness == "opencode" {
			continue
		}
		data, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		root, rest := filepath.Dir(filepath.Dir(s.path)), "copied"
		if s.harness == "gemini-cli" {
			root, rest = filepath.Dir(root), filepath.Join("copied", "chats")
		}
		copied := filepath.Join(root, rest, filepath.Base(s.path))
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if r := d.importAll(); sum(r, "new")+sum(r, "changed") != 0 {
		t.Errorf("a copy is new: %s", r)
	}
	d.has(v.told)
	for _, root := range []string{".claude", ".config", ".codex", ".gemini", ".grok", ".local"} {
		if err := os.RemoveAll(filepath.Join(v.home, root)); err != nil {
			t.Fatal(err)
		}
		d.importAll()
	}
	d.run([]int{0}, "reindex")
	d.has(v.told)
	if got := d.run([]int{0}, "search", "badger").Get("hits.0.native_id").String(); got != v.of("badger").native {
		t.Errorf("badger finds %q when its root is gone", got)
	}
}

// stored is the transcripts and cards that the store has, without its own notes.
func (d desk) stored() map[string]string {
	d.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(d.path("store", "default"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return all
}

// One line more in one of a thousand sessions is one session's work.
func acceptAppendCostsOneSession(t *testing.T, program string) {
	home := t.TempDir()
	var last string
	for i := range 1000 {
		id := fmt.Sprintf("%08x-5e55-4000-8000-000000000000", i+1)
		last = filepath.Join(home, ".claude", "projects", fmt.Sprintf("-srv-p%d", i%7), id+".jsonl")
		if err := os.MkdirAll(filepath.Dir(last), 0o700); err != nil {
			t.Fatal(err)
		}
		c := &claudeLog{id: id, version: "2.1.300"}
		c.user(1, fmt.Sprintf("Plant tree %d.", i), nil)
		c.reply(2, obj{"type": "text", "text": "Planted."})
		if err := os.WriteFile(last, lines(c.all...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := acceptDesk(t, program, home)
	if r := d.run([]int{0}, "import"); sum(r, "new") != 1000 {
		t.Fatalf("%d of 1000 are new", sum(r, "new"))
	}
	was := d.stored()
	f, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(last), ".jsonl")
	more := &claudeLog{id: id, version: "2.1.300"}
	more.user(3, "Water the sycamore.", obj{"uuid": "abcdabcd-aaaa-4000-8000-000000000001", "parentUuid": fmt.Sprintf("%.8s-aaaa-4000-8000-%012d", id, 2)})
	if _, err := f.Write(lines(more.all...)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := d.run([]int{0}, "import")
	if r.Get("parsed").Int() != 1 || sum(r, "changed") != 1 || sum(r, "unchanged") != 999 {
		t.Errorf("one line more: parsed %s, changed %d, unchanged %d", r.Get("parsed"), sum(r, "changed"), sum(r, "unchanged"))
	}
	is, written := d.stored(), []string{}
	for path, data := range is {
		if was[path] != data {
			written = append(written, path)
		}
	}
	if len(is) != len(was) || len(written) != 2 {
		t.Errorf("%d objects, %d before; written: %v; want one transcript and one card", len(is), len(was), written)
	}
	if got := d.run([]int{0}, "search", "sycamore").Get("hits.0.native_id").String(); got != id {
		t.Errorf("the line is found in %q, want %s", got, id)
	}
}

// What cannot be read as a session is named with its reason, and exit code 1
// tells of failures only.
func acceptReasons(t *testing.T, program string) {
	v := &village{t: t, home: t.TempDir()}
	d := acceptDesk(t, program, v.home)
	good := &claudeLog{id: native("c1"), version: "2.1.300"}
	good.user(1, "Please oil the quokka gate.", nil)
	good.all = append(good.all, obj{"type": "from-the-future", "sessionId": good.id}, obj{"type": "from-the-future", "sessionId": good.id})
	const root = ".claude/projects/-srv-mill"
	v.put(lines(good.all...), root, good.id+".jsonl")
	v.put(nil, root, native("c2")+".jsonl")
	whole := squeeze(lines(together([]obj{codexMeta(1, native("a1"), nil)}, codexAsk(2, strings.Repeat("Follow the egret. ", 999)))...))
	v.put(whole[:len(whole)/2], ".codex/sessions/2026/09/03", "rollout-2026-09-03T12-00-00-"+native("a1")+".jsonl.zst")

	r := d.run([]int{1}, "import")
	claude := r.Get(`sources.#(harness=="claude-code")`)
	if claude.Get("new").Int() != 1 || claude.Get("unknown_records.from-the-future").Int() != 2 {
		t.Errorf("beside failures: %s", claude.Raw)
	}
	if f := r.Get("failures.0"); sum(r, "failed") != 1 || !strings.HasSuffix(f.Get("path").String(), ".zst") || jargon.MatchString(f.Get("reason").String()) {
		t.Errorf("failures: %s", r.Get("failures").Raw)
	}
	if s := r.Get("skips.0"); sum(r, "skipped") != 1 || !strings.HasSuffix(s.Get("path").String(), native("c2")+".jsonl") {
		t.Errorf("skips: %s", r.Get("skips").Raw)
	}

	// The doctor tells it again, in words.
	said, err := d.says("doctor", "-v")
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, want := range []string{`(?m)^The last import ended `, `claude-code`, `codex-cli`, `1 failed`, `1 skipped`, `last changed`, `a1\.jsonl\.zst`, `from-the-future`} {
		if !matches(want, said) {
			t.Errorf("the doctor does not say %s: %s", want, said)
		}
	}
	d.importAll()
	if err := os.WriteFile(filepath.Join(v.home, ".codex/sessions/2026/09/03", "rollout-2026-09-03T12-00-00-"+native("a1")+".jsonl.zst"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := d.run([]int{0}, "import"); sum(r, "new") != 1 {
		t.Errorf("the file that is whole now is not new: %s", r)
	}
}

// Every root a harness can have, through links and variables, is looked into.
func acceptRootsAreFound(t *testing.T, program string) {
	v := newVillage(t)
	other := func(name string) string { return filepath.Join(v.home, "moved", name) }
	for from, to := range map[string]string{".claude": "c", ".codex": "x", ".gemini": "g/.gemini", ".grok": "k", ".local/share/opencode": "d/opencode", ".config/claude": "c2"} {
		if err := os.Rename(filepath.Join(v.home, from), v.at("moved", to)); err != nil {
			t.Fatal(err)
		}
	}
	empty := t.TempDir()
	d := acceptDesk(t, program, empty, "CLAUDE_CONFIG_DIR="+other("c")+","+other("c2"), "CODEX_HOME="+other("x"), "GEMINI_CLI_HOME="+other("g"), "GROK_HOME="+other("k"), "XDG_DATA_HOME="+other("d"))
	d.importAll()
	d.has(v.told)

	// Links in the places where they belong.
	linked := t.TempDir()
	for name, to := range map[string]string{".claude": other("c"), ".codex/sessions": other("x/sessions"), ".gemini": other("g/.gemini"), ".grok/sessions": other("k/sessions"),
		".local/share/opencode": other("d/opencode"), ".config/claude/projects": other("c2/projects")} {
		at := filepath.Join(linked, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	d = acceptDesk(t, program, linked)
	d.importAll()
	d.has(v.told)
}
