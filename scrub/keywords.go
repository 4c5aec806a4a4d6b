package scrub

// An automaton finds all of a fixed list of words in one pass over a text,
// without regard to ASCII case: Aho-Corasick as a full table, one load a byte.
// It is read-only once built and safe for concurrent use. (The library that
// gitleaks itself uses wants a lower-cased copy of the text and costs several
// times as much a byte; this table is what bounds a transcript's scrubbing.)
type automaton struct {
	class [256]byte // a byte's column; 0 for bytes that no word holds
	shift uint
	next  []uint16 // state<<shift | class → state, with hasWord set where words end
	words [][]int  // by state: the words that end there
	sizes []int    // by word: its length in bytes
}

const hasWord = 1 << 15

// newAutomaton builds the table for words, which are lower case and not empty.
// There is room for 32,767 states, far above what the rules need.
func newAutomaton(words []string) *automaton {
	a := &automaton{sizes: make([]int, len(words))}
	columns := byte(1)
	for _, w := range words {
		for i := range len(w) {
			if a.class[w[i]] == 0 {
				a.class[w[i]] = columns
				columns++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	for 1<<a.shift < int(columns) {
		a.shift++
	}
	width := 1 << a.shift
	a.next, a.words = make([]uint16, width), make([][]int, 1)
	for id, w := range words {
		a.sizes[id] = len(w)
		s := 0
		for i := range len(w) {
			slot := s<<a.shift | int(a.class[w[i]])
			if a.next[slot] == 0 {
				a.next[slot] = uint16(len(a.words))
				a.next = append(a.next, make([]uint16, width)...)
				a.words = append(a.words, nil)
			}
			s = int(a.next[slot])
		}
		a.words[s] = append(a.words[s], id)
	}
	a.close(width)
	return a
}

// close fills the trie's missing edges breadth first, with the edges of each
// state's longest proper suffix, and marks the edges into states with words.
func (a *automaton) close(width int) {
	fail := make([]int, len(a.words))
	var queue []int
	for c := range width {
		if s := int(a.next[c]); s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		a.words[s] = append(a.words[s], a.words[fail[s]]...)
		for c := range width {
			slot, onFail := s<<a.shift|c, a.next[fail[s]<<a.shift|c]
			if child := int(a.next[slot]); child != 0 {
				fail[child] = int(onFail)
				queue = append(queue, child)
			} else {
				a.next[slot] = onFail
			}
		}
	}
	for i, s := range a.next {
		if len(a.words[s]) > 0 {
			a.next[i] |= hasWord
		}
	}
}

// each calls found with every word in t and the offset after it, in the order
// of these offsets, until found returns false.
func (a *automaton) each(t []byte, found func(word, end int) bool) {
	s, next, shift := 0, a.next, a.shift
	for i, c := range t {
		e := next[s<<shift|int(a.class[c])]
		s = int(e &^ hasWord)
		if e&hasWord != 0 {
			for _, w := range a.words[s] {
				if !found(w, i+1) {
					return
				}
			}
		}
	}
}

// in reports whether t holds any of the words.
func (a *automaton) in(t []byte) bool {
	hit := false
	a.each(t, func(int, int) bool { hit = true; return false })
	return hit
}
