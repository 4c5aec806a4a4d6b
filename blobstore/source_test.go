package blobstore

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestSourceTries checks what each try of a PUT reads, and that one that is over
// reads nothing more although the transport still holds it.
func TestSourceTries(t *testing.T) {
	text := strings.Repeat("0123456789", spoolInMemory/10+1)
	for name, r := range map[string]io.Reader{
		"seeker": strings.NewReader(text), "small stream": io.MultiReader(strings.NewReader(text[:100])), "large stream": io.MultiReader(strings.NewReader(text)),
	} {
		want := text
		if name == "small stream" {
			want = text[:100]
		}
		src, err := newSource(t.Context(), r, int64(len(want)))
		if err != nil {
			t.Fatal(err)
		}
		var last *body
		for try := range 3 {
			b, err := src.open()
			if err != nil {
				t.Fatal(err)
			}
			if last != nil {
				if n, err := last.Read(make([]byte, 10)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("%s: a try that is over reads %d bytes, %v", name, n, err)
				}
			}
			if _, err := io.CopyN(io.Discard, b, int64(try)); err != nil { // each breaks off elsewhere
				t.Fatal(err)
			}
			b.revoke()
			last = b
		}
		b, err := src.open()
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(b); err != nil || string(data) != want {
			t.Errorf("%s: the last try reads %d bytes of %d, %v", name, len(data), len(want), err)
		}
		f, isFile := src.r.(*os.File)
		src.close()
		if isFile {
			if _, err := os.Stat(f.Name()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the temporary copy stays: %v", name, err)
			}
		}
	}
}
