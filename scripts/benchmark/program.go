package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// program is the built binary with a home of its own.
type program struct{ bin, home string }

// usage is what one run cost.
type usage struct {
	wall, user time.Duration
	rss        int64 // bytes
	code       int
}

func (p *program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.bin, args...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}
	cmd.Stderr = os.Stderr
	return cmd
}

func (p *program) run(args ...string) (usage, []byte, error) {
	cmd := p.command(args...)
	start := time.Now()
	out, err := cmd.Output()
	u := usage{wall: time.Since(start), code: -1}
	if st := cmd.ProcessState; st != nil {
		u.user, u.code, u.rss = st.UserTime(), st.ExitCode(), peak(st)
	}
	if err != nil {
		err = fmt.Errorf("sessdex %s: %w", args[0], err)
	}
	return u, out, err
}

// report is the part of an import's JSON that is shown.
type report struct {
	Parsed  int `json:"parsed"`
	Sources []struct {
		Sessions int `json:"sessions"`
		Turns    int `json:"turns"`
	} `json:"sources"`
}

func (r report) sessions() (n int) {
	for _, s := range r.Sources {
		n += s.Sessions
	}
	return n
}

func (r report) turns() (n int) {
	for _, s := range r.Sources {
		n += s.Turns
	}
	return n
}

// server is a running `sessdex serve`.
type server struct {
	cmd *exec.Cmd
	url string
}

func (p *program) serve() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close()
	cmd := p.command("serve", "--addr", addr)
	cmd.Stderr = nil
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd, "http://" + addr}
	for range 100 {
		if err = s.get("/healthz", nil); err == nil {
			return s, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("the server does not answer: %w", err)
}

func (s *server) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	}
}

func (s *server) get(path string, into any) error {
	resp, err := http.Get(s.url + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", path, resp.Status, raw)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// hit is the part of a search hit that is used here.
type hit struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// sessions lists up to 100 sessions, newest first.
func (s *server) sessions() ([]hit, error) {
	var reply struct {
		Hits []hit `json:"hits"`
	}
	err := s.get("/v1/search?limit=100", &reply)
	if err == nil && len(reply.Hits) == 0 {
		err = fmt.Errorf("no session was imported")
	}
	return reply.Hits, err
}

// measure asks everything twice and keeps the second round.
func (s *server) measure(add func(name, note, format string, args ...any), sessions []hit, asked []string) error {
	var search, pack []time.Duration
	for round := range 3 {
		for _, q := range asked {
			start := time.Now()
			if err := s.get("/v1/search?q="+url.QueryEscape(q), nil); err != nil {
				return err
			}
			if round > 0 {
				search = append(search, time.Since(start))
			}
		}
	}
	add("search, warm server", fmt.Sprintf("%d queries over HTTP; bar: p50 10 ms", len(asked)), "p50 %.1f ms, p95 %.1f ms, p99 %.1f ms", ms(at(search, .5)), ms(at(search, .95)), ms(at(search, .99)))
	for round := range 2 {
		for _, h := range sessions {
			start := time.Now()
			if err := s.get("/v1/sessions/"+h.ID+"/context?max_tokens=8000", nil); err != nil {
				return err
			}
			if round > 0 {
				pack = append(pack, time.Since(start))
			}
		}
	}
	add("context of 8,000 tokens", "over HTTP; bar: p50 30 ms", "p50 %.1f ms, p99 %.1f ms", ms(at(pack, .5)), ms(at(pack, .99)))
	return nil
}

// mcp starts `sessdex mcp` n times and measures from the start to the answer of
// initialize, and to that of a first search.
func (p *program) mcp(n int, query string) (first, call []time.Duration, err error) {
	ask := func(id int, method string, params any) []byte {
		raw, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
		return append(raw, '\n')
	}
	for range n {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		cmd := p.command("mcp")
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if inErr != nil || outErr != nil {
			cancel()
			return nil, nil, fmt.Errorf("mcp: %v, %v", inErr, outErr)
		}
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		start := time.Now()
		if err := cmd.Start(); err != nil {
			cancel()
			return nil, nil, err
		}
		lines := bufio.NewReader(out)
		_, _ = in.Write(ask(1, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}}))
		_, err := lines.ReadBytes('\n')
		first = append(first, time.Since(start))
		if err == nil {
			_, _ = in.Write(ask(2, "tools/call", map[string]any{"name": "search_sessions", "arguments": map[string]any{"query": query}}))
			_, err = lines.ReadBytes('\n')
			call = append(call, time.Since(start))
		}
		in.Close()
		_ = cmd.Wait()
		stop()
		cancel()
		if err != nil {
			return nil, nil, fmt.Errorf("mcp does not answer: %w", err)
		}
	}
	return first, call, nil
}
