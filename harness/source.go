package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// ErrNotRegular marks pipes, sockets, devices and folders where a transcript
// should be.
var ErrNotRegular = errors.New("not a regular file")

// ErrNoSession means that a file is whole and readable and holds no conversation.
var ErrNoSession = errors.New("no conversation in it")

// Sources lists the transcripts that a file leads to: the one in it, the one that
// it is a part of, or all that it holds. carrier is the file that stands for them,
// path itself where it does. The harness of a file that stands for itself is told
// by its bytes, see [Detect].
func Sources(path string) (srcs []Source, carrier string, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, path, err
	}
	srcs, carrier, err = sources(abs, true, All...)
	for i := range srcs {
		srcs[i].Root = path
	}
	return srcs, carrier, err
}

// Carrier is the file that stands for a file when files are counted: path itself,
// where it is a session or holds some, else the file whose sessions it is a part of.
// The path is absolute, and need not be there any more.
func Carrier(path string) string {
	_, carrier := groupOf(path, All)
	return carrier
}

// FileSource is the transcript in one file, taken alone, or the reason why it
// cannot be one.
func FileSource(path string) (Source, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return Source{}, err
	}
	src, err := fileSource(abs, nil)
	src.Root = path
	return src, err
}

// groupOf asks the harnesses what a file belongs to. They may look at its bytes, so
// what is no regular file stands for itself unasked.
func groupOf(path string, hs []*Harness) (g Group, carrier string) {
	looked := false
	for _, h := range hs {
		if h.Group == nil {
			continue
		}
		if !looked {
			looked = true
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
				return Group{}, path
			}
		}
		if g := h.Group(path); g.Carrier != "" {
			return g, g.Carrier
		}
	}
	return Group{}, path
}

// sources lists what a file leads to by the layouts of hs. Of a part, they are
// listed only where it was asked for.
func sources(path string, asked bool, hs ...*Harness) ([]Source, string, error) {
	g, carrier := groupOf(path, hs)
	switch {
	case carrier != path && !asked:
		return nil, carrier, nil
	case g.Sources != nil:
		srcs, err := g.Sources()
		if err == nil && len(srcs) == 0 {
			err = ErrNoSession
		}
		return srcs, carrier, err
	}
	var owner *Harness
	if len(hs) == 1 {
		owner = hs[0]
	}
	src, err := fileSource(path, owner)
	if err != nil {
		return nil, path, err
	}
	return []Source{src}, path, nil
}

func fileSource(path string, h *Harness) (Source, error) {
	info, err := os.Stat(path) // follows links: a linked transcript is a transcript
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return Source{}, err
	}
	return Source{
		Harness: h,
		Path:    path,
		Size:    info.Size(),
		Stamp:   stamp(info),
		Open:    func() (io.ReadCloser, error) { return openTranscript(path) },
	}, nil
}

// stamp changes whenever a file's content may have changed: with its size and
// modification time, and on Unix also with its inode and the time of its last
// change, which no program can set back.
func stamp(info fs.FileInfo) string {
	b := strconv.AppendInt(nil, info.Size(), 36)
	b = strconv.AppendInt(append(b, '-'), info.ModTime().UnixNano(), 36)
	if inode, changed, ok := identity(info); ok {
		b = strconv.AppendUint(append(b, '-'), inode, 36)
		b = strconv.AppendInt(append(b, '-'), changed, 36)
	}
	return string(b)
}

// regular is nil for a regular file, else ErrNotRegular and what it is.
func regular(info fs.FileInfo) error {
	what := "neither file nor folder"
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		what = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%w: %s", ErrNotRegular, what)
}

// Identify reads the head of a source and names its harness.
func Identify(src Source) (*Harness, error) {
	r, err := src.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return Detect(head[:n])
}
