package search

import (
	"strings"
	"unicode/utf8"
)

// The analyzer turns text into tokens, the same way for transcripts and for
// queries. Its rules, in the order they are applied:
//
//   - A word is a run of letters, digits and marks of one kind of script, joined
//     by single "_", "-", "." or "'": foo_bar, bd-q3fy, main.go, 2.1.62, don't.
//     Everything else ends it, so a path, a URL or std::vector<int> is several
//     words. "c++", "c#" and "f#" are words.
//   - Words are lower-cased, full-width forms become ordinary ones, and accents
//     of Latin and Greek letters (and of ё) are dropped.
//   - A word of several parts gives the whole, without its joints ("." stays), and
//     each part: fooBar, foo_bar and foo-bar are all "foobar" + "foo" + "bar", so an
//     identifier is found whatever its case style. Each member of a dotted name
//     is a whole of its own.
//   - A word, whole or part, that is letters only is reduced to its English stem.
//   - Scripts without spaces between words (Chinese, Japanese, Korean, Thai and
//     their like) give each character and each pair of neighbours.
//   - Emoji are words. Terminal colours, and the line numbers that tools put before
//     each line of a file, are not.
//   - No token is longer than maxToken bytes, and long noise (base64, hashes)
//     keeps only its beginning.
const (
	maxToken  = 256 // bytes: far longer ones are known to corrupt segments
	noiseFrom = 64  // bytes: longer words that look random are noise
	noiseKeep = 40  // bytes of noise that stay searchable: a whole git hash
	maxParts  = 12  // words of more parts are indexed without them
)

// A token is one term of a text. The bytes are valid during the call only.
type token struct {
	term  []byte
	word  int  // number of the word it comes from, from 0
	start int  // the word's place in the text, in bytes
	end   int  //
	part  bool // a part of the word or one of its dotted members
	pair  bool // two neighbours of a script without spaces
}

// An analyzer holds the scratch space of one goroutine.
type analyzer struct {
	word  []byte // the current word, folded, without joints (dots stay)
	parts []int  // where parts begin in word; the first is 0
	dots  int    // dots in word
	buf   []byte // a token that had to be changed
}

// analyze calls yield for every token of text, in order.
func (a *analyzer) analyze(text string, yield func(token)) {
	word := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			switch asciiKind[c] {
			case kindLower, kindUpper, kindDigit:
				end := a.scan(text, i)
				if !lineNumber(text, i, end) {
					a.emit(text, i, end, word, yield)
					word++
				}
				i = end
			default:
				if i++; c == escape {
					i = afterEscape(text, i)
				}
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch kindOf(r) {
		case kindLower, kindUpper, kindDigit:
			end := a.scan(text, i)
			a.emit(text, i, end, word, yield)
			word++
			i = end
		case kindDense:
			i, word = a.dense(text, i, word, yield)
		case kindSymbol:
			yield(token{term: append(a.buf[:0], text[i:i+size]...), word: word, start: i, end: i + size})
			word++
			i += size
		default:
			i += size
		}
	}
}

// escape begins the control sequences of terminals.
const escape = 0x1b

// afterEscape is where a control sequence ends whose escape ends at i.
func afterEscape(text string, i int) int {
	if i >= len(text) || text[i] != '[' {
		return i
	}
	for j := i + 1; j < len(text) && j < i+16; j++ {
		switch c := text[j]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			return j + 1
		case c != ';' && c != '?' && (c < '0' || c > '9'):
			return i
		}
	}
	return i
}

// lineNumber reports whether the word from start to end is a number at the
// beginning of a line with an arrow, a tab or a bar after it.
func lineNumber(text string, start, end int) bool {
	if end-start > 6 || text[start] > '9' || text[end-1] > '9' || end >= len(text) {
		return false
	}
	if c := text[end]; c != '\t' && !strings.HasPrefix(text[end:], "→") {
		return false
	}
	for start > 0 && text[start-1] == ' ' {
		start--
	}
	return start == 0 || text[start-1] == '\n'
}

// scan reads the word that begins at i into a.word and a.parts and returns its
// end in text. The word grows to a little over noiseFrom or maxToken at most;
// the rest of a longer one is passed over.
func (a *analyzer) scan(text string, i int) int {
	a.word, a.parts, a.dots = a.word[:0], append(a.parts[:0], 0), 0
	prev := uint8(kindBreak) // kind of the last character that was kept
	for i < len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			k := kindOf(r)
			switch k {
			case kindLower, kindUpper, kindDigit:
				a.camel(k, prev)
				if len(a.word) <= maxToken {
					a.word = appendFolded(a.word, r)
				}
				prev = k
			case kindMark:
			case kindJoint: // ’
				if !wordAt(text, i+size) {
					return i
				}
			default:
				return i
			}
			i += size
			continue
		}
		switch k := asciiKind[c]; k {
		case kindLower, kindDigit:
			if prev == kindUpper && k == kindLower {
				a.camel(k, prev)
			}
			if len(a.word) <= maxToken {
				a.word = append(a.word, c)
			}
			prev = k
		case kindUpper:
			a.camel(k, prev)
			if len(a.word) <= maxToken {
				a.word = append(a.word, c|0x20)
			}
			prev = k
		case kindJoint:
			if !wordAt(text, i+1) {
				return i
			}
			if c == '.' {
				a.dots++
				if len(a.word) <= maxToken {
					a.word = append(a.word, '.')
				}
			}
			if c != '\'' {
				a.cut()
				prev = kindBreak
			}
		default:
			if n := len(a.word); n == 1 && (c == '#' || c == '+' && i+1 < len(text) && text[i+1] == '+') && prev != kindDigit {
				if c == '+' { // c++
					a.word = append(a.word, "++"...)
					return i + 2
				}
				if !wordAt(text, i+1) { // c#, f#
					a.word = append(a.word, '#')
					return i + 1
				}
			}
			return i
		}
		i++
	}
	return i
}

// camel begins a new part where the case says so: fooBar, HTTPServer.
func (a *analyzer) camel(k, prev uint8) {
	switch {
	case k == kindUpper && prev == kindLower:
		a.cut()
	case k == kindLower && prev == kindUpper:
		// "HTTPServer": the last capital belongs to what follows.
		last := len(a.word) - 1
		for last > 0 && !utf8.RuneStart(a.word[last]) {
			last--
		}
		if last > a.parts[len(a.parts)-1] {
			a.parts = append(a.parts, last)
		}
	}
}

func (a *analyzer) cut() {
	if n := len(a.word); n > a.parts[len(a.parts)-1] && n <= maxToken {
		a.parts = append(a.parts, n)
	}
}

// wordAt reports whether a word character stands at i.
func wordAt(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	if c := text[i]; c < utf8.RuneSelf {
		k := asciiKind[c]
		return k == kindLower || k == kindUpper || k == kindDigit
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	k := kindOf(r)
	return k == kindLower || k == kindUpper || k == kindDigit
}

// emit gives the tokens of the word in a.word.
func (a *analyzer) emit(text string, start, end, n int, yield func(token)) {
	w := a.word
	if len(w) > noiseFrom && a.dots == 0 && noisy(text[start:min(end, start+4*noiseFrom)]) {
		yield(token{term: w[:noiseKeep], word: n, start: start, end: end})
		return
	}
	if len(w) > maxToken {
		w = cutRune(w, maxToken)
	}
	if len(a.parts) == 1 {
		if len(w) > 0 {
			yield(token{term: a.stem(w), word: n, start: start, end: end})
		}
		return
	}
	yield(token{term: a.stem(w), word: n, start: start, end: end})
	if len(a.parts) > maxParts || numeric(w) {
		return
	}
	t := token{word: n, start: start, end: end, part: true}
	for i, from := range a.parts {
		to := len(w)
		if i+1 < len(a.parts) {
			to = a.parts[i+1]
		}
		if from >= len(w) || to > len(w) {
			break
		}
		p := w[from:to]
		if p[len(p)-1] == '.' {
			p = p[:len(p)-1]
		}
		if len(p) > 1 {
			t.term = a.stem(p)
			yield(t)
		}
	}
	if a.dots > 0 {
		a.members(w, t, yield)
	}
}

// members gives the dotted members of w that have parts of their own.
func (a *analyzer) members(w []byte, t token, yield func(token)) {
	from := 0
	for i := 0; i <= len(w); i++ {
		if i < len(w) && w[i] != '.' {
			continue
		}
		inner := 0
		for _, p := range a.parts {
			if from < p && p < i {
				inner++
			}
		}
		if inner > 0 {
			t.term = w[from:i]
			yield(t)
		}
		from = i + 1
	}
}

// dense gives the characters and pairs of a run of a script without spaces.
func (a *analyzer) dense(text string, i, word int, yield func(token)) (int, int) {
	prevAt, prev := -1, rune(0)
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if kindOf(r) != kindDense {
			break
		}
		r = fold(r)
		if prevAt >= 0 {
			a.buf = utf8.AppendRune(utf8.AppendRune(a.buf[:0], prev), r)
			yield(token{term: a.buf, word: word - 1, start: prevAt, end: i + size, pair: true})
		}
		a.buf = utf8.AppendRune(a.buf[:0], r)
		yield(token{term: a.buf, word: word, start: i, end: i + size})
		prevAt, prev = i, r
		word++
		i += size
	}
	return i, word
}

// stem is the term of a plain word: its stem where it is letters only.
func (a *analyzer) stem(w []byte) []byte {
	if len(w) < minStem || len(w) > maxStem {
		return w
	}
	for _, c := range w {
		if c < 'a' || c > 'z' {
			return w
		}
	}
	a.buf = append(a.buf[:0], w...)
	return stem(a.buf)
}

// noisy reports whether a long word looks like encoded bytes: digits mixed with
// letters, and no joint within the first noiseFrom characters.
func noisy(s string) bool {
	digits, letters := 0, 0
	for i := 0; i < len(s) && i < noiseFrom; i++ {
		switch asciiKind[s[i]&0x7f] {
		case kindDigit:
			digits++
		case kindLower, kindUpper:
			letters++
		}
	}
	return digits > 3 && digits+letters == min(len(s), noiseFrom)
}

// numeric reports whether w holds no letters: dates, versions, addresses.
func numeric(w []byte) bool {
	for _, c := range w {
		if c != '.' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
