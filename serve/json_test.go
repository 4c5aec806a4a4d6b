package serve

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestWriteJSONHidesNothing(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, map[string]string{"a": "x\u009b31m\u202e\U000e0041\x7f<é日>"}); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"a\": \"x\\u009b31m\\u202e\\udb40\\udc41\\u007f<é日>\"\n}\n"
	if b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var b bytes.Buffer
		var back string
		if err := WriteJSON(&b, s); err != nil || json.Unmarshal(b.Bytes(), &back) != nil || back != s {
			t.Fatalf("%q came back as %q: %v", s, back, err)
		}
		for _, r := range b.String() {
			if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
				t.Fatalf("%q is written with %U", s, r)
			}
		}
	})
}
