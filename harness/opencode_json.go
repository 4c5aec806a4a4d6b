package harness

// openCodeSplitter cuts JSON documents into the values that matter, as their bytes
// come line by line: the members of a top-level object, and of the member "messages"
// the elements one by one. An export of any size, printed over many lines or on one,
// is so read in the memory of its longest message.
type openCodeSplitter struct {
	// What is found. The bytes are only valid during the call and have balanced
	// brackets, but need not be valid JSON.
	begin   func()                       // an object begins
	member  func(key string, raw []byte) // one of its members
	element func(raw []byte)             // one of its messages
	end     func()                       // it ended, or was cut off
	lost    func()                       // bytes were passed over

	depth    int  // open objects and arrays
	inString bool // inside a string
	escaped  bool // after a backslash in it
	last     byte // the last byte that is not white space

	key      []byte // the member's name
	named    bool   // key is whole: a value comes
	list     bool   // inside "messages"
	taking   bool   // item is being collected
	tooLarge bool   // and is given up
	base     int    // depth at which the item began
	item     []byte
}

// line takes the next line, with or without its newline.
func (s *openCodeSplitter) line(line []byte) {
	if len(line) > 0 && s.depth > 0 && (s.inString || line[0] == '{' && !s.expectsValue()) {
		s.cut() // what went before was torn: no string holds a newline, no object follows another
	}
	garbage := false
	for i := 0; i < len(line); i++ {
		if s.inString && !s.escaped {
			plain := i
			for i < len(line) && line[i] != '"' && line[i] != '\\' {
				i++
			}
			s.keep(line[plain:i]...)
			if i == len(line) {
				break
			}
		}
		if c := line[i]; s.depth == 0 && !isJSONSpace(c) && c != '{' {
			garbage = true
		} else {
			s.byte(c)
		}
	}
	if garbage {
		s.lost()
	}
}

// finish ends the input.
func (s *openCodeSplitter) finish() {
	if s.depth > 0 {
		s.cut()
	}
}

// expectsValue reports whether another value may follow what was read last.
func (s *openCodeSplitter) expectsValue() bool {
	return s.last == '[' || s.last == ',' || s.last == ':'
}

// cut gives up the object that is open.
func (s *openCodeSplitter) cut() {
	s.lost()
	*s = openCodeSplitter{begin: s.begin, member: s.member, element: s.element, end: s.end, lost: s.lost, item: s.item[:0]}
	s.end()
}

func (s *openCodeSplitter) byte(c byte) {
	if s.inString {
		s.keep(c)
		switch {
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			s.inString, s.last = false, c
			s.stringEnds()
		}
		return
	}
	if isJSONSpace(c) {
		s.scalarEnds()
		if s.taking {
			s.keep(c)
		}
		return
	}
	switch c {
	case '"':
		s.starts()
		s.inString = true
		s.keep(c)
	case '{', '[':
		s.opens(c)
	case '}', ']':
		s.closes(c)
	case ',':
		s.scalarEnds()
		if s.taking {
			s.keep(c)
		} else if s.depth == 1 {
			s.named = false
		}
	case ':':
		if s.taking {
			s.keep(c)
		} else {
			s.named = s.depth == 1
		}
	default:
		s.starts()
		s.keep(c)
	}
	s.last = c
}

func (s *openCodeSplitter) opens(c byte) {
	switch {
	case s.depth == 0:
		s.begin()
		s.named = false
	case c == '[' && s.depth == 1 && s.named && !s.taking && string(s.key) == "messages":
		s.list = true
	default:
		s.starts()
		s.keep(c)
	}
	s.depth++
}

func (s *openCodeSplitter) closes(c byte) {
	s.scalarEnds()
	if s.depth--; s.taking {
		s.keep(c)
		if s.depth == s.base {
			s.take()
		}
		return
	}
	switch s.depth {
	case 0:
		s.named = false
		s.end()
	case 1:
		s.list, s.named = false, false
	}
}

// starts begins a member's name, or an item where a value begins.
func (s *openCodeSplitter) starts() {
	if s.taking || s.depth == 0 {
		return
	}
	s.item, s.tooLarge, s.base, s.taking = s.item[:0], false, s.depth, true
}

// keep collects bytes of the item.
func (s *openCodeSplitter) keep(b ...byte) {
	switch {
	case s.tooLarge || !s.taking:
	case len(s.item)+len(b) > MaxLine:
		s.tooLarge, s.item = true, nil
	default:
		s.item = append(s.item, b...)
	}
}

// stringEnds ends a member's name, or an item that is a string.
func (s *openCodeSplitter) stringEnds() {
	if !s.taking || s.depth != s.base {
		return
	}
	if s.depth == 1 && !s.named {
		s.key, s.taking = append(s.key[:0], s.item[1:len(s.item)-1]...), false
		return
	}
	s.take()
}

// scalarEnds ends an item that is a number or a literal, which nothing closes.
func (s *openCodeSplitter) scalarEnds() {
	if s.taking && s.depth == s.base && len(s.item) > 0 {
		switch s.item[0] {
		case '{', '[', '"':
		default:
			s.take()
		}
	}
}

// take hands an item over.
func (s *openCodeSplitter) take() {
	s.taking = false
	switch {
	case s.tooLarge:
		s.lost()
	case s.list:
		s.element(s.item)
	case s.named:
		s.member(string(s.key), s.item)
	default:
		s.lost()
	}
	if cap(s.item) > openCodeKeepBuffer {
		s.item = nil
	}
}

// openCodeKeepBuffer is the size up to which the buffer of one item serves the next.
const openCodeKeepBuffer = 4 << 20

func isJSONSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
