package harness

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 600<<10) // over the reader's buffer, twice
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"unterminated", "a\nb", []string{"a\n", "b"}},
		{"blank lines", "\n\na\n", []string{"\n", "\n", "a\n"}},
		{"crlf", "a\r\nb\r\n", []string{"a\r\n", "b\r\n"}},
		{"long", long + "\nb\n" + long, []string{long + "\n", "b\n", long}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.HalfReader(strings.NewReader(c.in))} {
			var got []string
			for line, err := range Lines(r) {
				if err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
				got = append(got, string(line))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %d lines, want %d", c.name, len(got), len(c.want))
			}
		}
	}
}

// A line above the limit is reported, costs no memory beyond the limit, and what
// comes after it is read.
func TestLinesTooLong(t *testing.T) {
	r := io.MultiReader(strings.NewReader("a\n"), io.LimitReader(endless{}, MaxLine+10), strings.NewReader("\nb\n"))
	var got []string
	for line, err := range Lines(r) {
		switch {
		case errors.Is(err, ErrLongLine) && line == nil:
			got = append(got, "long")
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, string(line))
		}
	}
	if diff := cmp.Diff([]string{"a\n", "long", "b\n"}, got); diff != "" {
		t.Error(diff)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLinesError(t *testing.T) {
	broken := errors.New("disk gone")
	var lines int
	var last error
	for line, err := range Lines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))) {
		if last = err; err == nil && len(line) > 0 {
			lines++
		}
	}
	if lines != 2 || !errors.Is(last, broken) {
		t.Errorf("%d lines, then %v", lines, last)
	}
}

func TestLinesStop(t *testing.T) {
	n := 0
	for range Lines(strings.NewReader("a\nb\nc\n")) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d lines after a break at 2", n)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		in    string
		want  []string
		clean bool
	}{
		{``, nil, true},
		{"  \r\n", nil, true},
		{`{"a":1}`, []string{`{"a":1}`}, true},
		{` {"a":1}{"b":"}{"} {"c":[{}]}` + "\n", []string{`{"a":1}`, `{"b":"}{"}`, `{"c":[{}]}`}, true},
		{`{"a":"\\"}{"b":"\""}`, []string{`{"a":"\\"}`, `{"b":"\""}`}, true},
		{`{"a":1`, nil, false},
		{`{"a":1}{"b":`, []string{`{"a":1}`}, false},
		{`{"a":1}tail`, []string{`{"a":1}`}, false},
		{`{"a":"\x"}{"b":2}`, []string{`{"b":2}`}, false},
		{`[1]`, nil, false},
		{`"text"`, nil, false},
		{`null`, nil, false},
	} {
		var got, same []string
		clean := eachValue([]byte(c.in), func(v gjson.Result) bool { got = append(got, v.Raw); return true })
		for v := range Values([]byte(c.in)) {
			same = append(same, v.Raw)
		}
		if !slices.Equal(got, c.want) || clean != c.clean || !slices.Equal(same, got) {
			t.Errorf("%q: %q clean %v, want %q clean %v; Values gives %q", c.in, got, clean, c.want, c.clean, same)
		}
	}
	for range Values([]byte(`{"a":1}{"b":2}`)) {
		break // stops without a panic
	}
}

// Deep nesting is refused before it reaches the validator, whose recursion would
// end the process; a long line that nests little is read.
func TestValuesDeep(t *testing.T) {
	deep := append([]byte(`{"a":`), bytes.Repeat([]byte("["), 32<<20)...)
	if eachValue(deep, func(gjson.Result) bool { t.Error("got a value"); return true }) {
		t.Error("called clean")
	}
	flat := []byte(`{"a":"` + strings.Repeat(`[{\"`, 256<<10) + `"}`)
	n := 0
	if !eachValue(flat, func(gjson.Result) bool { n++; return true }) || n != 1 {
		t.Errorf("%d values from a flat line", n)
	}
	many := bytes.Repeat([]byte(`{}`), 200_000)
	n = 0
	if !eachValue(many, func(gjson.Result) bool { n++; return true }) || n != 200_000 {
		t.Errorf("%d of 200000 glued values", n)
	}
}

// Whatever objects are glued together, with or without space, come out again.
func TestValuesGlued(t *testing.T) {
	object := rapid.Custom(func(rt *rapid.T) string {
		key := rapid.StringMatching(`[a-z{}"\\]{0,6}`).Draw(rt, "key")
		value := rapid.SampledFrom([]string{`1`, `"}{"`, `"\""`, `[{},[]]`, `{"x":null}`}).Draw(rt, "value")
		quoted := gjson.AppendJSONString(nil, key)
		return `{` + string(quoted) + `:` + value + `}`
	})
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOfN(object, 1, 8).Draw(rt, "objects")
		sep := rapid.SampledFrom([]string{"", " ", "\t "}).Draw(rt, "between")
		var got []string
		for v := range Values([]byte(strings.Join(want, sep))) {
			got = append(got, v.Raw)
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%q", got)
		}
	})
}

func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"a":1}{"b":"}{"} x`))
	f.Add([]byte(`{"a":"\\"}{"b":`))
	f.Fuzz(func(t *testing.T, line []byte) {
		for v := range Values(line) {
			if !gjson.Valid(v.Raw) || !v.IsObject() {
				t.Fatalf("%q gives %q", line, v.Raw)
			}
		}
	})
}
