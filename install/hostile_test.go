package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A text that would take the parser's whole stack is refused like any other that
// cannot be parsed, wherever its brackets hide.
func TestDeepNesting(t *testing.T) {
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"arrays":                {`{"a":` + many("[", maxDepth) + many("]", maxDepth) + "}", ErrUnreadable},
		"objects never closed":  {many(`{"a":`, maxDepth+1), ErrUnreadable},
		"behind a comment":      {"// \"\n" + many("[", maxDepth+1), ErrUnreadable},
		"behind a long comment": {`/* " */` + many("[", maxDepth+1), ErrUnreadable},
		"behind a string":       {`{"\"":` + many("[", maxDepth+1), ErrUnreadable},
		"in a string":           {`{"a":"` + many("[", maxDepth+1) + `"}`, nil},
		"in a comment":          {"{// " + many("[", maxDepth+1) + "\n}", nil},
		"side by side":          {`{"a":[` + many("[],", maxDepth) + "1]}", nil},
		"deep enough":           {`{"a":` + many("[", maxDepth-1) + many("]", maxDepth-1) + "}", nil},
	} {
		for _, kind := range []string{"server", "hook"} {
			if _, _, err := partsOf()[kind].edit([]byte(c.text), made); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", name, kind, err, c.want)
			}
		}
	}
}

// A file that is no settings is not taken into memory.
func TestFilesTooLarge(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude.json")
	if err := errors.Join(os.WriteFile(path, []byte("{}"), 0o600), os.Truncate(path, maxFile+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := claudeCode.Plan(Env{Home: home}, made); !errors.Is(err, ErrShape) {
		t.Errorf("plan: %v", err)
	}
	if _, _, err := partsOf()["table"].edit([]byte("#"+strings.Repeat("x", maxTOML)), made); !errors.Is(err, ErrShape) {
		t.Errorf("table: %v", err)
	}
}
