package search

import "strings"

// stopWords are English words that say nothing of what is looked for. They are
// indexed, and searched within phrases and where a query has no other words. Kept
// short on purpose: what names a thing in code (new, set, get, type) is no stop word.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	var a analyzer
	for _, w := range strings.Fields(`
		a about an and any are as at be because been being but by can could did do does doing done don't
		for from had has have having he her here him his how i i'm i've if in instead into is isn't it it's its
		just let me my no nor of off on once one only or our out over own please same she should so some
		such than that that's the their them then there these they this those to too turned until up
		us very was wasn't we were what what's when where which while who whom whose why will with
		would you your yours`) {
		a.analyze(w, func(t token) { m[string(t.term)] = true })
	}
	return m
}()

func (t *term) stop() bool { return stopWords[t.whole] }
