package search

// Stems are made for words of minStem to maxStem bytes of a to z.
const (
	minStem = 3
	maxStem = 24
)

// stem reduces an English word, in place, to the form under which its singular,
// plural and verb forms meet. These are the inflectional steps (1a to 1c and 5)
// of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980; the
// derivational steps are left out, since they merge words that mean different
// things in code (general and generate, operate and operation).
func stem(w []byte) []byte {
	w = plural(w)
	w = pastAndGerund(w)
	n := len(w)
	if n > 2 && w[n-1] == 'y' && hasVowel(w[:n-1]) {
		w[n-1] = 'i'
	}
	if n > 2 && w[n-1] == 'e' {
		m := measure(w[:n-1])
		if m > 1 || m == 1 && !shortEnd(w[:n-1]) {
			w = w[:n-1]
		}
	}
	n = len(w)
	if n > 4 && w[n-1] == 'l' && w[n-2] == 'l' && measure(w[:n-1]) > 1 {
		w = w[:n-1]
	}
	return w
}

func plural(w []byte) []byte {
	n := len(w)
	switch {
	case w[n-1] != 's', w[n-2] == 's', w[n-2] == 'u', w[n-2] == 'i':
		return w // class, status, this
	case hasSuffix(w, "sses"), hasSuffix(w, "ies"):
		return w[:n-2]
	}
	return w[:n-1]
}

func pastAndGerund(w []byte) []byte {
	n := len(w)
	switch {
	case hasSuffix(w, "eed"):
		if measure(w[:n-3]) > 0 {
			return w[:n-1]
		}
		return w
	case hasSuffix(w, "ed") && hasVowel(w[:n-2]):
		w = w[:n-2]
	case hasSuffix(w, "ing") && hasVowel(w[:n-3]):
		w = w[:n-3]
	default:
		return w
	}
	n = len(w)
	switch {
	case hasSuffix(w, "at"), hasSuffix(w, "bl"), hasSuffix(w, "iz"):
		return append(w, 'e')
	case n > 1 && w[n-1] == w[n-2] && !vowel(w, n-1) && w[n-1] != 'l' && w[n-1] != 's' && w[n-1] != 'z':
		return w[:n-1]
	case measure(w) == 1 && shortEnd(w):
		return append(w, 'e')
	}
	return w
}

// measure is Porter's m: how often a vowel run is followed by a consonant run.
func measure(w []byte) int {
	m, wasVowel := 0, false
	for i := range w {
		v := vowel(w, i)
		if wasVowel && !v {
			m++
		}
		wasVowel = v
	}
	return m
}

// shortEnd is Porter's *o: consonant, vowel, consonant other than w, x, y.
func shortEnd(w []byte) bool {
	n := len(w)
	return n > 2 && !vowel(w, n-3) && vowel(w, n-2) && !vowel(w, n-1) &&
		w[n-1] != 'w' && w[n-1] != 'x' && w[n-1] != 'y'
}

func hasVowel(w []byte) bool {
	for i := range w {
		if vowel(w, i) {
			return true
		}
	}
	return false
}

func vowel(w []byte, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	case 'y':
		return i > 0 && !vowel(w, i-1)
	}
	return false
}

func hasSuffix(w []byte, s string) bool {
	return len(w) > len(s) && string(w[len(w)-len(s):]) == s
}
