package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"
)

// clientWait is how long a client of the tests waits for an answer: far more than
// any takes, so that only a program that hangs runs into it.
const clientWait = 2 * time.Minute

// fetchMain is `fetch URL`: it waits until somebody listens there, prints the
// status and the body, and ends with 0 where the status is 200.
func fetchMain(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: fetch URL")
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), clientWait)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, args[0], nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		resp, err := client.Do(req)
		if err != nil {
			if ctx.Err() != nil {
				fmt.Fprintln(os.Stderr, err)
				return 3
			}
			time.Sleep(20 * time.Millisecond)
			continue
		}
		defer resp.Body.Close()
		fmt.Fprintln(os.Stderr, resp.Status)
		if _, err := io.Copy(os.Stdout, resp.Body); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 3
		}
		if resp.StatusCode != http.StatusOK {
			return 1
		}
		return 0
	}
}

// mcpMain is `mcptool`, which prints what a server says of itself and its tools
// as one JSON object, and `mcptool NAME ARGUMENTS`, which calls a tool and prints
// the text it answers; it ends with 1 where that is an error. The server is
// `sessdex mcp`, started for the call as an agent's window does.
func mcpMain(args []string) int {
	ctx, cancel := context.WithTimeout(context.Background(), clientWait)
	defer cancel()
	c, err := startMCP(ctx, "sessdex", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	code := 0
	switch len(args) {
	case 0:
		var tools gjson.Result
		if tools, err = c.request("tools/list", map[string]any{}); err == nil {
			fmt.Printf("{\"server\":%s,\"list\":%s}\n", c.about.Raw, tools.Raw)
		}
	case 2:
		var text string
		if text, err = c.call(args[0], json.RawMessage(args[1])); err == nil {
			fmt.Print(text)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: mcptool [NAME ARGUMENTS]")
		return 2
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := c.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return code
}

// An mcpClient talks to one `sessdex mcp`. It is for one goroutine.
type mcpClient struct {
	about gjson.Result // the answer to initialize
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	said  bytes.Buffer // on stderr
	last  int
}

// startMCP starts a program's server, with further environment, and shakes hands.
func startMCP(ctx context.Context, program string, env []string) (*mcpClient, error) {
	c := &mcpClient{cmd: exec.CommandContext(ctx, program, "mcp")}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Cancel = func() error { return c.cmd.Process.Signal(syscall.SIGTERM) }
	c.cmd.WaitDelay = 10 * time.Second
	c.cmd.Stderr = &c.said
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	c.about, err = c.request("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	if err == nil {
		err = c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *mcpClient) send(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.in.Write(append(line, '\n'))
	return err
}

// request sends one request and gives its result. Nothing but JSON may come.
func (c *mcpClient) request(method string, params any) (gjson.Result, error) {
	c.last++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params}); err != nil {
		return gjson.Result{}, fmt.Errorf("ask %s: %w", method, err)
	}
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return gjson.Result{}, fmt.Errorf("wait for %s: %w", method, err)
		}
		answer := gjson.Parse(line)
		switch {
		case !gjson.Valid(line) || answer.Get("jsonrpc").String() != "2.0":
			return gjson.Result{}, fmt.Errorf("%s answers %q, which is no JSON-RPC", method, line)
		case !answer.Get("id").Exists():
			continue // a notification
		case answer.Get("id").Int() != int64(c.last):
			return gjson.Result{}, fmt.Errorf("%s answers request %s, not %d", method, answer.Get("id").Raw, c.last)
		case answer.Get("error").Exists():
			return gjson.Result{}, fmt.Errorf("%s: %s", method, answer.Get("error").Raw)
		}
		return answer.Get("result"), nil
	}
}

// call gives the text a tool answers; a tool's own error is an error.
func (c *mcpClient) call(tool string, arguments any) (string, error) {
	result, err := c.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return "", err
	}
	var text []string
	for _, part := range result.Get("content").Array() {
		text = append(text, part.Get("text").String())
	}
	if result.Get("isError").Bool() {
		return "", fmt.Errorf("%s", strings.Join(text, "\n"))
	}
	return strings.Join(text, "\n"), nil
}

// close ends the conversation as agents do, and the server must end with 0.
func (c *mcpClient) close() error {
	c.in.Close()
	rest, _ := io.ReadAll(c.out)
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("sessdex mcp: %w: %s", err, c.said.String())
	}
	if len(rest) > 0 {
		return fmt.Errorf("sessdex mcp says %q after its last answer", rest)
	}
	return nil
}
