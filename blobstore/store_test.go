package blobstore_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"sessdex/blobstore"
	"sessdex/blobstore/miniotest"
	"sessdex/blobstore/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Test(t,
		func(*testing.T) blobstore.Store { return blobstore.NewMemory() },
		func(_ *testing.T, s blobstore.Store, key string) { blobstore.DamageMemory(s, key) })
}

func TestDirectory(t *testing.T) {
	storetest.Test(t,
		func(t *testing.T) blobstore.Store { return openDir(t, t.TempDir()) },
		func(t *testing.T, s blobstore.Store, key string) {
			flipByte(t, filepath.Join(strings.TrimPrefix(s.String(), "file:"), key))
		})
}

func openDir(t testing.TB, dir string) blobstore.Store {
	t.Helper()
	s, err := blobstore.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// flipByte does to a file what a failing disk does: the bytes change, the time
// and the length do not.
func flipByte(t *testing.T, path string) {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, fi.ModTime(), fi.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestFakeS3 runs the suite on a server in this process, which honours
// conditions under one lock. It is quick, and no proof of what a real one does.
func TestFakeS3(t *testing.T) {
	server := httptest.NewUnstartedServer(gofakes3.New(s3mem.New()).Server())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it writes some headers twice
	server.Start()
	t.Cleanup(server.Close)
	testS3(t, miniotest.Endpoint{URL: server.URL, AccessKey: "test", SecretKey: "test" + "test"}, "", "/team/Sessions")
}

// TestMinIO runs the suite on the real server.
func TestMinIO(t *testing.T) { testS3(t, miniotest.Start(t), "/team/Sessions") }

func testS3(t *testing.T, e miniotest.Endpoint, prefixes ...string) {
	for _, prefix := range prefixes {
		t.Run("prefix="+prefix, func(t *testing.T) {
			var bucket string
			storetest.Test(t,
				func(t *testing.T) blobstore.Store {
					bucket = newBucket()
					return openS3(t, e, "s3://"+bucket+prefix)
				},
				func(t *testing.T, _ blobstore.Store, key string) {
					damageS3(t, e, bucket, strings.TrimPrefix(prefix+"/"+key, "/"))
				})
		})
	}
}

var buckets atomic.Int32

func newBucket() string { return fmt.Sprintf("bucket-%d", buckets.Add(1)) }

func openS3(t testing.TB, e miniotest.Endpoint, addr string) blobstore.Store {
	t.Helper()
	s, err := blobstore.Open(addr, e.Env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := blobstore.Ready(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	return s
}

func rawS3(t *testing.T, e miniotest.Endpoint) *minio.Client {
	t.Helper()
	c, err := minio.New(strings.TrimPrefix(e.URL, "http://"), &minio.Options{
		Creds: credentials.NewStaticV4(e.AccessKey, e.SecretKey, ""), Region: "us-east-1"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// damageS3 stores other bytes under the metadata of the first ones.
func damageS3(t *testing.T, e miniotest.Endpoint, bucket, name string) {
	t.Helper()
	c := rawS3(t, e)
	info, err := c.StatObject(t.Context(), bucket, name, minio.StatObjectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if info.UserMetadata["Sha256"] == "" {
		t.Fatal("Put recorded no SHA-256")
	}
	data := bytes.Repeat([]byte("x"), int(info.Size))
	_, err = c.PutObject(t.Context(), bucket, name, bytes.NewReader(data), info.Size, minio.PutObjectOptions{UserMetadata: info.UserMetadata, DisableMultipart: true})
	if err != nil {
		t.Fatal(err)
	}
}
