package blobstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sessdex/blobstore"
)

func TestOpenAddresses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "hush" + "hush"}
	with := func(more ...string) map[string]string {
		m := map[string]string{}
		for k, v := range keys {
			m[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	shipped := "minio" + "admin"
	const endpoint = "AWS_ENDPOINT_URL_S3"
	tests := []struct {
		addr string
		env  map[string]string
		want string // String(), or a part of the error after "!"
	}{
		{"mem:", nil, "mem:"},
		{filepath.Join(dir, "a"), nil, "file:" + filepath.Join(dir, "a")},
		{"file:" + filepath.Join(dir, "b"), nil, "file:" + filepath.Join(dir, "b")},
		{"file://" + filepath.ToSlash(filepath.Join(dir, "c")), nil, "file:" + filepath.Join(dir, "c")},
		{"file:rel/d", nil, "file:" + filepath.Join(dir, "rel", "d")},
		{"rel/e", nil, "file:" + filepath.Join(dir, "rel", "e")},
		{"", nil, "!no address given"},
		{"file:", nil, "!the folder has no name"},
		{"file://host/share", nil, "!three slashes"},
		{"~/sessions", nil, "!~ means nothing"},
		{"file:~/sessions", nil, "!~ means nothing"},
		{"gs://bucket", nil, `!use a folder, "file:FOLDER", "s3://BUCKET"`},
		{"https://user:pass" + "word@host/b?sig=abc", nil, "!unknown kind of store"},
		{"s3:bucket", nil, "!unknown kind of store"},
		{"S3://bucket", nil, "!unknown kind of store"},
		{"s3://bucket", nil, "!set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"s3://bucket", with(), "s3://bucket"},
		{"s3://bucket/", with(), "s3://bucket"},
		{"s3://bucket/a/B/", with(), "s3://bucket/a/B"},
		{"s3://bucket/a", with(endpoint, "http://127.0.0.1:9000"), "s3://bucket/a (http://127.0.0.1:9000)"},
		{"s3://bucket", with("AWS_ENDPOINT_URL", "https://s3.example/"), "s3://bucket (https://s3.example)"},
		{"s3://bucket", with("AWS_ENDPOINT_URL", "https://no.example", endpoint, "https://s3.example"), "s3://bucket (https://s3.example)"},
		{"s3://", with(), "!a bucket's name"},
		{"s3://Bucket", with(), "!a bucket's name"},
		{"s3://bucket/../x", with(), "!a prefix is"},
		{"s3://bucket//x", with(), "!a prefix is"},
		{"s3://bucket", with(endpoint, "localhost:9000"), "!must be http://HOST:PORT"},
		{"s3://bucket", with(endpoint, "http://user:pass"+"word@host"), "!must be http://HOST:PORT"},
		{"s3://bucket", with(endpoint, "http://host/path"), "!must be http://HOST:PORT"},
		{"s3://bucket", with(endpoint, "http://host:9000", "AWS_SECRET_ACCESS_KEY", shipped), "!keys it was shipped with"},
		{"s3://bucket", with(endpoint, "http://localhost:9000", "AWS_SECRET_ACCESS_KEY", shipped), "s3://bucket (http://localhost:9000)"},
	}
	for _, test := range tests {
		s, err := blobstore.Open(test.addr, func(name string) string { return test.env[name] })
		want, fails := strings.CutPrefix(test.want, "!")
		switch {
		case fails && err == nil:
			t.Errorf("Open(%q): no error, want %q", test.addr, want)
		case fails:
			if !strings.Contains(err.Error(), want) || !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("Open(%q): %v\nwant %q and fs.ErrInvalid", test.addr, err, want)
			}
			for _, secret := range []string{"password", "sig=", "hushhush"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("Open(%q) repeats %q: %v", test.addr, secret, err)
				}
			}
		case err != nil:
			t.Errorf("Open(%q): %v", test.addr, err)
		case s.String() != want:
			t.Errorf("Open(%q) is %q, want %q", test.addr, s, want)
		}
		if s != nil {
			s.Close()
		}
	}
}

func TestOpenIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blobstore.OpenDir(file); !errors.Is(err, blobstore.ErrUnavailable) || !strings.Contains(err.Error(), file) {
		t.Errorf("OpenDir of a file: %v, want ErrUnavailable and its path", err)
	}
}

func TestWarnings(t *testing.T) {
	for endpoint, want := range map[string]int{
		"http://127.0.0.1:9000": 0, "http://localhost": 0, "http://[::1]:9000": 0, "https://s3.example": 0, "": 0,
		"http://s3.example": 1, "http://10.0.0.1:9000": 1,
	} {
		s, err := blobstore.OpenS3(blobstore.S3Options{Bucket: "bucket", Endpoint: endpoint, AccessKey: "a", SecretKey: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if got := blobstore.Warnings(s); len(got) != want {
			t.Errorf("%q: warnings %q, want %d", endpoint, got, want)
		}
		s.Close()
	}
	if got := blobstore.Warnings(blobstore.NewMemory()); got == nil || len(got) != 0 {
		t.Errorf("memory: warnings %v, want an empty list", got)
	}
}

func TestAddressIsTheSameEverywhere(t *testing.T) {
	t.Chdir(t.TempDir())
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) string {
		return map[string]string{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}[name]
	}
	for in, want := range map[string]string{
		"den":                     "file:" + filepath.Join(wd, "den"),
		"file:../den":             "file:" + filepath.Join(filepath.Dir(wd), "den"),
		"file:" + wd:              "file:" + wd,
		"s3://stoat-den/of/stoat": "s3://stoat-den/of/stoat",
	} {
		if got, err := blobstore.Address(in, env); err != nil || got != want {
			t.Errorf("Address(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "ftp://x", "file:", "s3://", "s3://UPPER"} {
		if got, err := blobstore.Address(in, env); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Address(%q) = %q, %v", in, got, err)
		}
	}
	if entries, _ := os.ReadDir(wd); len(entries) > 0 {
		t.Errorf("it made %v", entries)
	}
}
