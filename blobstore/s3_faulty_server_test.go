package blobstore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"sessdex/blobstore"
	"sessdex/blobstore/miniotest"
)

// A faulty server passes requests on to a sound one, except where fault takes
// them. It keeps the method of every request it saw.
type faulty struct {
	miniotest.Endpoint
	mu    sync.Mutex
	fault func(w http.ResponseWriter, r *http.Request, sound http.Handler) (taken bool)
	seen  []string
}

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	sound := gofakes3.New(s3mem.New()).Server()
	f := &faulty{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.seen = append(f.seen, r.Method)
		fault := f.fault
		f.mu.Unlock()
		if fault == nil || !fault(w, r, sound) {
			sound.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	f.Endpoint = miniotest.Endpoint{URL: server.URL, AccessKey: "someone", SecretKey: "hush" + "hush"}
	return f
}

// set changes the fault and forgets what was seen.
func (f *faulty) set(fault func(http.ResponseWriter, *http.Request, http.Handler) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.seen = fault, nil
}

func (f *faulty) wantSeen(t *testing.T, want ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if fmt.Sprint(f.seen) != fmt.Sprint(want) {
		t.Errorf("the server saw %v, want %v", f.seen, want)
	}
}

// times lets a fault happen n times.
func times(n int, fault func(http.ResponseWriter, *http.Request, http.Handler)) func(http.ResponseWriter, *http.Request, http.Handler) bool {
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request, sound http.Handler) bool {
		mu.Lock()
		n--
		happens := n >= 0
		mu.Unlock()
		if happens {
			fault(w, r, sound)
		}
		return happens
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.Close()
	}
}

// loseAnswer lets the request through and the answer not.
func loseAnswer(w http.ResponseWriter, r *http.Request, sound http.Handler) {
	sound.ServeHTTP(httptest.NewRecorder(), r)
	hangUp(w, r, sound)
}

func answer(code int, body string) func(http.ResponseWriter, *http.Request, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func s3Error(code string) string {
	return "<Error><Code>" + code + "</Code><Message>some words</Message></Error>"
}

// wantUnavailable checks an error that a person has to act on.
func wantUnavailable(t *testing.T, how string, err error, words ...string) {
	t.Helper()
	if !errors.Is(err, blobstore.ErrUnavailable) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, blobstore.ErrLostRace) {
		t.Errorf("%s: %v, want ErrUnavailable and nothing else", how, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v\nlacks %q", how, err, word)
		}
	}
	if strings.Contains(err.Error(), "hushhush") || strings.ContainsAny(err.Error(), "?\n") && !strings.Contains(err.Error(), "is it running?") {
		t.Errorf("%s: the message holds a credential, a query or a line break: %q", how, err)
	}
}

// every runs each operation and hands its error to check.
func every(ctx context.Context, s blobstore.Store, check func(how string, err error)) {
	_, _, err := s.Get(ctx, "k")
	check("Get", err)
	_, err = s.Stat(ctx, "k")
	check("Stat", err)
	for how, cond := range map[string]blobstore.Cond{"Put": {}, "Put IfAbsent": blobstore.IfAbsent(), "Put IfVersion": blobstore.IfVersion("v")} {
		_, err = s.Put(ctx, "k", strings.NewReader("x"), 1, cond)
		check(how, err)
	}
	check("Delete", s.Delete(ctx, "k"))
	for _, err = range s.List(ctx, "") {
		check("List", err)
	}
}

// countingProxy passes bytes between a client and an endpoint and counts those
// that the client sends.
func countingProxy(t *testing.T, e miniotest.Endpoint) (miniotest.Endpoint, func() int64) {
	t.Helper()
	target, err := url.Parse(e.URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var n int64
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		Transport: &http.Transport{ExpectContinueTimeout: 10 * time.Second},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = countBody{r.Body, func(k int) { mu.Lock(); n += int64(k); mu.Unlock() }}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	e.URL = server.URL
	return e, func() int64 { mu.Lock(); defer mu.Unlock(); return n }
}

type countBody struct {
	io.ReadCloser
	count func(int)
}

func (b countBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.count(n)
	return n, err
}
