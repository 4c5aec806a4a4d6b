package harness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShellWrites(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"ls -l", nil},
		{"echo a > out.txt", []string{"out.txt"}},
		{"echo a >> log/out.txt && echo b >|force", []string{"log/out.txt", "force"}},
		{"make 2> err.log", []string{"err.log"}},
		{"make > all.log 2>&1", []string{"all.log"}},
		{"make &> all.log; make >&2", []string{"all.log"}},
		{"make >/dev/null 2>/dev/null", nil},
		{"echo 'a > b' \"c > d\" e\\>f", nil},
		{"echo \"it's\" > a 'b c' > \"d e\"", []string{"a", "d e"}},
		{"echo x > $OUT; echo y > \"$DIR/y\"; echo z > `name`; echo w > $(name).txt", nil},
		{"echo x > *.txt; rm -rf build/*", nil},
		{"go test ./... | tee -a test.log other.log", []string{"test.log", "other.log"}},
		{"rm -rf a b && rm -- -c", []string{"a", "b", "-c"}},
		{"mv old.go new.go", []string{"old.go", "new.go"}},
		{"git mv a.go b.go; git rm c.go; git status > s", []string{"a.go", "b.go", "c.go", "s"}},
		{"cp -r src dst", []string{"dst"}},
		{"cp one", nil},
		{"sed -n 1,9p main.go", nil},
		{"sed -i 's/a/b/' main.go util.go", []string{"main.go", "util.go"}},
		{"sed -i '' -e 's/a/b/' -e 's|c|d|' main.go", []string{"main.go"}},
		{"sed --in-place=.bak \"s/$X/y/\" main.go", []string{"main.go"}},
		{"sudo LANG=C rm /etc/x", []string{"/etc/x"}},
		{"cd web && echo 1 > a.ts; cd src\nrm b.ts; cd /abs && rm c; cd $X && rm d /e", []string{"web/a.ts", "web/src/b.ts", "/abs/c", "/e"}},
		{"cd - && rm a", nil},
		{"cat > a.py <<'EOF'\nif a > b:\n  rm x\nEOF\nrm y", []string{"a.py", "y"}},
		{"cat <<-END > b.txt\n\tx > y\n\tEND\necho done > c.txt", []string{"b.txt", "c.txt"}},
		{"cat <<A <<B\n> 1\nA\n> 2\nB\nrm z", []string{"z"}},
		{"wc < in.txt > out.txt", []string{"out.txt"}},
		{"grep x <<< 'a > b' > hit", []string{"hit"}},
		{"diff <(sort a) <(sort b) > d.txt", []string{"d.txt"}},
		{"tee >(gzip > x.gz) < y", []string{"x.gz"}},
		{"[[ a > b ]] && rm c", []string{"c"}},
		{"if [[ $x > 1 ]]; then rm c; fi", []string{"c"}},
		{"for f in a b; do rm $f c; done", []string{"c"}},
		{"echo a -> b; echo c => d", nil},
		{"# rm a\nrm b # rm c", []string{"b"}},
		{"rm a \\\n  b", []string{"a", "b"}},
		{"git commit -m \"$(cat <<'EOF'\nfix (1): it's > that\n1) rm x\nEOF\n)\" && rm done", []string{"done"}},
		{"echo $(( a > b )) ${x:-> y}", nil},
		{"rm ~/x", []string{"~/x"}},
		{"echo 'never closed > x", nil},
		{"echo \"never closed > x", nil},
		{"rm same same", []string{"same"}},
		{"> created", []string{"created"}},
		{"echo >", nil},
	} {
		if diff := cmp.Diff(c.want, shellWrites(c.in)); diff != "" {
			t.Errorf("%s\n%s", c.in, diff)
		}
	}
}

// However long the command is, only its beginning is read, and nested openings
// cost no more than their length.
func TestShellWritesLong(t *testing.T) {
	for _, unit := range []string{"<<", ">", "$(", "`", "\"", "(", "[[ ", "a>b;", "<(", ">(", "cd a;"} {
		shellWrites(strings.Repeat(unit, shellLimit))
	}
}

func FuzzShellWrites(f *testing.F) {
	f.Add("cat > a <<'E'\nx\nE\nrm b | tee \"c d\" >> $(x) 2>&1")
	f.Add("echo `a` ${b} $((c)) [[ d > e ]] <(f) <<<g")
	f.Fuzz(func(t *testing.T, command string) {
		seen := map[string]bool{}
		for _, p := range shellWrites(command) {
			if p == "" || seen[p] || strings.ContainsAny(p, "\n\x00") || strings.HasPrefix(p, "/dev/") {
				t.Fatalf("%q gives %q", command, p)
			}
			seen[p] = true
		}
	})
}
