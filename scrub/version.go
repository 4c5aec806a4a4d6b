package scrub

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// revision counts changes of the code that decides what is masked. The text of
// the rules is hashed as it is.
const revision = "2"

// Rules is the version of the rule set: twelve hex digits that change whenever
// what is masked may have changed. It is known without the rules being made.
func (s *Scrubber) Rules() string { return version() }

// version hashes what the rules are made from: gitleaks' text, what we change
// about it, and our table. What code derives from them is revision's to tell.
var version = sync.OnceValue(func() string {
	h := sha256.New()
	fmt.Fprintln(h, revision)
	h.Write([]byte(config.DefaultConfig))
	for _, id := range slices.Sorted(maps.Keys(adjustments)) {
		a := adjustments[id]
		fmt.Fprintln(h, id, a.keywords, a.drop)
		if a.shape != nil {
			fmt.Fprintln(h, a.shape(token), a.shape(assign), a.shape(near))
		}
	}
	for _, r := range ourRules() {
		fmt.Fprintln(h, r.id, r.keywords, r.expr, r.shape, r.entropy, r.group)
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
})
