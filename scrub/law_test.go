package scrub

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces is what hostile and ordinary lines are made of.
func pieces() []string {
	out := []string{
		`"`, `\"`, `\\`, `\\\"`, `\n`, `\\n`, `\u0041`, `\ud83d\ude00`, `\u001b[31m`, `\/`, `\`, "\\u00", "\n", " ", "=", ": ", ",",
		"{", "}", "[", "]", "é", "\xff", "\x00", "12345678901", "true", "null", "x",
		"password", "api_key", "token", "secret", "key", "--password ", "curl -u joe:", "Bearer ", "Basic ", "Cookie: a=",
		"postgres://joe:", "@host.test", "-----BEGIN ", "PRIV", "ATE KEY-----", "-----END ", "Private-Lines: 4", "hun", "ter2",
		"[REDACTED:", "[REDACTED:password:", "00ff00]", "[REDACTED:github-token:00ff00]", "sk", "-ant-", "gh", "p_", "eyJ", ".", "AKIA",
	}
	for _, s := range secrets() {
		out = append(out, s)
	}
	out = append(out, random(80, alnum, 32), random(81, alnum+"+/", 64), random(82, hexes, 40), random(83, digits, 17))
	return out
}

func line() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces()), 0, 24), func(s []string) string { return strings.Join(s, "") })
}

// laws checks what holds for each input, whatever it is.
func laws(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Scrubber, in string, isJSON bool) {
	t.Helper()
	scrub := func(x string) string {
		if !isJSON {
			return s.NewPass().Text(x)
		}
		return string(s.NewPass().Line([]byte(x)).Bytes())
	}
	once := scrub(in)
	if twice := scrub(once); twice != once {
		t.Fatalf("scrubbing twice is not scrubbing once: %q, %q, %q", in, once, twice)
	}
	if isJSON && json.Valid([]byte(in)) {
		if !json.Valid([]byte(once)) {
			t.Fatalf("JSON broke: %q, %q", in, once)
		}
		if a, b := skeleton([]byte(in)), skeleton([]byte(once)); a != b {
			t.Fatalf("bytes outside of literals changed: %q, %q", in, once)
		}
	}
	for _, m := range markExpr.FindAllString(in, -1) {
		if strings.Count(once, m) < strings.Count(in, m) {
			t.Fatalf("a mark was masked: %q, %q", in, once)
		}
	}
}

func TestLaws(t *testing.T) {
	s, _ := newPass(t)
	rapid.Check(t, func(t *rapid.T) {
		x := line().Draw(t, "text")
		laws(t, s, x, false)
		laws(t, s, x, true)
		laws(t, s, quote(map[string]any{"a": x, "n": 1}), true)
		laws(t, s, quote([]any{quote(map[string]any{"a": x}), nil}), true)
		laws(t, s, `{"k":"`+x+`","n":12}`, true)
	})
}

// TestTranscriptTwice scrubs whole transcripts, in which one line's finding is
// masked in the next, twice.
func TestTranscriptTwice(t *testing.T) {
	s, _ := newPass(t)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(line(), 1, 8).Draw(t, "lines")
		first, second := s.NewPass(), s.NewPass()
		for _, l := range lines {
			once := string(first.Line([]byte(quote(l))).Bytes())
			if twice := string(second.Line([]byte(once)).Bytes()); twice != once {
				t.Fatalf("%q, again %q", once, twice)
			}
		}
	})
}

// TestFlattenKeepsPlaces ties the two walks over the escapes to each other:
// cutting out any part of the flat text cuts out that part and no other.
func TestFlattenKeepsPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(line().Draw(t, "raw"))
		flat := flatten(nil, raw, false)
		lo := rapid.IntRange(0, len(flat)).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(flat)).Draw(t, "hi")
		if lo == hi {
			return
		}
		out := splice(nil, raw, false, []span{{lo: lo, hi: hi, mark: []byte("MARK")}})
		head, tail, ok := bytes.Cut(out, []byte("MARK"))
		if !ok || !bytes.HasPrefix(raw, head) || !bytes.HasSuffix(raw, tail) {
			t.Fatalf("%q without %d:%d is %q", raw, lo, hi, out)
		}
		if n := len(flatten(nil, head, false)); n > lo {
			t.Fatalf("%q: kept %d bytes, not %d, before the span", raw, n, lo)
		}
	})
}

func FuzzLine(f *testing.F) {
	s := New()
	for _, x := range pieces() {
		f.Add([]byte(`{"a":"` + x + `","password":"` + x + `"}`))
		f.Add([]byte(quote(map[string]string{"token": x})))
	}
	f.Fuzz(func(t *testing.T, b []byte) { laws(t, s, string(b), true) })
}

func FuzzText(f *testing.F) {
	s := New()
	for _, x := range pieces() {
		f.Add("token=" + x + " password: " + x)
	}
	f.Fuzz(func(t *testing.T, x string) { laws(t, s, x, false) })
}
