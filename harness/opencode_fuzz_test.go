package harness

import (
	"bytes"
	"io"
	"iter"
	"testing"

	"github.com/tidwall/gjson"
)

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
