package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// talk sends lines to a stdio server, ends its input, and gives its answers by
// id. Whatever is written must be JSON messages and nothing else.
func talk(t *testing.T, s *Service, in string) map[string]map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]any{}
	for line := range strings.Lines(out.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("wrote %q: %v", line, err)
		}
		id := fmt.Sprint(m["id"])
		if got[id] != nil {
			t.Errorf("%s is answered twice", id)
		}
		got[id] = m
	}
	return got
}

const callList = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}`

// Requests that a client sent before it closed the stream are answered, also the
// last one when its line has no end.
func TestStdioAnswersBeforeEnd(t *testing.T) {
	s := sharedShop(t)
	var in strings.Builder
	for i := range 30 {
		fmt.Fprintf(&in, callList+"\n", i)
	}
	fmt.Fprintf(&in, callList, 99)
	got := talk(t, s, in.String())
	if len(got) != 31 || got["99"] == nil {
		t.Fatalf("%d of 31 requests are answered", len(got))
	}
	for id, m := range got {
		if !strings.Contains(fmt.Sprint(m["result"]), "Bound the payment retry") {
			t.Errorf("%s: got %v", id, m)
		}
	}
}

func TestStdioOddInput(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for _, test := range []struct {
		name, in string
		errors   int // answers without an id
	}{
		{"nothing", "", 0},
		{"blank lines", "\n\r\n  \n", 0},
		{"carriage return", ping + "\r\n", 0},
		{"no JSON", "hello\n" + ping + "\n", 1},
		{"half a message", `{"jsonrpc":"2.0","id":7,"meth` + "\n" + ping, 1},
		{"too deep", strings.Repeat("[", 20_000) + "\n" + ping, 1},
		{"no UTF-8", "\xff\xfe\n" + ping, 1},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + ping, 0},
		{"cancel what is not there", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}` + "\n" + ping, 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":3,"result":{}}` + "\n" + ping, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := talk(t, new(Service), test.in)
			if (got["7"] == nil) != (!strings.Contains(test.in, ping)) {
				t.Errorf("ping: %v", got)
			}
			if n := len(got) - min(1, len(got["7"])); n != test.errors {
				t.Errorf("%d errors, want %d: %v", n, test.errors, got)
			}
		})
	}
}

// A panic in a tool is an answer, and the next call works.
func TestStdioPanic(t *testing.T) {
	s := new(Service) // has no index: every tool panics
	got := talk(t, s, fmt.Sprintf(callList+"\n"+callList+"\n", 1, 2))
	for _, id := range []string{"1", "2"} {
		result, _ := got[id]["result"].(map[string]any)
		if result["isError"] != true || !strings.Contains(fmt.Sprint(result["content"]), "list_sessions failed inside Sessdex") {
			t.Errorf("%s: got %v", id, got[id])
		}
	}
}

func TestStdioStopsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe() // never says anything
	done := make(chan error)
	go func() { done <- new(Service).ServeStdio(ctx, in, io.Discard) }()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestStdioBrokenStreams(t *testing.T) {
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("\n"), iotestErr{broken})
	if err := new(Service).ServeStdio(t.Context(), in, io.Discard); !errors.Is(err, broken) {
		t.Errorf("reading: %v", err)
	}
	in = strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n")
	if err := new(Service).ServeStdio(t.Context(), in, brokenWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

type iotestErr struct{ error }

func (e iotestErr) Read([]byte) (int, error) { return 0, e.error }

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestReadLine(t *testing.T) {
	const most = 40
	for _, test := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a\nb", []string{"a", "b"}},
		{"a\n\nb\n", []string{"a", "", "b"}},
		{strings.Repeat("x", most-1) + "\nb\n", []string{strings.Repeat("x", most-1), "b"}},
		{strings.Repeat("x", most) + "\nb\n", []string{"too long", "b"}},
		{strings.Repeat("x", 100*most) + "\n\nb", []string{"too long", "", "b"}},
		{"a\n" + strings.Repeat("x", 100*most), []string{"a", "too long"}},
	} {
		r := bufio.NewReaderSize(strings.NewReader(test.in), 16)
		var got []string
		for {
			line, err := readLine(r, most)
			if err == io.EOF {
				break
			}
			if errors.Is(err, errLineTooLong) {
				line = []byte("too long")
			}
			got = append(got, string(line))
		}
		if fmt.Sprint(got) != fmt.Sprint(test.want) || len(got) != len(test.want) {
			t.Errorf("%.60q: got %q, want %q", test.in, got, test.want)
		}
	}
}

// Whatever comes in, the server ends when its input does, and writes only JSON
// messages.
func FuzzStdio(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, "[]\n{}\n\"\"",
		`{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":{"name":"get_session","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}`, "\x00\r\n\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := new(Service).ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
				t.Errorf("%q made it write %q", in, line)
			}
		}
	})
}
