// Package sessdex_test checks the house itself: who may import whom, and that
// every package says what it promises. The rules are docs/architecture.md's.
package sessdex_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport lists, for each package, the packages of ours it may import.
var mayImport = map[string][]string{
	"session":     {},
	"scrub":       {},
	"blobstore":   {},
	"harness":     {"session"},
	"library":     {"session", "scrub", "blobstore"},
	"search":      {"session"},
	"contextpack": {"session"},
	"indexer":     {"session", "harness", "scrub", "library", "search"},
	"install":     {},
	"serve":       {"session", "library", "search", "contextpack", "indexer"},
	"cmd/sessdex": {"session", "harness", "scrub", "blobstore", "library", "search", "contextpack", "indexer", "serve", "install"},
}

// helpers are packages for tests and scripts; the program imports none of them,
// and they may import anything.
var helpers = []string{"blobstore/miniotest", "blobstore/storetest", "scripts/"}

// door names the only packages that may import a library, by prefix of its path.
var door = map[string][]string{
	"github.com/blevesearch/":        {"search"},
	"github.com/minio/minio-go/":     {"blobstore"},
	"github.com/pkoukk/":             {"contextpack"},
	"github.com/mark3labs/mcp-go/":   {"serve"},
	"github.com/zricethezav/":        {"scrub"},
	"github.com/spf13/cobra":         {"cmd/sessdex"},
	"github.com/schollz/":            {"cmd/sessdex"},
	"github.com/klauspost/compress/": {"library", "harness", "search"}, // harness: Codex compresses its files; search: stored text
	"modernc.org/sqlite":             {"harness"},
	"go.etcd.io/bbolt":               {"indexer", "search"}, // search: only the errors Bleve passes on
	"github.com/fsnotify/":           {"indexer"},
	"github.com/tailscale/hujson":    {"install"},
	"github.com/pelletier/":          {"scrub", "install"}, // scrub: gitleaks' rules are TOML
	"github.com/rogpeppe/":           {"install"},          // for diffs
	"github.com/tidwall/gjson":       {"harness"},
}

// sources parses every Go file of the program, tests aside, by package folder.
func sources(t *testing.T) map[string][]*ast.File {
	t.Helper()
	pkgs := map[string][]*ast.File{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(p))
		pkgs[dir] = append(pkgs[dir], f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func isHelper(dir string) bool {
	return slices.ContainsFunc(helpers, func(h string) bool { return strings.HasPrefix(dir+"/", strings.TrimSuffix(h, "/")+"/") })
}

func TestImportsGoDownTheTable(t *testing.T) {
	pkgs := sources(t)
	for _, dir := range slices.Sorted(maps.Keys(pkgs)) {
		allowed, known := mayImport[dir]
		if !known && !isHelper(dir) {
			t.Errorf("package %s is in no room of the house: give it one in docs/architecture.md and here", dir)
			continue
		}
		for _, f := range pkgs[dir] {
			for _, imp := range f.Imports {
				p, _ := strconv.Unquote(imp.Path.Value)
				if ours, ok := strings.CutPrefix(p, "sessdex/"); ok && !isHelper(dir) && !slices.Contains(allowed, ours) {
					t.Errorf("%s imports %s, which the table does not allow", dir, ours)
				}
				for lib, owners := range door {
					if strings.HasPrefix(p+"/", lib) && !slices.Contains(owners, dir) && !isHelper(dir) {
						t.Errorf("%s imports %s, whose door is %v", dir, p, owners)
					}
				}
			}
		}
	}
	for dir := range mayImport {
		if len(pkgs[dir]) == 0 {
			t.Errorf("the table names %s, which has no code", dir)
		}
	}
}

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	for dir, files := range sources(t) {
		n := 0
		for _, f := range files {
			if f.Doc != nil {
				n++
			}
		}
		if n != 1 {
			t.Errorf("package %s has %d package comments, want exactly one", dir, n)
		}
	}
}
