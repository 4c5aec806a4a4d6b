package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Problem is a file or folder that discovery could not take, and why.
type Problem struct {
	Harness string
	Path    string
	Err     error
}

func (p Problem) Error() string { return p.Path + ": " + p.Err.Error() }
func (p Problem) Unwrap() error { return p.Err }

// ErrNotRegular marks pipes, sockets, devices and links that lead out of reach.
var ErrNotRegular = errors.New("not a regular file")

// ErrNoSession means that a file is whole and readable and holds no conversation.
var ErrNoSession = errors.New("no conversation in it")

// Discover walks the roots of h on a machine and calls found for each transcript
// its layout claims, and problem for each file it cannot take. A root that is
// not there is no problem. It reads no transcript.
func Discover(h *Harness, env Env, found func(Source), problem func(Problem)) {
	seen := map[string]bool{} // resolved roots: one may be a link to another
	for _, root := range h.Roots(env) {
		real, err := filepath.EvalSymlinks(root)
		if errors.Is(err, fs.ErrNotExist) || seen[real] {
			continue
		}
		if err != nil {
			problem(Problem{h.Name, root, err})
			continue
		}
		seen[real] = true
		walk(h, root, real, found, problem)
	}
}

func walk(h *Harness, root, real string, found func(Source), problem func(Problem)) {
	filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			problem(Problem{h.Name, path, err})
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(real, path)
		if d.IsDir() || !h.Claims(filepath.ToSlash(rel)) {
			return nil
		}
		srcs, carrier, err := sources(path, h)
		if carrier != path {
			return nil // counted with its carrier
		}
		if err != nil {
			problem(Problem{h.Name, path, err})
			return nil
		}
		for _, src := range srcs {
			src.Harness, src.Root = h, root
			found(src)
		}
		return nil
	})
}

// Sources lists the transcripts that a file leads to: the one in it, the one that
// it is a part of, or all that it holds. carrier is the file that stands for them,
// path itself where it does. The harness of a file that stands for itself is told
// by Identify.
func Sources(path string) (srcs []Source, carrier string, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, path, err
	}
	srcs, carrier, err = sources(abs, All...)
	for i := range srcs {
		srcs[i].Root = path
	}
	return srcs, carrier, err
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

// sources asks the harnesses whose sessions are no single files first.
func sources(path string, hs ...*Harness) ([]Source, string, error) {
	for _, h := range hs {
		if h.Group == nil {
			continue
		}
		if g := h.Group(path); g.Carrier != "" {
			srcs, err := g.Sources()
			if err == nil && len(srcs) == 0 {
				err = ErrNoSession
			}
			for i := range srcs {
				srcs[i].Harness = h
			}
			return srcs, g.Carrier, err
		}
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
	if err != nil {
		return Source{}, err
	}
	if !info.Mode().IsRegular() {
		return Source{}, ErrNotRegular
	}
	return Source{
		Harness: h,
		Path:    path,
		Size:    info.Size(),
		Stamp:   fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano()),
		Open:    func() (io.ReadCloser, error) { return openTranscript(path) },
	}, nil
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

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxWindow bounds what a compressed transcript may make the decoder allocate.
const maxWindow = 64 << 20

// openTranscript opens a file, decompresses zstd by its magic number and drops a
// UTF-8 byte order mark.
func openTranscript(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.Close()
		return nil, err
	}
	head := magic[:n]
	if bytes.Equal(head, zstdMagic) {
		z, err := zstd.NewReader(io.MultiReader(bytes.NewReader(head), f),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			f.Close()
			return nil, err
		}
		limit := int64(maxExpanded)
		if info, err := f.Stat(); err == nil {
			limit = min(limit, max(1<<20, maxRatio*info.Size()))
		}
		return &transcript{Reader: &expanding{z, limit}, close: func() error { z.Close(); return f.Close() }}, nil
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	return &transcript{Reader: io.MultiReader(bytes.NewReader(head), f), close: f.Close}, nil
}

// What a compressed transcript may expand to, in bytes and times its size: real
// ones come to a tenth of it.
const (
	maxExpanded = 1 << 30
	maxRatio    = 200
)

// ErrTooLarge means that a compressed file is made to fill the disk or the day.
var ErrTooLarge = errors.New("it expands to more than 1 GiB, or more than 200 times its size")

// expanding reads decompressed bytes up to a limit.
type expanding struct {
	r    io.Reader
	left int64
}

func (e *expanding) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if e.left -= int64(n); e.left < 0 {
		return 0, ErrTooLarge
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("the compressed file is cut off: %w", err)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("the compressed file is damaged: %w", err)
	}
	return n, err
}

type transcript struct {
	io.Reader
	close func() error
}

func (t *transcript) Close() error { return t.close() }

// envList splits a variable that holds several paths by any of seps, and expands
// a leading "~".
func envList(env Env, name, seps string) []string {
	if env.Getenv == nil {
		return nil
	}
	var out []string
	for _, p := range strings.FieldsFunc(env.Getenv(name), func(r rune) bool { return strings.ContainsRune(seps, r) }) {
		if p = strings.TrimSpace(p); p == "~" || strings.HasPrefix(p, "~/") {
			p = filepath.Join(env.Home, p[1:])
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}
