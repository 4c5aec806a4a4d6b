package blobstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// spoolInMemory is the size up to which a copy of a reader is kept in memory.
const spoolInMemory = 4 << 20

// A source gives the same bytes as often as a PUT is tried. Their number and
// their SHA-256 are known before the first try.
type source struct {
	size  int64
	sum   string // hex
	r     io.ReadSeeker
	start int64
	done  func() // removes the copy
}

// newSource reads r to its end, once.
func newSource(ctx context.Context, r io.Reader, size int64) (*source, error) {
	src := &source{size: size, done: func() {}}
	if seeker, ok := r.(io.ReadSeeker); ok {
		if start, err := seeker.Seek(0, io.SeekCurrent); err == nil { // a pipe is an *os.File too
			src.r, src.start = seeker, start
			src.sum, err = copyExactly(ctx, io.Discard, r, size)
			return src, err
		}
	}
	if size <= spoolInMemory {
		var buf bytes.Buffer
		sum, err := copyExactly(ctx, &buf, r, size)
		src.sum, src.r = sum, bytes.NewReader(buf.Bytes())
		return src, err
	}
	f, err := os.CreateTemp("", "sessdex-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary copy: %w", err)
	}
	src.r, src.done = f, func() {
		f.Close()
		os.Remove(f.Name())
	}
	if src.sum, err = copyExactly(ctx, f, r, size); err != nil {
		src.close()
		return nil, err
	}
	return src, nil
}

func (s *source) close() { s.done() }

// open starts one try.
func (s *source) open() (*body, error) {
	if _, err := s.r.Seek(s.start, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the source again: %w", errors.Join(err, fs.ErrInvalid))
	}
	return &body{r: io.LimitReader(s.r, s.size)}, nil
}

// A body is what one try sends. The transport may go on reading it after the
// request has returned; revoke ends that, so that the next try, or the caller,
// has the source to itself.
type body struct {
	mu sync.Mutex
	r  io.Reader // nil when revoked
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.r == nil {
		return 0, io.ErrClosedPipe
	}
	return b.r.Read(p)
}

func (b *body) revoke() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.r = nil
}
