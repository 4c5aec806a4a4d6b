package session

import "testing"

func TestCommand(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"go test ./...", "go test ./..."},
		{"command: go test\ndescription: Run the tests\ntimeout: 90", "go test"},
		{"description: Run the tests\ntimeout: 90\ncommand: go test", "go test"},
		{"cmd: ls\nworkdir: /src", "ls"},
		{"go vet ./...\nworkdir: /src\njustification: it needs the network", "go vet ./..."},
		{"command: cat > a.yml <<E\nname: x\ncommand: y\nE\nls\ndescription: Write it", "cat > a.yml <<E\nname: x\ncommand: y\nE\nls"},
		{"cat > a.yml <<E\ncommand: y\nE", "cat > a.yml <<E\ncommand: y\nE"},
		{"description: Nothing to run", ""},
		{"command: ", ""},
		{"git commit -m 'fix: a bug'", "git commit -m 'fix: a bug'"},
		{"echo description: none", "echo description: none"},
		{"command: \nls\ntimeout: 5", "\nls"},
	} {
		if got := Command(c.in); got != c.want {
			t.Errorf("Command(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
