package blobstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sessdex/blobstore"
	"sessdex/blobstore/miniotest"
)

func TestS3RetriesWhatPasses(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	for name, fault := range map[string]func(http.ResponseWriter, *http.Request, http.Handler){
		"503": answer(503, s3Error("SlowDown")), "500 without words": answer(500, ""), "a closed connection": hangUp, "429": answer(429, ""),
	} {
		f.set(times(3, fault))
		putText(t, s, "k", "text", blobstore.Cond{})
		f.wantSeen(t, "PUT", "PUT", "PUT", "PUT")
		f.set(times(2, fault))
		if got := getText(t, s, "k"); got != "text" {
			t.Errorf("after %s, Get reads %q", name, got)
		}
		f.wantSeen(t, "GET", "GET", "GET")
	}
}

func TestS3GivesUp(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	f.set(times(1000, answer(503, s3Error("SlowDown"))))
	_, err := s.Stat(t.Context(), "k")
	wantUnavailable(t, "Stat", err, "503", f.URL, "try again")
	f.wantSeen(t, "HEAD", "HEAD", "HEAD", "HEAD")

	// What does not answer is not waited for again and again.
	f.set(times(1000, hangUp))
	for range 5 {
		_, err = s.Put(t.Context(), "k", strings.NewReader("x"), 1, blobstore.Cond{})
		wantUnavailable(t, "Put", err, f.URL)
	}
	f.wantSeen(t, "PUT", "PUT", "PUT", "PUT", "PUT", "PUT", "PUT", "PUT")
}

func TestS3DoesNotRetryWhatStays(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	for _, test := range []struct {
		status int
		code   string
		words  string
	}{
		{403, "AccessDenied", "must be allowed to"},
		{403, "InvalidAccessKeyId", "AWS_ACCESS_KEY_ID"},
		{403, "SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"},
		{403, "RequestTimeTooSkewed", "clocks"},
		{400, "ExpiredToken", "get new credentials"},
		{400, "AuthorizationHeaderMalformed", "AWS_REGION"},
		{501, "NotImplemented", "conditional writes"},
		{507, "XMinioStorageFull", "free some space"},
		{404, "NoSuchBucket", "make the bucket"},
	} {
		f.set(times(1000, answer(test.status, s3Error(test.code))))
		_, _, err := s.Get(t.Context(), "k")
		wantUnavailable(t, test.code, err, test.words, f.URL, fmt.Sprint(test.status))
		f.wantSeen(t, "GET")
	}
}

// TestS3LostAnswer: a PUT went through and its answer did not. The second try is
// refused by the object of the first, which is no lost race.
func TestS3LostAnswer(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	f.set(times(1, loseAnswer))
	one := putText(t, s, "k", "first", blobstore.IfAbsent())
	f.wantSeen(t, "PUT", "PUT", "HEAD")
	f.set(times(1, loseAnswer))
	two := putText(t, s, "k", "second", blobstore.IfVersion(one.Version))
	f.wantSeen(t, "PUT", "PUT", "HEAD")
	if now, err := s.Stat(t.Context(), "k"); err != nil || now.Version != two.Version {
		t.Errorf("the object is version %q, %v, and Put said %q", now.Version, err, two.Version)
	}
	// The same when the object is someone else's, with the very same bytes.
	f.set(times(1, hangUp))
	_, err := s.Put(t.Context(), "k", strings.NewReader("second"), 6, blobstore.IfAbsent())
	if !errors.Is(err, blobstore.ErrLostRace) {
		t.Errorf("Put over another's object: %v, want ErrLostRace", err)
	}
}

// TestS3BrokenDownload cuts the connection in the middle of objects.
func TestS3BrokenDownload(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	text := strings.Repeat("0123456789abcdef", 1<<16)
	putText(t, s, "k", text, blobstore.Cond{})
	cut := func(w http.ResponseWriter, r *http.Request, sound http.Handler) {
		rec := httptest.NewRecorder()
		sound.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes()[:rec.Body.Len()/3])
		hangUp(w, r, sound)
	}
	f.set(times(3, cut))
	if getText(t, s, "k") != text {
		t.Error("the parts do not make the whole")
	}
	f.wantSeen(t, "GET", "GET", "GET", "GET")

	f.set(times(1000, cut))
	r, _, err := s.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	wantUnavailable(t, "a download that always breaks", err)
	f.wantSeen(t, "GET", "GET", "GET", "GET")

	// Another object in the middle of this one must not be glued to it.
	f.set(times(1, cut))
	r, _, err = s.Get(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f.set(nil)
	putText(t, s, "k", strings.ToUpper(text), blobstore.Cond{})
	if _, err = io.Copy(io.Discard, r); !errors.Is(err, blobstore.ErrLostRace) {
		t.Errorf("an object that was replaced while it was read: %v, want ErrLostRace", err)
	}
}

// TestS3NotThere: neither a missing bucket nor a server of another kind may look
// like a library without sessions.
func TestS3NotThere(t *testing.T) {
	f := newFaulty(t)
	s, err := blobstore.Open("s3://missing", f.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	every(t.Context(), s, func(how string, err error) {
		wantUnavailable(t, how+" in a missing bucket", err, "s3://missing", f.URL)
	})
	f.set(times(1000, answer(404, "<html>not found</html>")))
	every(t.Context(), s, func(how string, err error) {
		wantUnavailable(t, how+" of a web server", err, f.URL)
	})
}

func TestS3Unreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for endpoint, words := range map[string]string{
		"http://" + closed: "is it running?",
		tls.URL:            "trusts the certificate",
		strings.Replace(tls.URL, "https", "http", 1):   "check http or https",
		strings.Replace(plain.URL, "http", "https", 1): "check http or https",
		"http://no-such-host.invalid:9000":             "no-such-host.invalid",
	} {
		e := miniotest.Endpoint{URL: endpoint, AccessKey: "someone", SecretKey: "hush" + "hush"}
		s, err := blobstore.Open("s3://bucket", e.Env)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Stat(t.Context(), "k")
		wantUnavailable(t, endpoint, err, endpoint, words)
		s.Close()
	}
}

// TestS3KeepsSecrets has a server that repeats what it was told.
func TestS3KeepsSecrets(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	for _, body := range []string{"%s", "<Error><Code>Odd</Code><Message>%s\n\x1b[2J</Message></Error>"} {
		f.set(times(1000, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			w.WriteHeader(400)
			fmt.Fprintf(w, body, "you are someone, hushhush, with "+r.Header.Get("Authorization"))
		}))
		_, _, err := s.Get(t.Context(), "k")
		wantUnavailable(t, "Get", err)
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n") || strings.Contains(err.Error(), "someone") {
			t.Errorf("the message repeats what the server said: %q", err)
		}
	}
}

// TestS3ServerWithoutConditions: Probe finds a server that ignores them.
func TestS3ServerWithoutConditions(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	if err := blobstore.Probe(t.Context(), s); err != nil {
		t.Errorf("a sound server: %v", err)
	}
	for _, header := range []string{"If-None-Match", "If-Match"} {
		f.set(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			r.Header.Del(header)
			return false
		})
		wantUnavailable(t, "Probe without "+header, blobstore.Probe(t.Context(), s), "cannot keep sessions safely")
	}
	if got := list(t, s, ""); len(got) != 0 {
		t.Errorf("Probe leaves %q", got)
	}
}

func TestS3ListOutOfOrder(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	f.set(times(1000, answer(200, `<ListBucketResult><IsTruncated>false</IsTruncated>`+
		`<Contents><Key>b</Key><ETag>"1"</ETag></Contents><Contents><Key>a</Key><ETag>"2"</ETag></Contents></ListBucketResult>`)))
	var last error
	n := 0
	for _, err := range s.List(t.Context(), "") {
		n, last = n+1, err
	}
	wantUnavailable(t, "List", last, `lists "a" after "b"`)
	if n != 2 {
		t.Errorf("List yields %d times", n)
	}
}

// TestS3ListGoesOn breaks the second page of a listing.
func TestS3ListGoesOn(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	const n = 1500
	for i := range n {
		putText(t, s, fmt.Sprintf("k/%04d", i), "", blobstore.Cond{})
	}
	pages := 0
	f.set(func(w http.ResponseWriter, r *http.Request, sound http.Handler) bool {
		if pages++; pages == 2 || pages == 3 {
			hangUp(w, r, sound)
			return true
		}
		return false
	})
	if got := list(t, s, "k/"); len(got) != n || got[0] != "k/0000" || got[n-1] != "k/1499" {
		t.Errorf("listed %d of %d", len(got), n)
	}
}

func TestReadyWaits(t *testing.T) {
	f := newFaulty(t)
	s, err := blobstore.Open("s3://bucket", f.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.set(times(3, answer(503, s3Error("XMinioServerNotInitialized"))))
	reports := 0
	err = blobstore.Ready(t.Context(), s, func(err error, wait time.Duration) {
		reports++
		wantUnavailable(t, "report", err, f.URL, "503")
		if wait <= 0 || wait > 5*time.Second {
			t.Errorf("pause of %v", wait)
		}
	})
	if err != nil || reports != 3 {
		t.Errorf("Ready: %v after %d reports, want none after 3", err, reports)
	}
	putText(t, s, "k", "the bucket is there", blobstore.IfAbsent())
	if err := blobstore.Ready(t.Context(), s, nil); err != nil {
		t.Errorf("Ready a second time: %v", err)
	}
}

func TestReadyGivesUp(t *testing.T) {
	f := newFaulty(t)
	s, err := blobstore.Open("s3://bucket", f.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f.set(times(1000, answer(403, s3Error("InvalidAccessKeyId"))))
	err = blobstore.Ready(t.Context(), s, func(err error, _ time.Duration) { t.Errorf("waits for what stays: %v", err) })
	wantUnavailable(t, "Ready with a wrong key", err, "AWS_ACCESS_KEY_ID", f.URL)

	f.set(times(1000, hangUp))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err = blobstore.Ready(ctx, s, nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), f.URL) {
		t.Errorf("Ready until the context ends: %v, want that and the address", err)
	}
}

// TestS3SourceIsFree: once Put has returned, nothing reads the caller's reader.
func TestS3SourceIsFree(t *testing.T) {
	f := newFaulty(t)
	s := openS3(t, f.Endpoint, "s3://bucket")
	f.set(times(1000, func(w http.ResponseWriter, r *http.Request, sound http.Handler) {
		io.ReadFull(r.Body, make([]byte, 100))
		hangUp(w, r, sound)
	}))
	data := bytes.Repeat([]byte("x"), 4<<20)
	_, err := s.Put(t.Context(), "k", bytes.NewReader(data), int64(len(data)), blobstore.Cond{})
	wantUnavailable(t, "Put", err)
	clear(data) // the race detector sees who else reads it
}
