package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// openRegular opens a file that is still a regular one. A pipe that took its place
// meanwhile does not make it wait for a writer.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openNow, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// maxWindow bounds what a compressed transcript may make the decoder allocate.
const maxWindow = 64 << 20

// openTranscript opens a file, decompresses zstd by its magic number and drops a
// UTF-8 byte order mark.
func openTranscript(path string) (io.ReadCloser, error) {
	f, err := openRegular(path)
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
	head = bytes.TrimPrefix(head, bom)
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

// ErrDamaged means that a compressed file cannot be read to its end.
var ErrDamaged = errors.New("the compressed file is damaged")

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
		err = fmt.Errorf("%w: it is cut off", ErrDamaged)
	case err != nil && err != io.EOF:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return n, err
}

type transcript struct {
	io.Reader
	close func() error
}

func (t *transcript) Close() error { return t.close() }
