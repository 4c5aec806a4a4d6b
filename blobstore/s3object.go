package blobstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// What Put keeps with an object, as x-amz-meta-*. The nonce tells its own
// object from another's when the answer to a PUT was lost.
const (
	metaSum   = "Sha256"
	metaNonce = "Put"
)

func s3Info(key string, o minio.ObjectInfo) Info {
	return Info{Key: key, Size: o.Size, Version: o.ETag, Time: o.LastModified.UTC()}
}

func (s *s3) Stat(ctx context.Context, key string) (Info, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, err
	}
	o, err := s.head(ctx, key)
	if err != nil {
		return Info{}, s.fail(ctx, "stat", key, err)
	}
	return s3Info(key, o), nil
}

func (s *s3) head(ctx context.Context, key string) (o minio.ObjectInfo, err error) {
	_, err = s.do(ctx, func() error {
		o, err = s.client.StatObject(ctx, s.bucket, s.name(key), minio.StatObjectOptions{})
		return err
	})
	return o, s.confirm(ctx, err)
}

// confirm looks closer at "not found" while nothing has shown that the bucket
// exists. An answer to HEAD has no body to tell a missing bucket from a missing
// object, and what is no S3 server at all says 404 too: neither must look like
// sessions that were deleted.
func (s *s3) confirm(ctx context.Context, err error) error {
	if err == nil {
		s.seen.Store(true)
	}
	if status(err) != http.StatusNotFound || s.seen.Load() {
		return err
	}
	exists, berr := s.client.BucketExists(ctx, s.bucket)
	switch {
	case berr != nil:
		return berr
	case !exists:
		return minio.ErrorResponse{Code: minio.NoSuchBucket, StatusCode: http.StatusNotFound, Message: "The bucket does not exist"}
	}
	s.seen.Store(true)
	return err
}

func (s *s3) Get(ctx context.Context, key string) (io.ReadCloser, Info, error) {
	if err := CheckKey(key); err != nil {
		return nil, Info{}, err
	}
	var body io.ReadCloser
	var o minio.ObjectInfo
	_, err := s.do(ctx, func() (err error) {
		body, o, _, err = s.client.GetObject(ctx, s.bucket, s.name(key), minio.GetObjectOptions{})
		return err
	})
	if err = s.confirm(ctx, err); err != nil {
		return nil, Info{}, s.fail(ctx, "get", key, err)
	}
	r := &s3Reader{s: s, ctx: ctx, name: s.name(key), etag: o.ETag, size: o.Size, body: body}
	return newCheckedReader(ctx, r, "get "+key+" in "+s.addr, o.Size, o.UserMetadata[metaSum]), s3Info(key, o), nil
}

func (s *s3) Put(ctx context.Context, key string, r io.Reader, size int64, cond Cond) (Info, error) {
	if err := checkPut(ctx, key, size); err != nil {
		return Info{}, err
	}
	if size > s3MaxPut {
		return Info{}, fmt.Errorf("put %s in %s: %d bytes are more than S3 takes in one piece (5 GiB): %w", key, s.addr, size, fs.ErrInvalid)
	}
	if cond.kind == version && cond.match == "" {
		return Info{}, fmt.Errorf("put %s in %s: no version given: %w", key, s.addr, ErrLostRace)
	}
	src, err := newSource(ctx, r, size)
	if err != nil {
		return Info{}, fmt.Errorf("put %s in %s: %w", key, s.addr, err)
	}
	defer src.close()
	info, err := s.put(ctx, key, src, cond)
	if err != nil {
		return Info{}, s.fail(ctx, "put", key, err)
	}
	return info, nil
}

func (s *s3) put(ctx context.Context, key string, src *source, cond Cond) (Info, error) {
	nonce := rand.Text()
	opts := minio.PutObjectOptions{
		UserMetadata:         map[string]string{metaSum: src.sum, metaNonce: nonce},
		DisableContentSha256: true, // that of each chunk; the whole one is signed instead
		DisableMultipart:     true,
	}
	switch cond.kind {
	case absent:
		opts.SetMatchETagExcept("*")
	case version:
		opts.SetMatchETag(cond.match)
	}
	var done minio.UploadInfo
	var date time.Time
	tries, err := s.do(ctx, func() error {
		body, err := src.open()
		if err != nil {
			return err
		}
		defer body.revoke()
		done, err = s.client.PutObject(noteDate(ctx, &date), s.bucket, s.name(key), body, src.size, "", src.sum, opts)
		return err
	})
	switch err = s.confirm(ctx, err); {
	case err == nil:
		return Info{Key: key, Size: src.size, Version: done.ETag, Time: date}, nil
	case cond.kind == always || !lostRace(err):
		return Info{}, err
	case tries == 1:
		return Info{}, ErrLostRace
	}
	// This answers a second try; the first may have gone through although its
	// answer was lost. The object itself tells.
	o, err := s.head(ctx, key)
	switch {
	case err == nil && o.UserMetadata[metaNonce] == nonce:
		return s3Info(key, o), nil
	case err == nil || errorCode(err) == minio.NoSuchKey:
		return Info{}, ErrLostRace
	}
	return Info{}, err
}

// lostRace reports the three answers of S3 servers to a condition that does not hold.
func lostRace(err error) bool {
	switch status(err) {
	case http.StatusConflict, http.StatusPreconditionFailed:
		return true
	case http.StatusNotFound:
		return errorCode(err) != minio.NoSuchBucket
	}
	return false
}

func (s *s3) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	_, err := s.do(ctx, func() error {
		return s.client.RemoveObject(ctx, s.bucket, s.name(key), minio.RemoveObjectOptions{})
	})
	if err = s.confirm(ctx, err); err != nil && errorCode(err) != minio.NoSuchKey {
		return s.fail(ctx, "delete", key, err)
	}
	return nil
}

// List asks for a thousand keys at a time. A page that fails is asked for again
// from the last key on.
func (s *s3) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		last, stopped := "", false
		next := func() error {
			opts := minio.ListObjectsOptions{Prefix: s.listPrefix(prefix), Recursive: true, StartAfter: last, FetchOwner: new(bool)}
			for o := range s.client.ListObjectsIter(ctx, s.bucket, opts) {
				if o.Err != nil {
					return o.Err
				}
				if o.Key <= last {
					return fmt.Errorf("%w: the server lists %q after %q", ErrUnavailable, o.Key, last)
				}
				last = o.Key
				key := strings.TrimPrefix(o.Key, s.listPrefix(""))
				if CheckKey(key) != nil { // not ours
					continue
				}
				if stopped = !yield(s3Info(key, o), nil); stopped {
					return nil
				}
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			return ctx.Err() // the client ends quietly then
		}
		for {
			from := last
			_, err := s.do(ctx, next)
			switch {
			case stopped || err == nil:
				return
			case last == from || !passing(err) || ctx.Err() != nil:
				yield(Info{}, s.fail(ctx, fmt.Sprintf("list %q in", prefix), "", err))
				return
			}
		}
	}
}

func (s *s3) listPrefix(prefix string) string {
	if s.prefix == "" {
		return prefix
	}
	return s.prefix + "/" + prefix
}
