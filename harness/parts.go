package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A session that is several files becomes one document, the canonical one: the
// files' lines as they are, one file after another, each begun by a line
//
//	{"sessdex_part":{"harness":"grok-build","name":"updates.jsonl"}}
//
// with the file's name inside the session's folder, and "parent" where only another
// session's files say which one started this one. What is appended to comes
// first, what is rewritten last, so that two versions of a session begin alike. A
// line of a file that looks like such a header is indented by one space, which is
// the same JSON: only the document's own headers begin at the margin.
const partPrefix = `{"sessdex_part":`

// A part is one file of a session.
type part struct {
	name string // inside the session's folder
	size int64
	info string // changes whenever the file may have changed
}

// partsOf finds those of a folder's files that names lists, in that order. Files
// that are missing, are none (links that lead away, folders) or hold more bytes than
// limit allows for their name are left out; 0 is no limit.
func partsOf(dir string, names []string, limit func(name string) int64) []part {
	var out []part
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if most := limit(name); most > 0 && info.Size() > most {
			continue
		}
		out = append(out, part{name, info.Size(), name + " " + stamp(info)})
	}
	return out
}

// A partHead is what a header says.
type partHead struct {
	Harness string `json:"harness"`
	Name    string `json:"name"`
	Parent  string `json:"parent,omitempty"` // native id of the session that started this one
}

// partsSource is the source of a session whose files are parts, carrier among them.
// head has what is the same in each header.
func partsSource(head partHead, dir, carrier string, parts []part) Source {
	src := Source{Path: filepath.Join(dir, carrier)}
	stamps := make([]string, len(parts), len(parts)+1)
	for i, p := range parts {
		src.Size += p.size
		stamps[i] = p.info
	}
	if head.Parent != "" {
		stamps = append(stamps, head.Parent)
	}
	src.Stamp = strings.Join(stamps, " ")
	src.Open = func() (io.ReadCloser, error) { return openParts(head, dir, parts) }
	return src
}

// openParts streams the canonical document. Each file is open only while it is
// read; one that went away meanwhile is passed over, except when none is left.
func openParts(head partHead, dir string, parts []part) (io.ReadCloser, error) {
	r := &partsReader{dir: dir, head: head, left: parts}
	if err := r.next(); err != nil && err != io.EOF {
		return nil, err
	}
	if r.file == nil {
		return nil, fmt.Errorf("open session in %s: %w", dir, fs.ErrNotExist)
	}
	return r, nil
}

type partsReader struct {
	dir  string
	head partHead
	left []part

	file    *os.File // the part being read
	in      *bufio.Reader
	pending []byte // bytes to hand out before the file's
	fresh   bool   // at the beginning of a line
}

// next begins the next part that can be opened, or tells io.EOF.
func (r *partsReader) next() error {
	for len(r.left) > 0 {
		p := r.left[0]
		r.left = r.left[1:]
		f, err := openRegular(filepath.Join(r.dir, p.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		r.file, r.in, r.fresh = f, bufio.NewReaderSize(f, 64<<10), true
		if start, _ := r.in.Peek(len(bom)); bytes.Equal(start, bom) {
			r.in.Discard(3)
		}
		r.head.Name = p.name
		r.pending = append(r.pending, r.head.line()...)
		return nil
	}
	return io.EOF
}

// Read implements [io.Reader].
func (r *partsReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(r.pending) == 0 {
		if r.file == nil {
			if err := r.next(); err != nil {
				return 0, err
			}
			continue
		}
		if r.fresh {
			r.fresh = false
			if head, _ := r.in.Peek(len(partPrefix)); string(head) == partPrefix {
				r.pending = append(r.pending, ' ')
				continue
			}
		}
		chunk, err := r.in.ReadSlice('\n')
		r.pending = append(r.pending, chunk...)
		r.fresh = bytes.HasSuffix(chunk, []byte("\n"))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			r.Close()
			if len(chunk) > 0 { // a last line without its newline
				r.pending = append(r.pending, '\n')
			}
		case err != nil:
			return 0, err
		}
	}
	n := copy(p, r.pending)
	r.pending = r.pending[:copy(r.pending, r.pending[n:])]
	return n, nil
}

// Close implements [io.Closer].
func (r *partsReader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}

// line is the header as it stands in the document.
func (h partHead) line() []byte {
	line, _ := json.Marshal(map[string]partHead{"sessdex_part": h})
	return append(line, '\n')
}

// readPartHead reads a line that begins a part.
func readPartHead(line []byte) (head partHead, ok bool) {
	if !bytes.HasPrefix(line, []byte(partPrefix)) || len(line) > 4<<10 {
		return head, false
	}
	var doc struct {
		Part partHead `json:"sessdex_part"`
	}
	err := json.Unmarshal(line, &doc)
	return doc.Part, err == nil && doc.Part.Name != ""
}

// ErrNotParts means that a transcript is no document of several files, or names a
// file that does not belong to a session.
var ErrNotParts = errors.New("the transcript is not made of the files of a session")

// SplitParts takes a canonical document apart again. create opens each file by its
// name, which is one of allowed: plain names, never a path. Any other name, a name
// twice, and text before the first header end the work with [ErrNotParts]. Each
// file is closed before the next is created. A line that is too long to be kept is
// passed over, as it was when the document was read.
func SplitParts(doc io.Reader, allowed []string, create func(name string) (io.WriteCloser, error)) (err error) {
	var out io.WriteCloser
	finish := func() error {
		if out == nil {
			return nil
		}
		f := out
		out = nil
		return f.Close()
	}
	defer func() {
		if e := finish(); err == nil {
			err = e
		}
	}()
	var done []string
	for line, err := range Lines(doc) {
		if errors.Is(err, ErrLongLine) {
			continue
		}
		if err != nil {
			return err
		}
		if head, ok := readPartHead(line); ok {
			name := head.Name
			if !slices.Contains(allowed, name) || strings.ContainsAny(name, `/\`) || slices.Contains(done, name) {
				return fmt.Errorf("part %q: %w", name, ErrNotParts)
			}
			done = append(done, name)
			if err := finish(); err != nil {
				return err
			}
			if out, err = create(name); err != nil {
				return err
			}
			continue
		}
		if out == nil {
			return ErrNotParts
		}
		if bytes.HasPrefix(line, []byte(" "+partPrefix)) {
			line = line[1:]
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	if len(done) == 0 {
		return ErrNotParts
	}
	return nil
}
