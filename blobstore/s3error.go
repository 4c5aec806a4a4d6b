package blobstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/minio/minio-go/v7"
)

// retryPause comes before the second try, three times as much before the next;
// the client adds up to 0.2 s of its own to each.
var retryPause = 100 * time.Millisecond

// do runs one request, again while it fails for a passing reason, and returns
// the client's own error. How often it was tried tells whether an earlier try
// may have been carried out although its answer was lost.
func (s *s3) do(ctx context.Context, request func() error) (tries int, err error) {
	limit := s3Attempts
	if time.Now().UnixNano() < s.downUntil.Load() {
		limit = 1
	}
	for wait := retryPause; ; wait *= 3 {
		tries++
		err = request()
		if err == nil || ctx.Err() != nil || !passing(err) {
			break
		}
		if tries >= limit || !sleep(ctx, jitter(wait)) {
			break
		}
	}
	switch {
	case err == nil || answered(err):
		s.downUntil.Store(0)
	case ctx.Err() == nil:
		s.downUntil.Store(time.Now().Add(2 * time.Second).UnixNano())
	}
	return tries, err
}

// answered reports whether an error is what a server said.
func answered(err error) bool { return status(err) != 0 }

// passing reports whether an error may be gone at the next try.
func passing(err error) bool {
	switch code := status(err); {
	case code == http.StatusNotImplemented, code == http.StatusInsufficientStorage:
		return false
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return true
	case code != 0:
		return errorCode(err) == minio.XAmzContentSHA256Mismatch // changed on the way
	}
	return !distrusted(err) && !errors.Is(err, ErrUnavailable)
}

// distrusted reports that the two sides do not agree on TLS.
func distrusted(err error) bool {
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &cert) || errors.As(err, &record) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func errorCode(err error) string {
	var answer minio.ErrorResponse
	errors.As(err, &answer)
	return answer.Code
}

func status(err error) int {
	var answer minio.ErrorResponse
	errors.As(err, &answer)
	return answer.StatusCode
}

// fail names the operation and the place of an error of the client.
func (s *s3) fail(ctx context.Context, op, key string, err error) error {
	place := s.addr
	if key != "" {
		place = key + " in " + place
	}
	return fmt.Errorf("%s %s: %w", op, place, s.cause(ctx, err))
}

// cause turns an error of the client into a sentinel of a Store with what
// happened and what to do. It repeats neither a URL nor a credential.
func (s *s3) cause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errorCode(err) == minio.NoSuchKey:
		return fs.ErrNotExist
	case errors.Is(err, ErrLostRace), errors.Is(err, ErrUnavailable), errors.Is(err, ErrDamaged):
		return err
	}
	text := s.clean(err)
	if advice := s.advice(err); advice != "" {
		text += ": " + advice
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, text)
}

// clean says in one short line what an error is.
func (s *s3) clean(err error) string {
	var text string
	var answer minio.ErrorResponse
	var request *url.Error
	switch {
	case errors.As(err, &answer):
		text = fmt.Sprintf("%s (HTTP %d, %s)", strings.TrimSuffix(answer.Error(), "."), answer.StatusCode, answer.Code)
	case errors.As(err, &request): // its text holds the URL
		text = request.Err.Error()
	default:
		text = err.Error()
	}
	for _, secret := range s.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > 300 {
		text = string(r[:299]) + "…"
	}
	return text
}

// advice says what a person can do, where that is known.
func (s *s3) advice(err error) string {
	var answer minio.ErrorResponse
	errors.As(err, &answer)
	switch answer.Code {
	case minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch, "InvalidTokenId", "InvalidToken":
		return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
	case "ExpiredToken", "ExpiredTokenException":
		return "get new credentials"
	case minio.AccessDenied:
		return "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: they must be allowed to list, get, put and delete in this bucket"
	case minio.NoSuchBucket:
		return "make the bucket, or check its name"
	case "RequestTimeTooSkewed":
		return "the clocks of this machine and of the store differ: set them"
	case minio.AuthorizationHeaderMalformed, minio.InvalidRegion, "PermanentRedirect", "IllegalLocationConstraintException":
		if answer.Region != "" {
			return "set AWS_REGION to " + answer.Region
		}
		return "set AWS_REGION to the bucket's region"
	case minio.NotImplemented:
		return "this server lacks what Sessdex needs of S3, conditional writes among it"
	case "XMinioStorageFull":
		return "free some space on the store's disks"
	}
	var dns *net.DNSError
	switch {
	case answer.StatusCode >= 500, answer.StatusCode == http.StatusTooManyRequests:
		return "it may be starting or busy: try again in a moment"
	case answer.Code == "400 Bad Request": // not the words of S3; those of TLS, when a HEAD got them, are lost
		return "check http or https in AWS_ENDPOINT_URL_S3, and that it is an S3 server"
	case answer.StatusCode != 0:
		return ""
	case errors.As(err, &dns):
		return "check the host name in AWS_ENDPOINT_URL_S3"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "is it running? check AWS_ENDPOINT_URL_S3"
	case distrusted(err):
		return "check http or https in AWS_ENDPOINT_URL_S3, and that this machine trusts the certificate"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "no answer in time: check the network and AWS_ENDPOINT_URL_S3"
	}
	return "check that AWS_ENDPOINT_URL_S3 is an S3 server and that it is running"
}

// jitter spreads those who wait for the same thing: between half of d and d.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// sleep waits, and reports whether ctx is still alive.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
