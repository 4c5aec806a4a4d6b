// Command benchmark measures the built sessdex on a folder of transcripts: what an
// import costs beside gzip -1 on the same files, how fast searches and context
// packs answer, how soon MCP speaks, and how large the index is. It prints a
// Markdown table. Figures of one run on one machine: compare ratios.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	queries := flag.String("queries", "", "TSV with a header and the query in the column \"query\"; default: the sessions' own titles")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: scripts/bench [--queries FILE.tsv] DIR [DIR…]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := bench(flag.Args(), *queries); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// row is one line of the table.
type row struct{ name, value, note string }

func bench(dirs []string, queryFile string) error {
	tmp, err := os.MkdirTemp("", "sessdex-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	p := &program{bin: filepath.Join(tmp, "sessdex"), home: filepath.Join(tmp, "home")}
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", p.bin, "./cmd/sessdex").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	var rows []row
	add := func(name, note, format string, args ...any) {
		rows = append(rows, row{name, fmt.Sprintf(format, args...), note})
	}

	raw, files, err := total(dirs)
	if err != nil {
		return err
	}
	zip, err := gzip(files)
	if err != nil {
		return err
	}
	mb := float64(raw) / 1e6
	add("transcripts", "", "%d files, %.1f MB", len(files), mb)
	add("gzip -1", "the yardstick", "%.2f s user CPU", zip.Seconds())

	imp, out, err := p.run(append([]string{"import", "--json"}, dirs...)...)
	if err != nil {
		return err
	}
	var rep report
	if err := json.Unmarshal(out, &rep); err != nil {
		return fmt.Errorf("read the import's report: %w", err)
	}
	add("import", fmt.Sprintf("%d sessions, %d turns", rep.sessions(), rep.turns()), "%.2f s wall, %.1f MB/s", imp.wall.Seconds(), mb/imp.wall.Seconds())
	add("import, user CPU", "bar: 8 × gzip -1", "%.2f s = %.1f × gzip -1", imp.user.Seconds(), imp.user.Seconds()/zip.Seconds())
	add("import, peak memory", "bar: 300 MB", "%.0f MB", float64(imp.rss)/1e6)
	again, out, err := p.run(append([]string{"import", "--json"}, dirs...)...)
	if err != nil {
		return err
	}
	rep = report{}
	if err := json.Unmarshal(out, &rep); err != nil {
		return err
	}
	add("import again", fmt.Sprintf("%d files read", rep.Parsed), "%.0f ms wall", ms(again.wall))

	if err := p.nothingNew(add); err != nil {
		return err
	}

	index, err := size(filepath.Join(p.home, ".local/share/sessdex/index"))
	if err != nil {
		return err
	}
	store, err := size(filepath.Join(p.home, ".local/share/sessdex/store"))
	if err != nil {
		return err
	}
	add("index", "text of turns included", "%.1f MB = %.1f %% of raw", float64(index)/1e6, 100*float64(index)/float64(raw))
	add("library", "", "%.1f MB = %.1f %% of raw", float64(store)/1e6, 100*float64(store)/float64(raw))

	re, _, err := p.run("reindex", "--json")
	if err != nil {
		return err
	}
	add("reindex", "", "%.2f s wall, %.1f s user CPU", re.wall.Seconds(), re.user.Seconds())

	srv, err := p.serve()
	if err != nil {
		return err
	}
	defer srv.stop()
	sessions, err := srv.sessions()
	if err != nil {
		return err
	}
	asked, err := questions(queryFile, sessions)
	if err != nil {
		return err
	}
	if err := srv.measure(add, sessions, asked); err != nil {
		return err
	}
	srv.stop()

	var cold []time.Duration
	for i := range min(20, len(asked)) {
		u, _, err := p.run("search", "--json", "--", asked[i])
		if err != nil && u.code != 1 { // 1: nothing found
			return err
		}
		cold = append(cold, u.wall)
	}
	add("search, command line", "process included", "p50 %.0f ms", ms(at(cold, .5)))
	first, call, err := p.mcp(20, asked[0])
	if err != nil {
		return err
	}
	add("MCP on stdio: first answer", "from process start; bar: 300 ms", "p50 %.0f ms, max %.0f ms", ms(at(first, .5)), ms(at(first, 1)))
	add("MCP on stdio: first search", "from process start", "p50 %.0f ms", ms(at(call, .5)))

	fmt.Printf("%s, %d CPUs, %s, %s\n\n| measure | figure | |\n|---|---|---|\n", runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU(), cpu(), runtime.Version())
	for _, r := range rows {
		fmt.Printf("| %s | %s | %s |\n", r.name, r.value, r.note)
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// at is the q-quantile of some durations.
func at(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

func total(dirs []string) (int64, []string, error) {
	var n int64
	var files []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				n += info.Size()
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			return 0, nil, err
		}
	}
	return n, files, nil
}

func size(dir string) (int64, error) {
	n, _, err := total([]string{dir})
	return n, err
}

// gzip is the user CPU time of gzip -1 over the files.
func gzip(files []string) (time.Duration, error) {
	cmd := exec.Command("gzip", append([]string{"-1", "-c", "--"}, files...)...)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	cmd.Stdout = null
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("gzip: %w", err)
	}
	return cmd.ProcessState.UserTime(), nil
}

func cpu() string {
	raw, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown CPU"
	}
	for line := range strings.Lines(string(raw)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimLeft(strings.TrimSpace(name), ": ")
		}
	}
	return "unknown CPU"
}

// questions are the queries of a TSV, or the titles of sessions.
func questions(file string, sessions []hit) ([]string, error) {
	var out []string
	if file == "" {
		for _, s := range sessions {
			out = append(out, s.Title)
		}
		return out, nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	col := -1
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if col < 0 {
			if col = slices.Index(cells, "query"); col < 0 {
				return nil, fmt.Errorf("%s has no column \"query\"", file)
			}
			continue
		}
		if col < len(cells) {
			out = append(out, cells[col])
		}
	}
	return out, nil
}
