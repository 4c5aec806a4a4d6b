package blobstore

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// S3Options says where a bucket is and who asks. Only Bucket, AccessKey and
// SecretKey are needed.
type S3Options struct {
	Bucket       string
	Prefix       string // before every key, without the slashes around it
	Endpoint     string // http://HOST:PORT or https://HOST:PORT; empty: Amazon
	Region       string // empty: us-east-1
	AccessKey    string
	SecretKey    string
	SessionToken string
}

// Bounds on one request. A transfer may take as long as it moves.
const (
	s3Attempts    = 4                // of one request, in all
	s3DialTimeout = 5 * time.Second  // to reach the server
	s3Idle        = 60 * time.Second // without a byte in either direction
	s3ReadyWait   = 30 * time.Second // until a server that does not come up is given up
	s3MaxPut      = 5 << 30          // bytes in one PUT, S3's limit
	s3ExpectFrom  = 64 << 10         // bytes from which a PUT waits for the server's go-ahead
)

// OpenS3 opens a store in a bucket of MinIO or any S3 that honours If-Match and
// If-None-Match on PUT (see Probe). It does not use the network.
//
// An object is one PUT, never multipart: whole or not there, at most 5 GiB. Its
// version is the ETag. Its SHA-256 is signed, so the server refuses bytes that
// changed on the way, and kept as user metadata (x-amz-meta-sha256), against which
// Get verifies. Put reads a reader that can seek twice, and keeps a copy of any
// other (in memory up to 4 MiB, else in a temporary file).
//
// A request that fails for a passing reason is tried four times in all, with
// growing random pauses, and Get goes on where a broken connection stopped. After
// a server was not reached, requests in the next two seconds are tried once, so
// callers do not pile up.
func OpenS3(o S3Options) (Store, error) {
	s := &s3{
		bucket: o.Bucket, prefix: o.Prefix, region: first(o.Region, "us-east-1"),
		secrets: []string{o.SecretKey, o.SessionToken, o.AccessKey},
	}
	s.addr = "s3://" + o.Bucket
	if o.Prefix != "" {
		s.addr += "/" + o.Prefix
	}
	if err := s3utils.CheckValidBucketNameStrict(o.Bucket); err != nil {
		return nil, fmt.Errorf("open store %q: a bucket's name is 3 to 63 of a-z, 0-9, '-' and '.': %w", withoutSecrets(s.addr), fs.ErrInvalid)
	}
	if o.Prefix != "" && (CheckKey(strings.ToLower(o.Prefix)) != nil || len(o.Prefix) > 256) {
		return nil, fmt.Errorf("open store %q: a prefix is at most 256 of letters, digits, '.', '_', '-', and '/' between them: %w", withoutSecrets(s.addr), fs.ErrInvalid)
	}
	endpoint, err := parseEndpoint(first(o.Endpoint, "https://s3.amazonaws.com"))
	if err != nil {
		return nil, fmt.Errorf("open store %q: %w", s.addr, err)
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, fmt.Errorf("open store %q: an access key and a secret key are needed: %w", s.addr, fs.ErrInvalid)
	}
	if (o.AccessKey == wellKnown || o.SecretKey == wellKnown) && !loopback(endpoint.Hostname()) {
		return nil, fmt.Errorf("open store %q: the server still has the keys it was shipped with, which everyone knows: give it its own: %w", s.addr, fs.ErrInvalid)
	}
	s.endpoint = endpoint
	if o.Endpoint != "" {
		s.addr += " (" + endpoint.Scheme + "://" + endpoint.Host + ")"
	}
	s.transport = newTransport()
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds:      credentials.NewStaticV4(o.AccessKey, o.SecretKey, o.SessionToken),
		Secure:     endpoint.Scheme == "https",
		Region:     s.region,
		Transport:  polite{s.transport},
		MaxRetries: 1, // retries are ours: see do
	})
	if err != nil {
		return nil, fmt.Errorf("open store %q: %s: %w", s.addr, s.clean(err), fs.ErrInvalid)
	}
	s.client = minio.Core{Client: client}
	return s, nil
}

// wellKnown is the key that MinIO has when nobody sets one.
const wellKnown = "minio" + "admin"

type s3 struct {
	client    minio.Core
	transport *http.Transport
	endpoint  *url.URL
	bucket    string
	prefix    string
	region    string
	addr      string   // for messages
	secrets   []string // what no message may hold

	downUntil atomic.Int64 // Unix nanoseconds; until then a request is tried once
	seen      atomic.Bool  // the bucket is known to exist
}

// name is the key's name in the bucket.
func (s *s3) name(key string) string {
	if s.prefix == "" {
		return key
	}
	return s.prefix + "/" + key
}

func (s *s3) String() string { return s.addr }

// Close drops the idle connections. Objects being read stay readable.
func (s *s3) Close() error {
	s.transport.CloseIdleConnections()
	return nil
}

// Warnings names what an eavesdropper could use.
func (s *s3) Warnings() []string {
	if s.endpoint.Scheme == "http" && !loopback(s.endpoint.Hostname()) {
		return []string{"the store " + s.addr + " is reached without TLS: whoever is on the network between can read every session; use https unless that network is private"}
	}
	return []string{}
}

// Ready waits for the server and makes the bucket.
func (s *s3) Ready(ctx context.Context, report func(error, time.Duration)) error {
	limited, cancel := context.WithTimeout(ctx, s3ReadyWait)
	defer cancel()
	var last error
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := s.makeBucket(limited)
		if err == nil {
			s.seen.Store(true)
			s.downUntil.Store(0)
			return nil
		}
		if limited.Err() == nil || last == nil { // else it says no more than that time is up
			last = err
		}
		if limited.Err() == nil {
			if !passing(err) {
				return s.fail(ctx, "prepare", "", err)
			}
			pause := jitter(wait)
			report(s.fail(ctx, "prepare", "", err), pause)
			sleep(limited, pause)
		}
		if limited.Err() != nil {
			return fmt.Errorf("wait for the store: %w", s.fail(ctx, "prepare", "", last))
		}
	}
}

func (s *s3) makeBucket(ctx context.Context) error {
	exists, err := s.client.BucketExists(ctx, s.bucket)
	if err != nil || exists {
		return err
	}
	err = s.client.MakeBucket(ctx, s.bucket, minio.MakeBucketOptions{Region: s.region})
	if errorCode(err) == "BucketAlreadyOwnedByYou" { // another process started at the same moment
		return nil
	}
	return err
}
