package install

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestEdits shows what installing makes of a file. Each testdata/<part>.txtar holds
// texts and, after each one named X, the text X.want.
func TestEdits(t *testing.T) {
	for name, p := range partsOf() {
		path := filepath.Join("testdata", name+".txtar")
		ar, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out := &txtar.Archive{Comment: ar.Comment}
		for i, f := range ar.Files {
			if strings.HasSuffix(f.Name, ".want") {
				continue
			}
			before := f.Data
			if f.Name == "absent" {
				before = nil
			}
			got, _, err := p.edit(before, made)
			if err != nil {
				t.Errorf("%s, %s: %v", name, f.Name, err)
				continue
			}
			out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: got})
			want := ""
			if i+1 < len(ar.Files) && ar.Files[i+1].Name == f.Name+".want" {
				want = string(ar.Files[i+1].Data)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" && !*update {
				t.Errorf("%s, %s: -want +got:\n%s", name, f.Name, diff)
			}
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(out), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
