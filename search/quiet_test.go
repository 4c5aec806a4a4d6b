package search

import (
	"bytes"
	"errors"
	"log"
	"os"
	"path/filepath"
	"testing"
)

// Bleve's own lines about a damaged index are not shown, everybody else's are.
func TestStoreLogsNothing(t *testing.T) {
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	var out bytes.Buffer
	log.SetOutput(&out)

	x := newIndex(t, talk("a", nil, "u: words"))
	x.Close()
	gen, err := x.current()
	if err != nil {
		t.Fatal(err)
	}
	// A file that is no segment's and cannot be removed.
	if err := os.MkdirAll(filepath.Join(gen, "turns/store/0000000000aa.zap/full"), 0o700); err != nil {
		t.Fatal(err)
	}
	putAll(t, x, talk("b", nil, "u: words"))
	putAll(t, x, talk("c", nil, "u: words"))
	log.SetOutput(&out) // as a program does that sets up its logging late
	if err := eachSegment(t, gen, func(p string) error {
		if info, err := os.Stat(p); err != nil || info.IsDir() {
			return err
		}
		return os.Truncate(p, 100)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(t.Context(), Query{Text: "words"}); !errors.Is(err, ErrDamaged) {
		t.Errorf("search: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("logged: %s", &out)
	}
	log.Print("from the program")
	if !bytes.Contains(out.Bytes(), []byte("from the program")) {
		t.Error("the program's own line is lost")
	}
}
