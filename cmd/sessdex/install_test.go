package main

import (
	"testing"

	"sessdex/harness"
	"sessdex/install"
)

func TestEveryAgentIsAHarness(t *testing.T) {
	for _, a := range install.All {
		if harness.ByName(a.Name) == nil {
			t.Errorf("the hook of %s imports a harness that there is not", a.Name)
		}
	}
}

func TestProgramsThatPass(t *testing.T) {
	for exe, want := range map[string]bool{
		"/tmp/go-build1634/b001/exe/sessdex":             true,
		"/home/ada/.cache/go-build/3f/3f0a-d/sessdex":    true,
		`C:\Users\ada\AppData\Local\go-build\3f\sessdex`: true,
		"/home/ada/go/bin/sessdex":                       false,
		"/srv/go-builder/bin/sessdex":                    false,
	} {
		if passing(exe) != want {
			t.Errorf("passing(%q) is %v", exe, !want)
		}
	}
}
