package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// guard is what stands in front of every handler: it decides on a request's
// head, before anything of its body is read.
type guard struct {
	hosts []string
	token [sha256.Size]byte
	asks  bool // a token is asked for
	log   *slog.Logger
}

func newGuard(opts HTTPOptions, log *slog.Logger) *guard {
	g := &guard{asks: opts.Token != "", token: sha256.Sum256([]byte(opts.Token)), log: log}
	for _, h := range opts.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(strings.Trim(h, "[]")))
	}
	return g
}

// headers are set on every answer. Pages hold no script, so none may run; what a
// transcript says can then do nothing in a browser but be read.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":  "nosniff",
	"X-Frame-Options":         "DENY",
	"Referrer-Policy":         "no-referrer",
	"Permissions-Policy":      "camera=(), geolocation=(), microphone=()",

	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",

	"Cache-Control": "no-store",
}

func (g *guard) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

// recovered turns a panic into a 500 and one line in the log. The log names the
// path, never the query, the headers or the value of the panic: those may hold a
// token or words of a session.
func (g *guard) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v == http.ErrAbortHandler {
				panic(v) // the server's own way to drop a connection
			}
			g.log.Error("request panicked", "method", r.Method, "path", r.URL.Path, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			writeError(w, http.StatusInternalServerError, "internal", "Sessdex failed on this request.")
		}()
		next.ServeHTTP(w, r)
	})
}

// addressed refuses requests that a web page made a browser send: those for
// another host (DNS rebinding) and those from another origin.
func (g *guard) addressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !g.known(hostOf(r.Host)) {
			writeError(w, http.StatusForbidden, "forbidden_host", "This server does not answer to that host name; add it to the allowed hosts.")
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			u, err := url.Parse(origin)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || !g.known(u.Hostname()) {
				writeError(w, http.StatusForbidden, "forbidden_origin", "Pages of that origin may not use this server.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) known(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return isLoopback(host) || host != "" && slices.Contains(g.hosts, host)
}

// hostOf is the name or address in a Host header, without port and brackets.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// open paths answer without a token: they tell nothing.
var open = []string{"/healthz", "/readyz"}

// authorized asks for the token. Digests of equal length are compared, so the
// time it takes says nothing about the token.
func (g *guard) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.asks && !slices.Contains(open, r.URL.Path) {
			sum := sha256.Sum256([]byte(givenToken(r)))
			if subtle.ConstantTimeCompare(sum[:], g.token[:]) != 1 {
				w.Header().Add("WWW-Authenticate", `Bearer realm="sessdex"`)
				if !isAPI(r.URL.Path) {
					w.Header().Add("WWW-Authenticate", `Basic realm="sessdex", charset="UTF-8"`)
				}
				writeError(w, http.StatusUnauthorized, "unauthorized", "A valid token is needed: send it as Authorization: Bearer TOKEN.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func givenToken(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func isAPI(path string) bool {
	return path == "/mcp" || strings.HasPrefix(path, "/v1/")
}

// jsonOnly refuses bodies that are not JSON. A page of another origin cannot send
// JSON without asking first, and is then refused.
func (g *guard) jsonOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost, http.MethodPut, http.MethodPatch:
			kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
			if err != nil || kind != "application/json" {
				writeError(w, http.StatusUnsupportedMediaType, "not_json", "The body must be sent as Content-Type: application/json.")
				return
			}
			if r.Header.Get("Content-Encoding") != "" {
				writeError(w, http.StatusUnsupportedMediaType, "encoded", "The body must be sent without Content-Encoding.")
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody ends a body that is longer than most bytes, or that comes slower
// than about a kilobyte a second.
func limitBody(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > most {
			tooLarge(w, most)
			return
		}
		if r.Body != nil {
			r.Body = &steadyBody{ReadCloser: http.MaxBytesReader(w, r.Body, most), conn: http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

func tooLarge(w http.ResponseWriter, most int64) {
	writeError(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("The body is larger than %d MiB.", most>>20))
}

// steadyBody gives a sender a minute for each 64 KiB.
type steadyBody struct {
	io.ReadCloser
	conn    *http.ResponseController
	allowed int
}

const steadyPart = 64 << 10

func (b *steadyBody) Read(p []byte) (int, error) {
	if b.allowed <= 0 {
		b.allowed = steadyPart
		// A connection that knows no deadlines (in tests) is read without one.
		_ = b.conn.SetReadDeadline(time.Now().Add(time.Minute))
	}
	n, err := b.ReadCloser.Read(p)
	b.allowed -= n
	if err != nil {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
