package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// manyFiles is how many files an import looks at in vain, and lookRuns how often.
const (
	manyFiles = 1000
	lookRuns  = 30
)

// nothingNew measures a whole process that imports made-up sessions none of which
// changed, beside one that only starts.
func (p *program) nothingNew(add func(name, note, format string, args ...any)) error {
	many := &program{bin: p.bin, home: p.home + "-many"}
	for i := range manyFiles {
		dir := filepath.Join(many.home, ".claude", "projects", fmt.Sprintf("-work-p%d", i%20))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		id := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
		line, err := json.Marshal(map[string]any{
			"type": "user", "uuid": id, "parentUuid": nil, "isSidechain": false, "sessionId": id, "cwd": "/work/shop", "version": "2.1.0",
			"timestamp": "2026-03-01T10:00:00.000Z", "message": map[string]any{"role": "user", "content": fmt.Sprintf("Open shop %d.", i)},
		})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, id+".jsonl"), append(line, '\n'), 0o600)
		}
		if err != nil {
			return err
		}
	}
	if _, _, err := many.run("import", "--json"); err != nil {
		return err
	}
	var look, start []time.Duration
	for range lookRuns {
		u, out, err := many.run("import", "--json")
		if err != nil {
			return err
		}
		var rep report
		if err := json.Unmarshal(out, &rep); err != nil {
			return err
		}
		if rep.Parsed != 0 || rep.sessions() != manyFiles {
			return fmt.Errorf("an import of nothing new read %d files and saw %d sessions", rep.Parsed, rep.sessions())
		}
		look = append(look, u.wall)
		if u, _, err = many.run("version"); err != nil {
			return err
		}
		start = append(start, u.wall)
	}
	add(fmt.Sprintf("import again, %d files", manyFiles), "process included; bar: 60 ms", "p50 %.0f ms, min %.0f ms", ms(at(look, .5)), ms(at(look, 0)))
	add("start of the program", "`sessdex version`", "p50 %.0f ms, min %.0f ms", ms(at(start, .5)), ms(at(start, 0)))
	return nil
}
