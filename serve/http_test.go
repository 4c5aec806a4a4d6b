package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sessdex/session"
)

// ask sends a request to a handler. Header is "Name: value" lines.
func ask(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:7337"
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const asJSON = "Content-Type: application/json"

var everyPath = []string{"/", "/s/x", "/style.css", "/v1/search", "/v1/sessions/x", "/mcp", "/healthz", "/readyz", "/nothing"}

func TestHostAndOrigin(t *testing.T) {
	h := newService(t).Handler(HTTPOptions{Hosts: []string{"sessdex.example", "2001:db8::1"}})
	for _, test := range []struct {
		header  string
		allowed bool
	}{
		{"Host: 127.0.0.1", true},
		{"Host: 127.0.0.1:7337", true},
		{"Host: 127.9.9.9", true},
		{"Host: localhost:80", true},
		{"Host: LocalHost.", true},
		{"Host: [::1]:7337", true},
		{"Host: [::1]", true},
		{"Host: sessdex.example", true},
		{"Host: SESSDEX.example:443", true},
		{"Host: [2001:db8::1]:443", true},
		{"Host: evil.example", false},
		{"Host: localhost.evil.example", false},
		{"Host: 127.0.0.1.evil.example", false},
		{"Host: 192.168.0.7:7337", false},
		{"Host: ", false},
		{"Host: 0.0.0.0:7337", false},
		{"Origin: http://127.0.0.1:7337", true},
		{"Origin: http://localhost:3000", true},
		{"Origin: https://sessdex.example", true},
		{"Origin: https://evil.example", false},
		{"Origin: https://sessdex.example.evil.example", false},
		{"Origin: http://localhost@evil.example", false},
		{"Origin: null", false},
		{"Origin: ", false},
		{"Origin: file://", false},
		{"Origin: file://localhost", false},
		{"Origin: ://", false},
	} {
		for _, path := range everyPath {
			w := ask(h, "GET", path, "", test.header)
			if forbidden := w.Code == http.StatusForbidden; forbidden == test.allowed {
				t.Errorf("%s of %s: %d", test.header, path, w.Code)
			}
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	h := newService(t).Handler(HTTPOptions{})
	for _, path := range append(everyPath, "/s/%2e%2e%2fx") {
		for _, host := range []string{"Host: localhost", "Host: evil.example"} {
			w := ask(h, "GET", path, "", host)
			for name, want := range headers {
				if got := w.Header().Get(name); got != want && !(name == "Cache-Control" && path == "/style.css") {
					t.Errorf("%s %s: %s is %q", host, path, name, got)
				}
			}
			if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "script-src") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: pages may run scripts: %s", path, csp)
			}
		}
	}
}

func TestContentType(t *testing.T) {
	h := newShop(t).Handler(HTTPOptions{})
	for _, test := range []struct {
		header []string
		want   int
	}{
		{[]string{asJSON}, 200},
		{[]string{"Content-Type: Application/JSON; charset=utf-8"}, 200},
		{nil, 415},
		{[]string{"Content-Type: text/plain"}, 415},
		{[]string{"Content-Type: application/x-www-form-urlencoded"}, 415},
		{[]string{"Content-Type: text/plain; application/json"}, 415},
		{[]string{asJSON, "Content-Encoding: gzip"}, 415},
	} {
		if w := ask(h, "POST", "/v1/sessions/"+retryNative+"/tags", `{"add": ["x"]}`, test.header...); w.Code != test.want {
			t.Errorf("%v: %d %s", test.header, w.Code, w.Body)
		}
		if w := ask(h, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, test.header...); w.Code != test.want {
			t.Errorf("/mcp %v: %d %s", test.header, w.Code, w.Body)
		}
	}
}

// A body beyond the limit is refused, by its announced length or while it is
// read, and without holding it.
func TestBodyLimits(t *testing.T) {
	h := newService(t).Handler(HTTPOptions{})
	for _, path := range []string{"/mcp", "/v1/sessions/x/tags"} {
		if w := ask(h, "POST", path, strings.Repeat(" ", maxBody+1), asJSON); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/mcp", "/v1/sessions/x/tags"} {
		endless := &countingReader{r: endlessJSON{}}
		r := httptest.NewRequest("POST", "http://localhost"+path, endless)
		r.ContentLength = -1
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s: %d %.200s", path, w.Code, w.Body)
		}
		if endless.n > maxBody+1<<16 {
			t.Errorf("%s read %d bytes of an endless body", path, endless.n)
		}
	}
	r := httptest.NewRequest("POST", "http://localhost/v1/sessions", endlessJSON{})
	r.ContentLength = maxPublish + 1
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("publish: %d %s", w.Code, w.Body)
	}
}

// endlessJSON is white space, which JSON may begin with.
type endlessJSON struct{}

func (endlessJSON) Read(p []byte) (int, error) {
	return copy(p, bytes.Repeat([]byte(" "), len(p))), nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func TestToken(t *testing.T) {
	token := "tok" + "en-for-this-test"
	h := sharedShop(t).Handler(HTTPOptions{Token: token})
	basic := func(password string) string {
		r, _ := http.NewRequest("GET", "/", nil)
		r.SetBasicAuth("anyone", password)
		return "Authorization: " + r.Header.Get("Authorization")
	}
	for _, test := range []struct {
		header string
		ok     bool
	}{
		{"Authorization: Bearer " + token, true},
		{"Authorization: bearer " + token, true},
		{basic(token), true},
		{"X-Nothing: ", false},
		{"Authorization: Bearer ", false},
		{"Authorization: Bearer " + token[:5], false},
		{"Authorization: Bearer " + token + "x", false},
		{"Authorization: " + token, false},
		{basic("other"), false},
	} {
		for _, path := range everyPath {
			w := ask(h, "GET", path, "", test.header)
			want := !test.ok && path != "/healthz" && path != "/readyz"
			if (w.Code == http.StatusUnauthorized) != want {
				t.Errorf("%s of %s: %d", test.header, path, w.Code)
			}
			if strings.Contains(w.Body.String(), token) {
				t.Errorf("%s tells the token", path)
			}
			if want && w.Header().Get("WWW-Authenticate") == "" {
				t.Errorf("%s does not say how to authenticate", path)
			}
		}
	}
	if w := ask(h, "GET", "/?token="+token, ""); w.Code != http.StatusUnauthorized {
		t.Errorf("a token in the URL is taken: %d", w.Code)
	}
}

// A panic is one sentence for the client, and in the log there is neither the
// query nor a header nor what the panic said.
func TestPanicIsLoggedWithoutSecrets(t *testing.T) {
	var log bytes.Buffer
	g := newGuard(HTTPOptions{}, slog.New(slog.NewTextHandler(&log, nil)))
	h := g.recovered(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("words-of-a-session") }))
	w := ask(h, "GET", "/v1/search?q=private-words", "", "Authorization: Bearer private-token")
	if w.Code != 500 || strings.Contains(w.Body.String(), "words") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !strings.Contains(log.String(), "path=/v1/search") {
		t.Errorf("the log does not say where: %s", &log)
	}
	for _, secret := range []string{"private-words", "private-token", "words-of-a-session"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log holds %s", secret)
		}
	}
}

func TestAPIErrors(t *testing.T) {
	h := sharedShop(t).Handler(HTTPOptions{})
	for _, test := range []struct {
		method, target, body string
		status               int
		code, message        string
	}{
		{"GET", "/v1/search?limit=many", "", 400, "usage", "limit must be a whole number"},
		{"GET", "/v1/search?limit=-1", "", 400, "usage", "limit and offset must not be negative"},
		{"GET", "/v1/search?sort=best", "", 400, "usage", "sort must be relevance or recent"},
		{"GET", "/v1/search?since=whenever", "", 400, "usage", "since must be a date"},
		{"GET", "/v1/search?subagents=perhaps", "", 400, "usage", "subagents must be true or false"},
		{"GET", "/v1/sessions/zzzz9999zzzz", "", 404, "not_found", "not found"},
		{"GET", "/v1/sessions/..%2f..%2fetc%2fpasswd", "", 404, "not_found", "not found"},
		{"GET", "/v1/sessions/%00", "", 404, "not_found", "not found"},
		{"GET", "/v1/sessions/" + strings.Repeat("a", 10_000), "", 404, "not_found", "not found"},
		{"GET", "/v1/sessions/" + retryNative + "?version=ffff", "", 404, "not_found", "version"},
		{"GET", "/v1/sessions/" + retryNative + "/context?max_tokens=7", "", 400, "usage", "500"},
		{"GET", "/v1/sessions/" + retryNative + "/context?encoding=latin", "", 400, "usage", "o200k_base"},
		{"GET", "/v1/sessions/" + retryNative + "/turns?from=x", "", 400, "usage", "from must be a whole number"},
		{"GET", "/v1/nothing", "", 404, "not_found", "no such method and path"},
		{"DELETE", "/v1/sessions/x", "", 404, "not_found", "no such method and path"},
		{"POST", "/v1/sessions/" + retryNative + "/tags", "", 400, "usage", "body is empty"},
		{"POST", "/v1/sessions/" + retryNative + "/tags", "{", 400, "usage", "not the JSON object"},
		{"POST", "/v1/sessions/" + retryNative + "/tags", `{"add": "x"}`, 400, "usage", "not the JSON object"},
		{"POST", "/v1/sessions/" + retryNative + "/tags", `{"add": ["x"]} {}`, 400, "usage", "more than one JSON value"},
		{"POST", "/v1/sessions/" + retryNative + "/tags", `{}`, 400, "usage", "no tag was given"},
		{"POST", "/v1/sessions", `{"transcript": "hello"}`, 400, "usage", "no known harness"},
		{"POST", "/v1/sessions", `{"transcript": "{}", "content_sha256": "00"}`, 400, "usage", "SHA-256"},
	} {
		w := ask(h, test.method, test.target, test.body, asJSON)
		var reply errorReply
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Errorf("%s %.60s: %v in %s", test.method, test.target, err, w.Body)
			continue
		}
		if w.Code != test.status || reply.Error.Code != test.code || !strings.Contains(reply.Error.Message, test.message) {
			t.Errorf("%s %.60s: %d %+v", test.method, test.target, w.Code, reply.Error)
		}
	}
}

// What cannot be helped by asking otherwise is 503, and readiness says it.
func TestUnavailable(t *testing.T) {
	for err, want := range map[error]int{
		fmt.Errorf("x: %w", ErrNotFound): 404, fmt.Errorf("x: %w", ErrUsage): 400, errors.New("x"): 503, context.DeadlineExceeded: 503,
	} {
		if got, _ := statusOf(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
	ready := sharedShop(t).Handler(HTTPOptions{})
	for _, path := range []string{"/healthz", "/readyz"} {
		if w := ask(ready, "GET", path, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestAPI(t *testing.T) {
	s := newShop(t)
	h := s.Handler(HTTPOptions{})
	get := func(target string, into any) {
		t.Helper()
		w := ask(h, "GET", target, "")
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Fatalf("%s: %d %s", target, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s: %v", target, err)
		}
	}
	var found SearchReply
	get("/v1/search?q=retry+loop&harness=claude-code,codex-cli&tag=payment&limit=5&since=2026-10", &found)
	if found.SchemaVersion != 1 || len(found.Hits) != 1 || found.Hits[0].Title != "Bound the payment retry" || found.Facets == nil {
		t.Fatalf("search: %+v", found)
	}
	id := found.Hits[0].ID
	get("/v1/search?q=retry&until=2026-09", &found)
	if found.Total != 0 {
		t.Errorf("a search until September finds October: %+v", found)
	}

	var sum Summary
	get("/v1/sessions/"+id, &sum)
	if sum.SchemaVersion != 1 || sum.Card.ID != id || len(sum.Outline) != 1 {
		t.Errorf("summary: %+v", sum)
	}
	var pack map[string]any
	get("/v1/sessions/"+id+"/context?max_tokens=1000&include_tool_calls=1", &pack)
	if pack["schema_version"] != 1.0 || pack["id"] != id || pack["max_tokens"] != 1000.0 || !strings.Contains(fmt.Sprint(pack["text"]), "go test ./client") {
		t.Errorf("context: %v", pack)
	}
	var turns turnsReply
	get("/v1/sessions/"+id+"/turns?from=2&to=3", &turns)
	if turns.Total != 5 || len(turns.Turns) != 2 || turns.Turns[1].Tool != "Bash" || turns.Next != 4 {
		t.Errorf("turns: %+v", turns)
	}
	get("/v1/sessions/"+id+"/turns?from=-1", &turns)
	if len(turns.Turns) != 1 || turns.Turns[0].N != 5 {
		t.Errorf("last turn: %+v", turns)
	}

	w := ask(h, "POST", "/v1/sessions/"+id+"/tags", `{"add": ["keep"], "remove": ["payment"]}`, asJSON)
	var tagged cardReply
	if err := json.Unmarshal(w.Body.Bytes(), &tagged); err != nil || w.Code != 200 || fmt.Sprint(tagged.Card.PeopleTags) != "[keep]" {
		t.Errorf("tags: %d %s", w.Code, w.Body)
	}
	body, _ := json.Marshal(map[string]any{"transcript": newChat(retryNative[:35]+"9", "/home/ann/shop").says("Count the boxes.").transcript(), "title": "Boxes"})
	for _, outcome := range []string{"new", "unchanged"} {
		w = ask(h, "POST", "/v1/sessions", string(body), asJSON)
		var published PublishReply
		if err := json.Unmarshal(w.Body.Bytes(), &published); err != nil || w.Code != 200 || published.Outcome != outcome || len(published.ID) != session.IDLen {
			t.Errorf("publish: %d %s", w.Code, w.Body)
		}
	}
}

func TestServe(t *testing.T) {
	s := sharedShop(t)
	for addr, want := range map[string]string{
		"0.0.0.0:0": "SESSDEX_TOKEN", "[::]:0": "SESSDEX_TOKEN", ":0": "SESSDEX_TOKEN", "192.0.2.1:0": "SESSDEX_TOKEN",
		"localhost": "host:port",
	} {
		for _, token := range []string{"", "too short"} {
			if err := s.Serve(t.Context(), addr, HTTPOptions{Token: token}); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s with token %q: %v", addr, token, err)
			}
		}
	}

	ctx, stop := context.WithCancel(t.Context())
	ready, done := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		done <- s.Serve(ctx, "127.0.0.1:0", HTTPOptions{Ready: func(a net.Addr) { ready <- a }})
	}()
	addr := (<-ready).String()
	if err := s.Serve(t.Context(), addr, HTTPOptions{}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server on %s: %v", addr, err)
	}
	// A request that has begun is finished although the server is told to stop.
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\n%s\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n", addr, asJSON)
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err)
	}
	stop()
	fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	rest, _ := io.ReadAll(answers)
	if !bytes.Contains(rest, []byte("200 OK")) || !bytes.Contains(rest, []byte(`"result":{}`)) {
		t.Errorf("the request that had begun got %q", rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
