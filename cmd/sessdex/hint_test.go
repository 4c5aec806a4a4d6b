package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"sessdex/search"
)

// What mends an index is a command, which only the command line names.
func TestHints(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("ask: %w", search.ErrMissing): "`sessdex import`",
		fmt.Errorf("ask: %w", search.ErrDamaged): "`sessdex reindex`",
		fmt.Errorf("ask: %w", search.ErrForeign): "--data",
	} {
		if got := withHint(err); !strings.HasPrefix(got, err.Error()+" (") || !strings.Contains(got, want) {
			t.Errorf("%q", got)
		}
	}
	if got := withHint(errors.New("disk on fire")); got != "disk on fire" {
		t.Errorf("%q", got)
	}
}

// A full disk is called that also where a library hands on only its words.
func TestDiskFull(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("store: %w", syscall.ENOSPC),
		fmt.Errorf("index: %v", syscall.ENOSPC),
	} {
		if got := oneError(err); !strings.HasPrefix(got, "the disk is full: make room") {
			t.Errorf("%q", got)
		}
	}
}
