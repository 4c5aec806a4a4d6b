package harness

import (
	"bytes"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/tidwall/gjson"

	"sessdex/session"
)

// FuzzOpenCode holds the parser to what it promises of any bytes: no panic, counts that
// agree with the turns, numbers without gaps, text that is valid. The seeds are long,
// so run it with -fuzzminimizetime 5x or it will do little else than shorten them.
func FuzzOpenCode(f *testing.F) {
	names, _ := filepath.Glob("testdata/opencode/*.txtar")
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range ar.Files {
			if file.Name != "want" {
				f.Add(file.Data)
			}
		}
	}
	f.Add([]byte(`{"messages":[{"info":{"role":"user"},"parts":[{"type":"text","text":"a"}]}]}` + "\n" + `{"info":{"role":"assistant"},"parts":[{"type":"patch","files":["a"]}]}`))
	f.Add([]byte("{\"info\":\n}\n{]\n[[}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newOpenCodeParser(Source{})
		for line := range bytes.Lines(data) {
			p.Line(bytes.TrimRight(line, "\r\n"))
		}
		meta, turns := p.Finish()
		var counts session.Counts
		n := 0
		for turn := range turns {
			n++
			counts.Add(turn.Role)
			if turn.N != n {
				t.Fatalf("turn %d is numbered %d", n, turn.N)
			}
			for _, s := range []string{turn.Text, turn.Thinking, turn.Tool, turn.Input, turn.Output, turn.Ref} {
				if !utf8.ValidString(s) {
					t.Fatalf("turn %d holds invalid UTF-8: %q", n, s)
				}
			}
			if turn.Words() && turn.Text == "" && turn.Thinking == "" {
				t.Fatalf("turn %d says nothing", n)
			}
		}
		if counts != meta.Turns || n > 0 && len(p.marks) != n {
			t.Fatalf("counted %+v, meta says %+v", counts, meta.Turns)
		}
		if strings.ContainsRune(meta.Title, '\n') {
			t.Fatalf("title of several lines: %q", meta.Title)
		}
	})
}

// openCodeBytes is a store of one message with one part, of any bytes.
type openCodeBytes struct{ head, info, part []byte }

func (s openCodeBytes) messages() ([]openCodeRef, error) { return []openCodeRef{{"msg_1", 1}}, nil }
func (s openCodeBytes) message(string) ([]byte, error)   { return s.info, nil }
func (s openCodeBytes) session() ([]byte, error)         { return s.head, nil }
func (s openCodeBytes) unchanged() error                 { return nil }
func (s openCodeBytes) Close() error                     { return nil }
func (s openCodeBytes) parts(string) iter.Seq2[openCodePart, error] {
	return func(yield func(openCodePart, error) bool) { yield(openCodePart{"prt_1", s.part}, nil) }
}

// FuzzOpenCodeCanonical holds the canonical document to its promises whatever a file or
// a row holds: every line is one JSON object, the same records give the same bytes, and
// those of the document give it again.
func FuzzOpenCodeCanonical(f *testing.F) {
	f.Add([]byte(`{"title":"t","time":{"created":1},"share":{"url":"u"}}`), []byte(`{"role":"user"}`), []byte(`{"type":"tool","state":{"input":{"b":1,"a":2},"x":1e3}}`))
	f.Add([]byte(`{}`), []byte(`{} {}`), []byte(`{"state":{"input":"\ud800"}}`))
	f.Add([]byte(`null`), []byte(``), []byte(`{"state":{"input":null},"toolInvocation":{"args":[1,{"b":2,"a":1}]}}`))
	f.Fuzz(func(t *testing.T, head, info, part []byte) {
		read := func(s openCodeStore) []byte {
			r := newOpenCodeReader("ses_1", s)
			defer r.Close()
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return data
		}
		doc := read(openCodeBytes{head, info, part})
		again := openCodeBytes{head: []byte("{"), info: []byte("{"), part: []byte("{")}
		for line := range bytes.Lines(doc) {
			if !gjson.ValidBytes(line) || line[0] != '{' || line[len(line)-1] != '\n' {
				t.Fatalf("no object on a line: %q", line)
			}
			v := gjson.ParseBytes(line)
			switch {
			case v.Get("parts").Exists():
				again.info = []byte(v.Get("info").Raw)
				if p := v.Get("parts.0"); p.Exists() {
					again.part = []byte(p.Raw)
				}
			case v.Get("info").Exists():
				again.head = []byte(v.Get("info").Raw)
			}
		}
		if got := read(again); !bytes.Equal(got, doc) {
			t.Fatalf("read again %q is %q", doc, got)
		}
	})
}
