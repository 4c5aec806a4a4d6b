package blobstore

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// An s3Reader reads an object's body, and goes on in a new one where a
// connection breaks, as long as the object is still the same.
type s3Reader struct {
	s     *s3
	ctx   context.Context
	name  string
	etag  string
	size  int64
	off   int64
	tries int
	body  io.ReadCloser
}

func (r *s3Reader) Read(p []byte) (int, error) {
	if r.off == r.size {
		return 0, io.EOF
	}
	n, err := r.body.Read(p[:min(int64(len(p)), r.size-r.off)])
	r.off += int64(n)
	switch {
	case r.off == r.size:
		return n, io.EOF
	case err == nil:
		return n, nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	if r.tries++; r.tries >= s3Attempts || r.ctx.Err() != nil {
		return n, r.s.cause(r.ctx, err)
	}
	return n, r.reopen()
}

func (r *s3Reader) reopen() error {
	r.body.Close()
	r.body = http.NoBody
	var opts minio.GetObjectOptions
	if err := opts.SetMatchETag(r.etag); err != nil {
		return err
	}
	if r.off > 0 {
		if err := opts.SetRange(r.off, 0); err != nil {
			return err
		}
	}
	var head http.Header
	var now minio.ObjectInfo
	_, err := r.s.do(r.ctx, func() (err error) {
		r.body, now, head, err = r.s.client.GetObject(r.ctx, r.s.bucket, r.name, opts)
		return err
	})
	if err != nil {
		r.body = http.NoBody
	}
	switch {
	case err != nil && lostRace(err), err == nil && now.ETag != r.etag: // some servers do not look at If-Match here
		return fmt.Errorf("replaced while it was read: %w", ErrLostRace)
	case err != nil:
		return r.s.cause(r.ctx, err)
	case r.off > 0 && !strings.HasPrefix(head.Get("Content-Range"), fmt.Sprintf("bytes %d-", r.off)):
		return fmt.Errorf("%w: the server cannot go on in the middle of an object", ErrUnavailable)
	}
	return nil
}

func (r *s3Reader) Close() error { return r.body.Close() }
