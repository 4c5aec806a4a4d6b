package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Limits of a stdio server.
const (
	maxLine       = 64 << 20 // bytes of one message
	stdioAtOnce   = 8        // requests answered at the same time
	stdioPatience = 30 * time.Second
)

// ServeStdio speaks MCP on a pair of streams, one JSON message a line, until in
// ends or ctx does. Requests that came before the end of in are still answered.
// Nothing but messages is written to out.
//
// It is a loop of our own because the library's keeps one session for the whole
// process, reads lines of any length, and drops what it has not answered yet
// when its input ends.
func (s *Service) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &stdioConn{mcp: s.MCP(), out: out, notes: make(chan mcp.JSONRPCNotification, 16)}
	session := c.mcp.WithContext(ctx, c)

	type message struct {
		line []byte
		err  error
	}
	lines := make(chan message)
	go func() { // a read cannot be interrupted: it is left behind when ctx ends
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(r, maxLine)
			select {
			case lines <- message{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLineTooLong) {
				return
			}
		}
	}()

	slots := make(chan struct{}, stdioAtOnce)
	var running sync.WaitGroup
	for {
		var m message
		select {
		case m = <-lines:
		case <-ctx.Done():
			running.Wait()
			return nil
		}
		switch {
		case errors.Is(m.err, errLineTooLong):
			c.send(mcp.NewJSONRPCError(mcp.NewRequestId(nil), mcp.INVALID_REQUEST, m.err.Error(), nil))
		case m.err == io.EOF:
			stop := time.AfterFunc(stdioPatience, cancel)
			running.Wait()
			stop.Stop()
			return c.failure()
		case m.err != nil:
			cancel()
			running.Wait()
			return fmt.Errorf("read MCP messages: %w", m.err)
		case len(m.line) == 0:
		case isRequest(m.line):
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				c.answer(session, m.line)
			})
		default:
			c.answer(session, m.line) // a notification: at once, it may cancel a request
		}
		if err := c.failure(); err != nil {
			cancel()
			running.Wait()
			return err
		}
	}
}

// stdioConn is the one client of a stdio server.
type stdioConn struct {
	mcp   *server.MCPServer
	notes chan mcp.JSONRPCNotification
	ready atomic.Bool

	mu  sync.Mutex // guards out and err
	out io.Writer
	err error // first failure to write
}

var _ server.ClientSession = (*stdioConn)(nil)

func (c *stdioConn) SessionID() string { return "stdio" }
func (c *stdioConn) Initialize()       { c.ready.Store(true) }
func (c *stdioConn) Initialized() bool { return c.ready.Load() }

// NotificationChannel takes what handlers tell the client beside their answers.
func (c *stdioConn) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.notes }

func (c *stdioConn) answer(ctx context.Context, line []byte) {
	if reply := c.mcp.HandleMessage(ctx, line); reply != nil {
		c.send(reply)
	}
}

// send writes a message, and before it the notifications that its handler left.
func (c *stdioConn) send(reply mcp.JSONRPCMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		select {
		case note := <-c.notes:
			c.write(note)
			continue
		default:
		}
		c.write(reply)
		return
	}
}

func (c *stdioConn) write(m any) {
	raw, err := json.Marshal(m)
	if err == nil && c.err == nil {
		_, err = c.out.Write(append(raw, '\n'))
	}
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("write MCP message: %w", err)
	}
}

func (c *stdioConn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// isRequest reports whether a message wants an answer. What does not parse is
// answered with an error straight away.
func isRequest(line []byte) bool {
	var m struct {
		ID     any    `json:"id"`
		Method string `json:"method"`
	}
	return json.Unmarshal(line, &m) == nil && m.ID != nil && m.Method != ""
}

var errLineTooLong = fmt.Errorf("message longer than %d MiB: large transcripts can be published over HTTP, or imported where they are", maxLine>>20)

// readLine reads a line without its end, also a last one that has none. A line
// of more than most bytes is passed over and reported as errLineTooLong. The
// error is io.EOF only when nothing was read.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case tooLong && (err == nil || err == io.EOF):
			return nil, errLineTooLong
		case err == io.EOF && len(line) > 0, err == nil:
			return trimLine(line), nil
		}
		return nil, err
	}
}

func trimLine(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r' || line[len(line)-1] == ' ') {
		line = line[:len(line)-1]
	}
	return line
}
