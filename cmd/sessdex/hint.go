package main

import (
	"errors"

	"sessdex/search"
)

// hints are the commands that mend what an error reports. The packages below do
// not name them, since what they say is also read on a page or by a model.
var hints = []struct {
	err  error
	hint string
}{
	{search.ErrMissing, "run `sessdex import`, or `sessdex reindex` where the library holds sessions"},
	{search.ErrDamaged, "run `sessdex reindex`"},
	{search.ErrForeign, "choose one with --data"},
}

// withHint is the text of err, and the command that helps where there is one.
func withHint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return oneError(err) + " (" + h.hint + ")"
		}
	}
	return oneError(err)
}
