package indexer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// LastImport is the report of the last import into a library from this machine, and
// when it ended. Dry runs, and the many small imports of a watcher, are not kept.
type LastImport struct {
	At     time.Time `json:"at"`
	Report *Report   `json:"report"`
}

// ErrNoImport means that nothing is known of an import into this library.
var ErrNoImport = errors.New("nothing was imported from this machine yet")

// LastImport reads what the last import did. Without one it is ErrNoImport.
func (x *Indexer) LastImport() (*LastImport, error) {
	raw, err := os.ReadFile(x.lastPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoImport
	}
	if err != nil {
		return nil, fmt.Errorf("read the last import's report: %w", err)
	}
	last := &LastImport{Report: newReport()}
	if err := json.Unmarshal(raw, last); err != nil || last.Report == nil {
		return nil, fmt.Errorf("%w: %s is damaged, and the next import replaces it", ErrNoImport, x.lastPath())
	}
	return last, nil
}

func (x *Indexer) lastPath() string { return x.statePath(".json") }

// remember keeps a report, in one step. It is not synced to the disk: the next
// import writes another one.
func (x *Indexer) remember(rep *Report) error {
	raw, err := json.Marshal(LastImport{now(), rep})
	if err == nil {
		err = os.MkdirAll(x.StateDir, 0o700)
	}
	if err == nil {
		err = replace(x.lastPath(), raw)
	}
	if err != nil {
		return fmt.Errorf("keep the import's report: %w", err)
	}
	return nil
}

// replace puts a whole file in place of the one there may be.
func replace(path string, raw []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
