package contextpack

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// Both encodings first cut text into pieces by a regular expression and merge
// bytes only inside a piece. The expressions, as tiktoken publishes them, with
// alternatives tried in this order:
//
//	o200k_base
//	  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	  \p{N}{1,3}
//	   ?[^\s\p{L}\p{N}]+[\r\n/]*
//	  \s*[\r\n]+
//	  \s+(?!\S)
//	  \s+
//
//	cl100k_base
//	  (?i:'s|'t|'re|'ve|'m|'ll|'d)
//	  [^\r\n\p{L}\p{N}]?\p{L}+
//	  \p{N}{1,3}
//	   ?[^\s\p{L}\p{N}]+[\r\n]*
//	  the three for white space, as above
//
// They are written out by hand here because a backtracking matcher took nine
// tenths of the time of a pack; the tests hold every piece against tiktoken-go's.
//
// What follows from them, and what packing is built on: no alternative looks
// behind, and none that matches a newline goes on past it into anything but white
// space and "/". So when a ends in a newline and b begins with neither,
// count(a+b) = count(a) + count(b).

// classes of a rune, as the expressions name them.
type classes uint8

const (
	head    classes = 1 << iota // Lu Lt Lm Lo M: may begin a word in o200k
	tail                        // Ll Lm Lo M: may go on
	letter                      // L
	number                      // N
	space                       // white space
	newline                     // \r \n
)

// classTable holds the classes of the runes below U+10000. Those above are
// looked up: nearly all of them are symbols.
var classTable = sync.OnceValue(func() *[1 << 16]classes {
	var t [1 << 16]classes
	for class, tables := range classTables {
		for _, table := range tables {
			for _, r := range table.R16 {
				for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
					t[c] |= class
				}
			}
		}
	}
	t['\r'] |= newline
	t['\n'] |= newline
	return &t
})

var classTables = map[classes][]*unicode.RangeTable{
	head:   {unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M},
	tail:   {unicode.Ll, unicode.Lm, unicode.Lo, unicode.M},
	letter: {unicode.L},
	number: {unicode.N},
	space:  {unicode.White_Space},
}

// classAt is the classes of the rune at the start of s and its length; 0, 0 at
// the end.
func classAt(s string) (classes, int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf {
		return classTable()[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r < 1<<16 {
		return classTable()[r], size
	}
	var c classes
	for class, tables := range classTables {
		if unicode.In(r, tables...) {
			c |= class
		}
	}
	return c, size
}

// run is the length of the longest beginning of s whose runes all have one of
// the classes in want.
func run(s string, want classes) int {
	n := 0
	for {
		c, size := classAt(s[n:])
		if size == 0 || c&want == 0 {
			return n
		}
		n += size
	}
}

// firstO200k is the length of the first piece of s, which is not empty, in o200k_base.
func firstO200k(s string) int {
	c, size := classAt(s)
	if c&(letter|number|newline) == 0 { // may stand before a word
		if n := lowerWord(s[size:]); n > 0 {
			return size + n
		}
	}
	if n := lowerWord(s); n > 0 {
		return n
	}
	if c&(letter|number|newline) == 0 {
		if n := upperWord(s[size:]); n > 0 {
			return size + n
		}
	}
	if n := upperWord(s); n > 0 {
		return n
	}
	return firstOther(s, c, size, true)
}

// lowerWord matches head*tail+ and a contraction; 0: no match.
func lowerWord(s string) int {
	end, back := 0, 0 // back: where the match ends if the last part must take a rune back
	for {
		c, size := classAt(s[end:])
		if size == 0 || c&head == 0 {
			break
		}
		end += size
		if c&tail != 0 {
			back = end
		}
	}
	if n := run(s[end:], tail); n > 0 {
		back = end + n
	}
	if back == 0 {
		return 0
	}
	return back + contraction(s[back:])
}

// upperWord matches head+tail* and a contraction; 0: no match.
func upperWord(s string) int {
	n := run(s, head)
	if n == 0 {
		return 0
	}
	n += run(s[n:], tail)
	return n + contraction(s[n:])
}

// firstCL100k is the length of the first piece of s, which is not empty, in cl100k_base.
func firstCL100k(s string) int {
	if n := contraction(s); n > 0 {
		return n
	}
	c, size := classAt(s)
	if c&(letter|number|newline) == 0 {
		if n := run(s[size:], letter); n > 0 {
			return size + n
		}
	}
	if n := run(s, letter); n > 0 {
		return n
	}
	return firstOther(s, c, size, false)
}

// firstOther matches what both encodings share: numbers, signs, white space. c
// and size are those of the first rune.
func firstOther(s string, c classes, size int, slash bool) int {
	if c&number != 0 {
		n := size
		for range 2 {
			c, size := classAt(s[n:])
			if c&number == 0 {
				break
			}
			n += size
		}
		return n
	}
	from := 0
	if s[0] == ' ' {
		from = 1
	}
	if n := signs(s[from:]); n > 0 {
		n += from
		for n < len(s) && (s[n] == '\r' || s[n] == '\n' || slash && s[n] == '/') {
			n++
		}
		return n
	}
	return white(s)
}

// signs is the length of the run of what is neither white space, letter nor number.
func signs(s string) int {
	n := 0
	for {
		c, size := classAt(s[n:])
		if size == 0 || c&(letter|number|space) != 0 {
			return n
		}
		n += size
	}
}

// white is the length of the first piece of s, which begins with white space that
// belongs to no word and no sign: up to the last newline in it, else all of it but the
// last rune where something follows.
func white(s string) int {
	n, last, lines := 0, 0, 0
	for {
		c, size := classAt(s[n:])
		if size == 0 || c&space == 0 {
			break
		}
		last = size
		n += size
		if c&newline != 0 {
			lines = n
		}
	}
	switch {
	case lines > 0:
		return lines
	case n < len(s) && n > last:
		return n - last
	}
	return n
}

// contraction is the length of an English contraction at the start of s, or 0.
func contraction(s string) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	switch s[1] | 0x20 {
	case 's', 't', 'm', 'd':
		return 2
	}
	if len(s) > 2 {
		switch string([]byte{s[1] | 0x20, s[2] | 0x20}) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}
