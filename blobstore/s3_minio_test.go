package blobstore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sessdex/blobstore"
	"sessdex/blobstore/miniotest"
)

// TestMinIOLostCreateSendsNothing: who comes too late with a large object is
// told so before sending it.
func TestMinIOLostCreateSendsNothing(t *testing.T) {
	e, sent := countingProxy(t, miniotest.Start(t))
	s := openS3(t, e, "s3://bucket")
	text := strings.Repeat("x", 5<<20)
	putText(t, s, "k", text, blobstore.IfAbsent())
	before := sent()
	if before < int64(len(text)) {
		t.Fatalf("%d bytes were counted of an object of %d", before, len(text))
	}
	_, err := s.Put(t.Context(), "k", strings.NewReader(text), int64(len(text)), blobstore.IfAbsent())
	if !errors.Is(err, blobstore.ErrLostRace) {
		t.Errorf("Put: %v, want ErrLostRace", err)
	}
	if n := sent() - before; n > 0 {
		t.Errorf("%d bytes were sent for nothing", n)
	}
}

// TestMinIOKilled stops the server without warning and starts it again.
func TestMinIOKilled(t *testing.T) {
	e := miniotest.Start(t)
	s := openS3(t, e, "s3://bucket")
	for i := range 20 {
		putText(t, s, fmt.Sprintf("k/%02d", i), fmt.Sprintf("text %d", i), blobstore.IfAbsent())
	}
	e.Stop()
	every(t.Context(), s, func(how string, err error) {
		wantUnavailable(t, how+" while the server is down", err, e.URL, "is it running?")
	})
	e.Resume(t)
	if err := blobstore.Ready(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if got := getText(t, s, fmt.Sprintf("k/%02d", i)); got != fmt.Sprintf("text %d", i) {
			t.Errorf("object %d reads %q", i, got)
		}
	}
}

// TestMinIORefuses uses what the real server says.
func TestMinIORefuses(t *testing.T) {
	e := miniotest.Start(t)
	missing, err := blobstore.Open("s3://missing", e.Env)
	if err != nil {
		t.Fatal(err)
	}
	defer missing.Close()
	every(t.Context(), missing, func(how string, err error) {
		wantUnavailable(t, how+" in a missing bucket", err, "s3://missing", e.URL, "make the bucket")
	})
	for name, wrong := range map[string]miniotest.Endpoint{
		"key":    {URL: e.URL, AccessKey: "nobody", SecretKey: e.SecretKey},
		"secret": {URL: e.URL, AccessKey: e.AccessKey, SecretKey: "hush" + "hush"},
	} {
		s, err := blobstore.Open("s3://bucket", wrong.Env)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		err = blobstore.Ready(t.Context(), s, func(err error, _ time.Duration) { t.Errorf("waits for what stays: %v", err) })
		wantUnavailable(t, "Ready with a wrong "+name, err, e.URL, "HTTP 403")
		for _, err := range s.List(t.Context(), "") {
			wantUnavailable(t, "List with a wrong "+name, err, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
	}
}

// BenchmarkMinIO puts, lists and gets cards of 4 KB, one at a time.
func BenchmarkMinIO(b *testing.B) {
	s := openS3(b, miniotest.Start(b), "s3://bucket")
	text := strings.Repeat("x", 4096)
	n := 0
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			putText(b, s, fmt.Sprintf("ws/cards/%012d.json", n), text, blobstore.IfAbsent())
			n++
		}
	})
	b.Run("get", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			getText(b, s, fmt.Sprintf("ws/cards/%012d.json", i%n))
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if got := len(list(b, s, "")); got != n {
				b.Fatalf("listed %d of %d", got, n)
			}
		}
		b.ReportMetric(float64(n), "objects")
	})
}
