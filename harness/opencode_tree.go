package harness

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// An openCodeTree is one session kept as files: its own record, a folder with a file
// for each message, and for each message a folder with a file for each part. Files
// are written beside their place and renamed, so a folder's time tells of changes in
// its files.
type openCodeTree struct {
	id    string
	file  string // the session's own record
	root  string // the folder that has "message" and "part"
	early bool   // parts are below a folder for their session
}

// newOpenCodeTree is the session whose own record is in a file of either layout.
func newOpenCodeTree(file string) openCodeTree {
	folder := filepath.Dir(file)
	t := openCodeTree{id: strings.TrimSuffix(filepath.Base(file), ".json"), file: file, root: filepath.Dir(filepath.Dir(folder))}
	if filepath.Base(folder) == "info" {
		t.root, t.early = filepath.Dir(folder), true
	}
	return t
}

func (t openCodeTree) messageDir() string { return filepath.Join(t.root, "message", t.id) }

func (t openCodeTree) partDir(message string) string {
	if t.early {
		return filepath.Join(t.root, "part", t.id, message)
	}
	return filepath.Join(t.root, "part", message)
}

// openCodeNames reports whether a record of that id can be a file here. Ids come from
// databases, too, where one may hold a path.
func openCodeNames(id string) bool {
	return id == filepath.Base(id) && id != ".." && !strings.ContainsRune(id, 0)
}

// stamp changes with any file of the session: it looks at the folders, one for each
// message, and at none of the files but the session's own. size is what a directory
// listing tells about the messages.
func (t openCodeTree) stamp() (stamp string, size int64, err error) {
	h := fnv.New64a()
	look := func(path string) error {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d-%d/", info.ModTime().UnixNano(), info.Size())
		if info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	}
	ids, err := openCodeFiles(t.messageDir(), "msg_")
	if err != nil {
		return "", 0, err
	}
	err = errors.Join(look(t.file), look(t.messageDir()))
	for _, id := range ids {
		h.Write([]byte(id))
		if err == nil {
			err = look(t.partDir(id))
		}
	}
	return fmt.Sprintf("%d-%x", len(ids), h.Sum64()), size, err
}

// openCodeFiles lists the records in a folder by their ids, sorted; a folder that is
// not there has none.
func openCodeFiles(dir, prefix string) ([]string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|openNow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, name := range names {
		if id, ok := strings.CutSuffix(name, ".json"); ok && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func (t openCodeTree) messages() ([]openCodeRef, error) {
	ids, err := openCodeFiles(t.messageDir(), "msg_")
	if err != nil {
		return nil, err
	}
	var refs []openCodeRef
	for _, id := range ids {
		raw, err := t.message(id)
		if errors.Is(err, io.EOF) {
			continue
		}
		if err != nil {
			return nil, err
		}
		created := gjson.GetBytes(raw, "time.created")
		if !created.Exists() {
			created = gjson.GetBytes(raw, "metadata.time.created")
		}
		refs = append(refs, openCodeRef{id, created.Int()})
	}
	slices.SortFunc(refs, openCodeRef.compare)
	return refs, nil
}

func (t openCodeTree) message(id string) ([]byte, error) {
	if !openCodeNames(id) {
		return nil, io.EOF
	}
	return openCodeFile(filepath.Join(t.messageDir(), id+".json"))
}

func (t openCodeTree) parts(message string) iter.Seq2[openCodePart, error] {
	return func(yield func(openCodePart, error) bool) {
		if !openCodeNames(message) {
			return
		}
		dir := t.partDir(message)
		ids, err := openCodeFiles(dir, "prt_")
		if err != nil {
			yield(openCodePart{}, err)
			return
		}
		for _, id := range ids {
			raw, err := openCodeFile(filepath.Join(dir, id+".json"))
			if errors.Is(err, io.EOF) {
				continue
			}
			if !yield(openCodePart{id, raw}, err) || err != nil {
				return
			}
		}
	}
}

// session is the session's own record; one without a folder gets its project's.
func (t openCodeTree) session() ([]byte, error) {
	raw, err := openCodeFile(t.file)
	if err != nil || t.early || !gjson.ValidBytes(raw) || gjson.GetBytes(raw, "directory").Str != "" {
		return raw, err
	}
	project := filepath.Base(filepath.Dir(t.file))
	about, err := openCodeFile(filepath.Join(t.root, "project", project+".json"))
	if err != nil {
		return raw, nil
	}
	var v map[string]any
	if openCodeDecode(raw, &v) != nil {
		return raw, nil
	}
	v["worktree"] = gjson.GetBytes(about, "worktree").Str
	return openCodeEncode(v)
}

// unchanged: each file is whole whenever it is read.
func (t openCodeTree) unchanged() error { return nil }

// Close implements [io.Closer].
func (t openCodeTree) Close() error { return nil }

// openCodeFile reads one record. No real one is larger than a line may be.
func openCodeFile(path string) ([]byte, error) {
	f, err := openRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, io.EOF
	case errors.Is(err, ErrNotRegular):
		return nil, nil // no JSON: it is reported as unreadable
	case err != nil:
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxLine {
		return nil, nil
	}
	return io.ReadAll(io.LimitReader(f, MaxLine))
}
