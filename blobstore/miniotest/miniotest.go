// Package miniotest runs a real MinIO server for a test: a separate process on
// a free port of 127.0.0.1, with a temporary folder and credentials made at run
// time, gone when the test ends.
package miniotest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// An Endpoint is a running server and the keys to it.
type Endpoint struct {
	URL       string // http://127.0.0.1:PORT
	AccessKey string
	SecretKey string
	Region    string

	server *server
}

// Env answers for the settings of S3 by their usual names, as blobstore.Open
// wants them, and is empty for every other name.
func (e Endpoint) Env(name string) string {
	switch name {
	case "AWS_ENDPOINT_URL_S3":
		return e.URL
	case "AWS_ACCESS_KEY_ID":
		return e.AccessKey
	case "AWS_SECRET_ACCESS_KEY":
		return e.SecretKey
	case "AWS_REGION":
		return e.Region
	}
	return ""
}

// Environ is the same as KEY=VALUE for a child process.
func (e Endpoint) Environ() []string {
	var all []string
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} {
		all = append(all, name+"="+e.Env(name))
	}
	return all
}

// Start runs a server for the length of a test. It takes the program named by
// SESSDEX_MINIO, or minio in PATH, in GOPATH's bin or in .cache/bin of this
// repository (scripts/install-minio puts it there). Without one the test is
// skipped, and fails when SESSDEX_REQUIRE_MINIO is 1.
func Start(t testing.TB) Endpoint {
	t.Helper()
	bin, err := find()
	if err != nil {
		if os.Getenv("SESSDEX_REQUIRE_MINIO") == "1" {
			t.Fatalf("SESSDEX_REQUIRE_MINIO is 1: %v", err)
		}
		t.Skipf("needs a real MinIO: %v", err)
	}
	e := Endpoint{
		AccessKey: "t" + strings.ToLower(rand.Text()[:15]),
		SecretKey: rand.Text() + rand.Text()[:10],
		Region:    "us-east-1",
	}
	// Another process may take the free port before the server does.
	for range 5 {
		s := &server{bin: bin, dir: tempDir(t), addr: freeAddr(t)}
		if err = s.start(e); err == nil {
			t.Cleanup(s.Stop)
			e.URL, e.server = "http://"+s.addr, s
			return e
		}
	}
	t.Fatalf("start %s: %v", bin, err)
	return e
}

// Stop kills the server, as a power cut would; Resume starts it again on the
// same port and folder.
func (e Endpoint) Stop() { e.server.Stop() }

// Resume starts a stopped server and waits until it answers.
func (e Endpoint) Resume(t testing.TB) {
	t.Helper()
	if err := e.server.start(e); err != nil {
		t.Fatalf("resume %s: %v", e.server.bin, err)
	}
}

func find() (string, error) {
	name := "minio"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if bin := os.Getenv("SESSDEX_MINIO"); bin != "" {
		_, err := os.Stat(bin)
		return bin, err
	}
	if bin, err := exec.LookPath(name); err == nil {
		return bin, nil
	}
	var places []string
	if out, err := exec.Command("go", "env", "GOPATH").Output(); err == nil {
		for _, dir := range filepath.SplitList(strings.TrimSpace(string(out))) {
			places = append(places, filepath.Join(dir, "bin"))
		}
	}
	if out, err := exec.Command("go", "env", "GOMOD").Output(); err == nil {
		places = append(places, filepath.Join(filepath.Dir(strings.TrimSpace(string(out))), ".cache", "bin"))
	}
	for _, dir := range places {
		if bin := filepath.Join(dir, name); executable(bin) {
			return bin, nil
		}
	}
	return "", fmt.Errorf("no minio in SESSDEX_MINIO, in PATH or in %s: run scripts/install-minio", strings.Join(places, ", "))
}

func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// tempDir is t.TempDir with a removal that is tried again: a killed server may
// still be closing its files.
func tempDir(t testing.TB) string {
	dir, err := os.MkdirTemp("", "sessdex-minio-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 20 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Errorf("%s could not be removed", dir)
	})
	return dir
}

func freeAddr(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

type server struct {
	bin, dir, addr string

	mu  sync.Mutex
	cmd *exec.Cmd
	out *os.File
}

// start runs the server and waits until it serves. Its home is its own folder,
// and of the environment it gets nothing but PATH.
func (s *server) start(e Endpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := os.Create(filepath.Join(s.dir, "output"))
	if err != nil {
		return err
	}
	cmd := exec.Command(s.bin, "server", "--quiet", "--address", s.addr, "--console-address", "127.0.0.1:0", filepath.Join(s.dir, "data"))
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "MINIO_ROOT_USER=" + e.AccessKey, "MINIO_ROOT_PASSWORD=" + e.SecretKey,
		"MINIO_REGION=" + e.Region, "MINIO_BROWSER=off", "MINIO_UPDATE=off", "MINIO_CALLHOME_ENABLE=off",
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		out.Close()
		return err
	}
	s.cmd, s.out = cmd, out
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	for !serves(ctx, s.addr) {
		select {
		case <-exited:
			return fmt.Errorf("it ended at once: %s", s.said())
		case <-ctx.Done():
			s.kill()
			return fmt.Errorf("it does not serve after a minute: %s", s.said())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// serves asks for readiness to write, which comes after the port is open.
func serves(ctx context.Context, addr string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/minio/health/cluster", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (s *server) said() string {
	data, _ := os.ReadFile(filepath.Join(s.dir, "output"))
	return strings.TrimSpace(string(data[max(0, len(data)-2000):]))
}

// Stop kills the server; a second call does nothing.
func (s *server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}

func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Kill()
	for range 100 { // until the port is free again
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		c.Close()
		time.Sleep(20 * time.Millisecond)
	}
	s.out.Close()
	s.cmd = nil
}
