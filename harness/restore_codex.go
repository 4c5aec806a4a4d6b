package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// codexRestore lays a rollout out as sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl,
// which is all that Codex needs: 0.171 goes on with the rollouts of any version
// since September 2025 that lie there, and lists them in its databases by itself.
// Those before it calls empty. An archived rollout it wants to have unarchived.
func codexRestore(env Env, s Stored) (Layout, error) {
	roots := codexRoots(env)
	if env.Home == "" && !filepath.IsAbs(roots[0]) {
		return Layout{}, noHome(codexName)
	}
	sessions, archive := roots[0], roots[1]
	tail := "-" + s.Meta.NativeID + ".jsonl"
	for _, year := range folders(sessions) {
		for _, month := range folders(year) {
			for _, day := range folders(month) {
				if at := codexIn(day, tail); at != "" {
					return Layout{Present: at}, nil
				}
			}
		}
	}
	if at := codexIn(archive, tail); at != "" {
		return Layout{Present: at, Run: func(string) Command {
			return Command{Argv: []string{"codex", "unarchive", s.Meta.NativeID}}
		}}, nil
	}
	head, err := firstLine(s)
	if err != nil {
		return Layout{}, err
	}
	payload := gjson.GetBytes(head, "payload")
	if !payload.IsObject() {
		return Layout{}, fmt.Errorf("%w: Codex reads no rollout from before September 2025 any more", ErrUnresumable)
	}
	l := Layout{Files: []File{{filepath.Join(sessions, codexPlace(s)), verbatim(s)}}}
	if base := payload.Get("history_base.thread_id").String(); base != "" {
		l.Needs = []string{base}
	}
	return l, nil
}

// codexIn finds a rollout by the end of its name, compressed or not.
func codexIn(dir, tail string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".zst"); strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, tail) {
			if at := standing(filepath.Join(dir, e.Name())); at != "" {
				return at
			}
		}
	}
	return ""
}

var codexName8601 = regexp.MustCompile(`^rollout-(\d{4})-(\d\d)-(\d\d)T\d\d-\d\d-\d\d-`)

// codexPlace is the rollout's place below sessions: where it was, else one made
// from its start in local time, as Codex does it.
func codexPlace(s Stored) string {
	name := strings.TrimSuffix(baseName(s.Path), ".zst")
	at := codexName8601.FindStringSubmatch(name)
	if at == nil || !strings.HasSuffix(name, "-"+s.Meta.NativeID+".jsonl") || !plainName(name) {
		start := s.Meta.Start
		if start.IsZero() {
			start = uuidTime(s.Meta.NativeID)
		}
		if start.IsZero() {
			start = time.Now()
		}
		name = start.Local().Format("rollout-2006-01-02T15-04-05-") + s.Meta.NativeID + ".jsonl"
		at = codexName8601.FindStringSubmatch(name)
	}
	return filepath.Join(at[1], at[2], at[3], name)
}
