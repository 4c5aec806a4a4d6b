package blobstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
)

// copyExactly copies r to w, which must hold size bytes and not one more, and
// returns their SHA-256 in hex. It stops when ctx ends.
func copyExactly(ctx context.Context, w io.Writer, r io.Reader, size int64) (string, error) {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(&ctxReader{ctx, r}, size))
	switch {
	case err != nil:
		return "", err
	case n < size:
		return "", fmt.Errorf("the reader holds %d bytes and not %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	var more [1]byte
	switch _, err := io.ReadFull(&ctxReader{ctx, r}, more[:]); err {
	case io.EOF:
		return hex.EncodeToString(sum.Sum(nil)), nil
	case nil:
		return "", fmt.Errorf("the reader holds more than %d bytes: %w", size, fs.ErrInvalid)
	default:
		return "", err
	}
}

// checkPut refuses what no store takes.
func checkPut(ctx context.Context, key string, size int64) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if size < 0 {
		return fmt.Errorf("put %s: %d bytes: %w", key, size, fs.ErrInvalid)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	return nil
}

// A ctxReader fails once its context has ended. It hides every method but Read,
// so that a copy cannot go around it.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// A checkedReader hands out an object's bytes and fails with ErrDamaged where
// the last of them would be followed by io.EOF, unless their number and their
// SHA-256 are what was recorded.
type checkedReader struct {
	r    io.ReadCloser
	ctx  context.Context
	what string // "get KEY in STORE", for messages
	size int64
	want string // hex; empty when nothing is recorded

	got  int64
	hash hash.Hash
	err  error // sticky
}

func newCheckedReader(ctx context.Context, r io.ReadCloser, what string, size int64, want string) *checkedReader {
	return &checkedReader{r: r, ctx: ctx, what: what, size: size, want: want, hash: sha256.New()}
}

func (c *checkedReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	if err := c.ctx.Err(); err != nil {
		c.err = fmt.Errorf("%s: %w", c.what, err)
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.got += int64(n)
	c.hash.Write(p[:n])
	switch {
	case err == io.EOF:
		err = c.verify()
	case err != nil && c.ctx.Err() != nil:
		err = fmt.Errorf("%s: %w", c.what, c.ctx.Err())
	case err != nil:
		err = fmt.Errorf("%s: %w", c.what, err)
	}
	c.err = err
	return n, err
}

func (c *checkedReader) verify() error {
	if c.got != c.size {
		return fmt.Errorf("%s: %w: %d bytes where %d were written", c.what, ErrDamaged, c.got, c.size)
	}
	if got := hex.EncodeToString(c.hash.Sum(nil)); c.want != "" && got != c.want {
		return fmt.Errorf("%s: %w: SHA-256 is %.12s… and was %.12s…", c.what, ErrDamaged, got, c.want)
	}
	return io.EOF
}

// Close releases the object. It does not verify what was left unread.
func (c *checkedReader) Close() error { return c.r.Close() }
