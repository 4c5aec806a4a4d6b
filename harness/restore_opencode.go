package harness

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// openCodeRestore writes a session as `opencode export` does, for `opencode import`,
// which puts it into the database under its own id. Import replaces what the
// database has, so it is only asked for where no database of the data folder has
// the session; the trees of older versions are not looked at by today's OpenCode.
func openCodeRestore(env Env, s Stored) (Layout, error) {
	roots := openCodeRoots(env)
	if !filepath.IsAbs(roots[0]) {
		return Layout{}, noHome(openCodeName)
	}
	if db := openCodeHome(roots[0]).database(s.Meta.NativeID); db != "" {
		return Layout{Present: db}, nil
	}
	for _, db := range roots[1:] {
		if rows, err := openCodeRows(db); err == nil &&
			slices.ContainsFunc(rows, func(r openCodeRow) bool { return r.id == s.Meta.NativeID }) {
			return Layout{Present: db}, nil
		}
	}
	write := verbatim(s) // an export already
	head, err := firstLine(s)
	if err != nil {
		return Layout{}, err
	}
	if first := gjson.ParseBytes(head).Get("info"); openCodeRole(first) != "" {
		if first.Get("sessionID").Str == "" {
			return Layout{}, fmt.Errorf("%w: OpenCode takes in no messages of the first half of 2025", ErrUnresumable)
		}
		info, err := openCodeInfo(s)
		if err != nil {
			return Layout{}, err
		}
		write = func(w io.Writer) error { return openCodeExport(w, s, info) }
	}
	return Layout{
		Files: []File{{s.Meta.NativeID + ".json", write}},
		Run: func(file string) Command {
			return Command{Argv: []string{"opencode", "import", file}, Dir: s.Dir}
		},
	}, nil
}

// openCodeInfo is the line about the session of a canonical document, as an export
// has it.
func openCodeInfo(s Stored) (string, error) {
	info := ""
	err := openCodeEach(s, func(line gjson.Result) error {
		if r := line.Get("info"); r.IsObject() && openCodeRole(r) == "" {
			info = openCodeOwn(r)
		}
		return nil
	})
	if err == nil && info == "" {
		err = fmt.Errorf("%w: it was kept without the record of the session", ErrUnresumable)
	}
	return info, err
}

// openCodeOwn is a session's record without the members that are not OpenCode's.
func openCodeOwn(r gjson.Result) string {
	var members []string
	r.ForEach(func(k, v gjson.Result) bool {
		if k.Str != "worktree" && k.Str != "fork" {
			members = append(members, k.Raw+":"+v.Raw)
		}
		return true
	})
	return "{" + strings.Join(members, ",") + "}"
}

// openCodeExport writes an export. A message's parts may stand on several lines.
func openCodeExport(w io.Writer, s Stored, info string) error {
	put := func(texts ...string) error {
		_, err := io.WriteString(w, strings.Join(texts, ""))
		return err
	}
	if err := put(`{"info":`, info, `,"messages":[`); err != nil {
		return err
	}
	last, end, comma := "", "", "" // the open message, what closes it, what goes before its next part
	err := openCodeEach(s, func(line gjson.Result) error {
		head := line.Get("info")
		if openCodeRole(head) == "" {
			return nil
		}
		if id := head.Get("id").Str; id != last || end == "" {
			if end != "" {
				end += ","
			}
			if err := put(end, `{"info":`, head.Raw, `,"parts":[`); err != nil {
				return err
			}
			last, end, comma = id, "]}", ""
		}
		parts := strings.TrimSpace(line.Get("parts").Raw)
		parts = strings.TrimSuffix(strings.TrimPrefix(parts, "["), "]")
		if parts == "" {
			return nil
		}
		err := put(comma, parts)
		comma = ","
		return err
	})
	if err != nil {
		return err
	}
	return put(end, "]}\n")
}

// openCodeEach ranges over the lines of a canonical document.
func openCodeEach(s Stored, take func(gjson.Result) error) error {
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	for line, err := range Lines(r) {
		if errors.Is(err, ErrLongLine) {
			continue
		}
		if err == nil && gjson.ValidBytes(line) {
			err = take(gjson.ParseBytes(line))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
