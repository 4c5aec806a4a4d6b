package scrub

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// leaksSamples reads the literal true ("tps") or false ("fps") positives that
// gitleaks' own source holds for its rules, by the name of the rule's function.
// Those made by calls of its generator are left out. The samples stay outside of
// this repository: they are read from the module cache.
func leaksSamples(t *testing.T, name string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/zricethezav/gitleaks/v8").Output()
	if err != nil {
		t.Skipf("gitleaks' source is not at hand: %v", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "cmd", "generate", "config", "rules")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("gitleaks' source is not at hand: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string][]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				as, ok := n.(*ast.AssignStmt)
				if !ok || len(as.Lhs) != 1 || fmt.Sprint(as.Lhs[0]) != name {
					return true
				}
				list, ok := as.Rhs[0].(*ast.CompositeLit)
				if !ok {
					return true
				}
				for _, e := range list.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						e = kv.Value
					}
					if s, ok := constant(e); ok {
						samples[fn.Name.Name] = append(samples[fn.Name.Name], s)
					}
				}
				return true
			})
		}
	}
	return samples
}

// constant evaluates string literals and their concatenations.
func constant(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		x, ok := constant(e.X)
		y, ok2 := constant(e.Y)
		return x + y, ok && ok2
	}
	return "", false
}

// TestGitleaksOwnCases runs gitleaks' own cases for its rules. The two limits
// are what is reached; each of the cases beyond them is a choice made in
// adjustments and in the rules of our own, which are mostly wider.
func TestGitleaksOwnCases(t *testing.T) {
	s, _ := newPass(t)
	masked := func(kind string) (hit, all int) {
		for fn, list := range leaksSamples(t, kind) {
			for i, x := range list {
				if x == "" { // a rule about a file's name
					continue
				}
				all++
				if got := s.NewPass().Text(x) != x; got {
					hit++
				} else if kind == "tps" {
					t.Logf("missed: case %d of %s", i, fn)
				}
			}
		}
		return hit, all
	}
	if hit, all := masked("tps"); hit < all-4 {
		t.Errorf("masked %d of %d secrets", hit, all)
	}
	if hit, all := masked("fps"); hit > 40 {
		t.Errorf("masked %d of %d texts that are no secrets", hit, all)
	}
}

// TestEveryRuleFinds draws samples from each rule's own expression: the
// keywords, windows and literals derived from a rule must not lose its matches.
func TestEveryRuleFinds(t *testing.T) {
	s, _ := newPass(t)
	for _, r := range rules().rules {
		if r.find != nil {
			continue
		}
		// Alternatives that a rule keeps but adjustments switched off, and
		// anchors that the generator cannot fulfil.
		switch r.id {
		case "sourcegraph-access-token", genericRule:
			continue
		case "nytimes-access-token", "mailchimp-api-key": // names with "," and "!"
			continue
		}
		found, tried := 0, 0
		gen := rapid.StringMatching(r.expr)
		for seed := 0; tried < 8 && seed < 200; seed++ {
			x := gen.Example(seed)
			if !ascii(x) || !r.wakes(x) || strings.Contains(x, `\`) {
				continue
			}
			x = "see\n" + x + "\nhere"
			m := r.re().FindStringSubmatchIndex(x)
			if m == nil {
				continue
			}
			lo, hi := r.secret(m)
			if !r.accepts([]byte(x[m[0]:m[1]]), []byte(x[lo:hi])) {
				continue
			}
			tried++
			if s.NewPass().Text(x) != x {
				found++
			}
		}
		if found < tried {
			t.Errorf("%s: found %d of %d samples", r.id, found, tried)
		}
	}
}

// wakes reports whether x holds one of the rule's keywords.
func (r *rule) wakes(x string) bool {
	for _, k := range r.keywords {
		if strings.Contains(strings.ToLower(x), k) {
			return true
		}
	}
	return false
}

func ascii(x string) bool {
	for i := range len(x) {
		if x[i] >= 0x80 || x[i] < ' ' && x[i] != '\n' && x[i] != '\t' {
			return false
		}
	}
	return true
}
