package blobstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

const accepted = `use a folder, "file:FOLDER", "s3://BUCKET" or "s3://BUCKET/PREFIX", or "mem:"`

var schemeLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// Open opens the store at an address:
//
//	DIR, file:DIR, file:///DIR   a folder, made where it is missing (OpenDir)
//	s3://BUCKET[/PREFIX]         MinIO or any S3 (OpenS3)
//	mem:                         memory, gone with the process
//
// env gives the settings of S3 by their usual names: AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL (none: Amazon), AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_SESSION_TOKEN, and AWS_REGION or AWS_DEFAULT_REGION (none: us-east-1).
// Open does not use the network; see Ready. Its errors are for the person who
// wrote the address and wrap fs.ErrInvalid.
func Open(addr string, env func(string) string) (Store, error) {
	switch {
	case addr == "":
		return nil, fmt.Errorf("open store: no address given: %s: %w", accepted, fs.ErrInvalid)
	case addr == "mem:":
		return NewMemory(), nil
	case strings.HasPrefix(addr, "s3://"):
		o, err := s3Options(addr, env)
		if err != nil {
			return nil, err
		}
		return OpenS3(o)
	}
	dir, err := folder(addr)
	if err != nil {
		return nil, err
	}
	return OpenDir(dir)
}

// Address checks an address as Open does, without making or opening anything, and
// gives one that means the same store in any working folder.
func Address(addr string, env func(string) string) (string, error) {
	if addr == "" || addr == "mem:" || strings.HasPrefix(addr, "s3://") {
		s, err := Open(addr, env)
		if err != nil {
			return "", err
		}
		return addr, s.Close()
	}
	dir, err := folder(addr)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("open store %s: %w", addr, err)
	}
	return "file:" + dir, nil
}

// folder reads the address of a directory store.
func folder(addr string) (string, error) {
	dir, isFile := strings.CutPrefix(addr, "file:")
	if rest, ok := strings.CutPrefix(dir, "//"); isFile && ok {
		if !strings.HasPrefix(rest, "/") {
			return "", fmt.Errorf("open store %q: a file address has three slashes or none: %s: %w", addr, accepted, fs.ErrInvalid)
		}
		if dir = rest; runtime.GOOS == "windows" {
			dir = strings.TrimPrefix(dir, "/") // file:///C:/sessions
		}
	}
	switch {
	case !isFile && schemeLike.MatchString(addr):
		return "", fmt.Errorf("open store %q: unknown kind of store: %s: %w", withoutSecrets(addr), accepted, fs.ErrInvalid)
	case dir == "":
		return "", fmt.Errorf("open store %q: the folder has no name: %s: %w", addr, accepted, fs.ErrInvalid)
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return "", fmt.Errorf("open store %q: write the folder out, ~ means nothing here: %w", addr, fs.ErrInvalid)
	case strings.ContainsRune(dir, 0):
		return "", fmt.Errorf("open store %q: a folder's name holds no NUL: %w", addr, fs.ErrInvalid)
	}
	return filepath.FromSlash(dir), nil
}

// withoutSecrets drops what an address may carry before an @ and after a ?.
func withoutSecrets(addr string) string {
	addr, _, _ = strings.Cut(addr, "?")
	if i := strings.LastIndexByte(addr, '@'); i >= 0 {
		addr = "…" + addr[i:]
	}
	return addr
}

// s3Options reads the address and the environment of an S3 store.
func s3Options(addr string, env func(string) string) (S3Options, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(addr, "s3://"), "/")
	o := S3Options{
		Bucket:       bucket,
		Prefix:       strings.TrimSuffix(prefix, "/"),
		Endpoint:     first(env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL")),
		Region:       first(env("AWS_REGION"), env("AWS_DEFAULT_REGION")),
		AccessKey:    env("AWS_ACCESS_KEY_ID"),
		SecretKey:    env("AWS_SECRET_ACCESS_KEY"),
		SessionToken: env("AWS_SESSION_TOKEN"),
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return o, fmt.Errorf("open store %q: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: %w", withoutSecrets(addr), fs.ErrInvalid)
	}
	return o, nil
}

func first(values ...string) string {
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			return v
		}
	}
	return ""
}

// parseEndpoint accepts http://HOST[:PORT] and https://HOST[:PORT]. It never
// repeats the text in its error: people paste credentials into URLs.
func parseEndpoint(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "" ||
		u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the S3 endpoint (AWS_ENDPOINT_URL_S3) must be http://HOST:PORT or https://HOST:PORT and nothing more: %w", fs.ErrInvalid)
	}
	return u, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Ready makes the store usable: it waits for it, with growing pauses, until ctx
// ends or 30 seconds have passed, and makes an S3 bucket that is missing. Before
// each pause it calls report, unless nil, with what is wrong and how long it
// waits. What waiting cannot cure, such as a wrong key, is returned at once.
// Errors are ErrUnavailable, or the context's.
func Ready(ctx context.Context, s Store, report func(err error, wait time.Duration)) error {
	r, ok := s.(interface {
		Ready(context.Context, func(error, time.Duration)) error
	})
	if !ok { // memory
		return ctx.Err()
	}
	if report == nil {
		report = func(error, time.Duration) {}
	}
	return r.Ready(ctx, report)
}

// Warnings lists what is unsafe about how a store is reached, a sentence each.
func Warnings(s Store) []string {
	if w, ok := s.(interface{ Warnings() []string }); ok {
		return w.Warnings()
	}
	return []string{}
}

// Probe proves that the store keeps conditional writes apart, which some S3
// servers silently do not: it writes, refuses to overwrite, replaces, reads and
// removes one small object. A nil error means that it does.
func Probe(ctx context.Context, s Store) (err error) {
	key := ".probe-" + strings.ToLower(rand.Text())
	put := func(text string, cond Cond) (Info, error) {
		return s.Put(ctx, key, strings.NewReader(text), int64(len(text)), cond)
	}
	defer func() { err = errors.Join(err, s.Delete(context.WithoutCancel(ctx), key)) }()
	one, err := put("one", IfAbsent())
	if err != nil {
		return fmt.Errorf("probe %s: %w", s, err)
	}
	if _, err = put("two", IfAbsent()); !errors.Is(err, ErrLostRace) {
		return probed(s, "creates an object that is there", err)
	}
	two, err := put("two", IfVersion(one.Version))
	if err != nil {
		return fmt.Errorf("probe %s: %w", s, err)
	}
	if _, err = put("three", IfVersion(one.Version)); !errors.Is(err, ErrLostRace) {
		return probed(s, "replaces an object that has changed", err)
	}
	if now, err := s.Stat(ctx, key); err != nil || now.Version != two.Version {
		return probed(s, "does not have what was written last", err)
	}
	return nil
}

func probed(s Store, does string, err error) error {
	if err != nil {
		return fmt.Errorf("probe %s: %w", s, err)
	}
	return fmt.Errorf("probe %s: %w: it %s: it cannot keep sessions safely", s, ErrUnavailable, does)
}
