package library

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"sessdex/scrub"
)

// spillAt is how many compressed bytes a draft keeps in memory before it goes on
// in a temporary file.
const spillAt = 8 << 20

// A Draft is a transcript being received: compressed and hashed as it comes, in
// bounded memory. Only scrubbed bytes can be written to it. It belongs to one
// goroutine and must be closed.
type Draft struct {
	sum   hash.Hash
	size  int64
	zip   *zstd.Encoder
	mem   bytes.Buffer
	file  *os.File // set once the draft outgrew spillAt
	whole bool
}

var encoders = sync.Pool{New: func() any {
	// The options are constant and valid, so this cannot fail.
	z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20))
	return z
}}

// NewDraft begins a transcript.
func NewDraft() *Draft {
	d := &Draft{sum: sha256.New(), zip: encoders.Get().(*zstd.Encoder)}
	d.zip.Reset((*spill)(d))
	return d
}

// Write appends scrubbed bytes.
func (d *Draft) Write(s scrub.Scrubbed) error {
	d.sum.Write(s.Bytes())
	d.size += int64(s.Len())
	_, err := d.zip.Write(s.Bytes())
	return err
}

// Finish ends the transcript; nothing can be written after it.
func (d *Draft) Finish() error {
	if d.whole {
		return nil
	}
	d.whole = true
	err := d.zip.Close()
	d.zip.Reset(nil)
	encoders.Put(d.zip)
	d.zip = nil
	return err
}

// Close drops the draft and its temporary file.
func (d *Draft) Close() error {
	if d.zip != nil {
		d.zip.Reset(nil)
		encoders.Put(d.zip)
		d.zip = nil
	}
	if d.file == nil {
		return nil
	}
	name := d.file.Name()
	d.file.Close()
	d.file = nil
	return os.Remove(name)
}

// Size is the number of scrubbed bytes written.
func (d *Draft) Size() int64 { return d.size }

// SHA256 is their hash in hex.
func (d *Draft) SHA256() string { return hex.EncodeToString(d.sum.Sum(nil)) }

// compressed gives the compressed bytes from the start, and their number.
func (d *Draft) compressed() (io.ReadSeeker, int64, error) {
	if d.file == nil {
		return bytes.NewReader(d.mem.Bytes()), int64(d.mem.Len()), nil
	}
	size, err := d.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	return io.NewSectionReader(d.file, 0, size), size, nil
}

// prefixSHA256 is the hash of the first n bytes written.
func (d *Draft) prefixSHA256(n int64) (string, error) {
	r, _, err := d.compressed()
	if err != nil {
		return "", err
	}
	z, err := newDecoder(r)
	if err != nil {
		return "", err
	}
	defer z.Close()
	return hashPrefix(z, n)
}

func hashPrefix(r io.Reader, n int64) (string, error) {
	h := sha256.New()
	if _, err := io.CopyN(h, r, n); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// maxDecoderMemory bounds what a stored object may make the decoder allocate.
const maxDecoderMemory = 128 << 20

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxDecoderMemory), zstd.WithDecoderLowmem(true))
}

// spill is the encoder's view of a draft: memory first, then a file.
type spill Draft

func (s *spill) Write(p []byte) (int, error) {
	if s.file == nil && s.mem.Len()+len(p) <= spillAt {
		return s.mem.Write(p)
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "sessdex-draft-*")
		if err != nil {
			return 0, fmt.Errorf("make room for a large transcript: %w", err)
		}
		s.file = f
		if _, err := f.Write(s.mem.Bytes()); err != nil {
			return 0, err
		}
		s.mem = bytes.Buffer{}
	}
	return s.file.Write(p)
}
