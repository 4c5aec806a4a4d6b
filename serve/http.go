package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"golang.org/x/net/netutil"
)

// HTTPOptions say who may ask over HTTP. The zero value is for this machine only.
type HTTPOptions struct {
	// Hosts are the names, without port, that requests may be addressed to and
	// pages may come from, besides those of the loopback interface.
	Hosts []string

	// Token, where set, must come with every request but health checks: as a bearer
	// token, or as the password of basic authentication, which browsers ask for.
	Token string

	// Ready, where set, is called once with the address that Serve listens on.
	Ready func(net.Addr)
}

// Limits of the HTTP server.
const (
	maxBody        = 1 << 20
	maxPublish     = 64 << 20
	maxHeader      = 64 << 10
	maxConnections = 512
	minToken       = 16 // characters
	maxUploads     = 4  // at the same time

	headerPatience = 5 * time.Second
	answerPatience = 5 * time.Minute
	idlePatience   = 2 * time.Minute
	drainPatience  = 20 * time.Second
)

// Handler answers everything that comes over HTTP:
//
//	POST /mcp                            MCP, streamable HTTP, stateless
//	GET  /v1/search                      search; the parameters are those of the command's flags
//	GET  /v1/sessions/{id}               summary
//	GET  /v1/sessions/{id}/context       packed text
//	GET  /v1/sessions/{id}/turns         turns from..to
//	POST /v1/sessions/{id}/tags          {"add": […], "remove": […]}
//	POST /v1/sessions                    publish
//	GET  /, /s/{id}                      pages for people
//	GET  /healthz, /readyz               alive; able to answer
//
// Errors of /v1 are {"error": {"code", "message"}}.
func (s *Service) Handler(opts HTTPOptions) http.Handler {
	mux := http.NewServeMux()
	mcpServer := server.NewStreamableHTTPServer(s.MCP(),
		server.WithStateLess(true),
		server.WithDisableStreaming(true),           // we never speak first
		server.WithDisableLocalhostProtection(true), // the guard in front is stricter
		server.WithStreamableHTTPLogger(s.log()))
	mux.Handle("/mcp", limitBody(maxBody, mcpServer))
	s.api(mux)
	s.web(mux)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", s.ready)

	g := newGuard(opts, s.log())
	return g.recovered(g.headers(g.addressed(g.authorized(g.jsonOnly(mux)))))
}

// ready reports whether a search would be answered, by doing one.
func (s *Service) ready(w http.ResponseWriter, r *http.Request) {
	if _, err := s.Search(r.Context(), readyQuery); err != nil {
		s.log().Warn("not ready", "err", err)
		writeError(w, http.StatusServiceUnavailable, "not_ready", sentence(err))
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// Serve listens on addr ("host:port") and answers until ctx ends; then it
// finishes what it has begun, for at most 20 seconds. An address that other
// machines can reach needs a token.
func (s *Service) Serve(ctx context.Context, addr string, opts HTTPOptions) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return usage("address %q is not of the form host:port, for example 127.0.0.1:7337", addr)
	}
	if !isLoopback(host) {
		if len(opts.Token) < minToken {
			return usage("address %s can be reached by other machines: set SESSDEX_TOKEN to a token of at least %d characters, or use 127.0.0.1", addr, minToken)
		}
		if ip := net.ParseIP(host); ip == nil && host != "" || ip != nil && !ip.IsUnspecified() {
			opts.Hosts = append(opts.Hosts[:len(opts.Hosts):len(opts.Hosts)], host)
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return listenError(addr, err)
	}
	httpServer := &http.Server{
		Handler:           s.Handler(opts),
		ReadHeaderTimeout: headerPatience,
		WriteTimeout:      answerPatience,
		IdleTimeout:       idlePatience,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log().Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	s.Packer.Warm("") // the first pack need not wait
	if opts.Ready != nil {
		opts.Ready(listener.Addr())
	}
	ended := make(chan error, 1)
	go func() { ended <- httpServer.Serve(netutil.LimitListener(listener, maxConnections)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", addr, err)
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainPatience)
	defer cancel()
	if err := httpServer.Shutdown(drain); err != nil {
		return fmt.Errorf("stop serving on %s: %w", addr, cmp.Or(httpServer.Close(), err))
	}
	return nil
}

// Free reports, as Serve would, whether it could not listen on addr.
func Free(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return usage("address %q is not of the form host:port, for example 127.0.0.1:7337", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return listenError(addr, err)
	}
	return l.Close()
}

// wsaAddrInUse is the number that Windows has for an address in use.
const wsaAddrInUse = syscall.Errno(10048)

func listenError(addr string, err error) error {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno) && (errno == syscall.EADDRINUSE || errno == wsaAddrInUse):
		return fmt.Errorf("port of %s is in use, perhaps by another sessdex: stop that one, or choose another address with --addr", addr)
	case errors.As(err, &errno) && errno == syscall.EACCES:
		return fmt.Errorf("listen on %s is not allowed: choose a port above 1023: %w", addr, err)
	}
	return fmt.Errorf("listen on %s: %w", addr, err)
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
