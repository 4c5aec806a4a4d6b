package search

import "cmp"

// elsewhere marks the sessions whose inherited turns are found in another session,
// so that they add nothing to this one: what a person said is found once. That is
// so where the session they were copied from is here and may be seen. Of several
// copies whose origin is not, the longest stands in for it. visible are the rows that
// count as here; nil means all.
func (t *table) elsewhere(visible []bool) []bool {
	here := func(i int) bool { return visible == nil || visible[i] }
	var copied []bool
	standIn := map[string]int{} // missing origin: the row that has its turns
	for i := range t.rows {
		r := &t.rows[i]
		if r.inherited == 0 || !here(i) {
			continue
		}
		if copied == nil {
			copied = make([]bool, len(t.rows))
		}
		if o, ok := t.byID[r.origin]; ok && here(o) && (r.sub || !t.rows[o].sub) {
			copied[i] = !t.firstOfCircle(i)
			continue
		}
		if best, ok := standIn[r.origin]; !ok || t.longer(i, best) {
			standIn[r.origin] = i
		}
		copied[i] = true
	}
	for _, i := range standIn {
		copied[i] = false
	}
	return copied
}

// longer reports whether row a stands in for a missing origin rather than row b.
func (t *table) longer(a, b int) bool {
	ra, rb := &t.rows[a], &t.rows[b]
	if ra.sub != rb.sub {
		return rb.sub
	}
	return cmp.Or(cmp.Compare(rb.inherited, ra.inherited), cmp.Compare(ra.id, rb.id)) < 0
}

// firstOfCircle reports whether a session descends from itself, as a transcript may
// claim, and is the one of its circle that keeps its turns.
func (t *table) firstOfCircle(i int) bool {
	const longest = 100 // generations
	first := t.rows[i].id
	for at, n := i, 0; n < longest; n++ {
		next, ok := t.byID[t.rows[at].origin]
		switch {
		case !ok || t.rows[at].inherited == 0:
			return false
		case next == i:
			return first == t.rows[i].id
		}
		at = next
		first = min(first, t.rows[at].id)
	}
	return false
}

// orphans marks the sub-agents that no session here started: nobody would come
// to them by way of it, so they are listed like sessions of people. Those that
// were asked nothing readable (guardians) never are.
func (t *table) orphans() []bool {
	var out []bool
	for i := range t.rows {
		r := &t.rows[i]
		if !r.sub || r.mute || r.parent == "" {
			continue
		}
		if p, ok := t.byID[r.parent]; !ok || p == i {
			if out == nil {
				out = make([]bool, len(t.rows))
			}
			out[i] = true
		}
	}
	return out
}
