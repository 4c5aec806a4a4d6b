package harness

import (
	"path"
	"slices"
	"strings"
)

// shellLimit is how much of a shell command is read for the paths it writes.
const shellLimit = 64 << 10

// shellWrites guesses which paths a shell command writes, moves or deletes: targets
// of >, >> and tee, files of sed -i, and operands of mv, rm and cp's last. It would
// rather miss one than name a wrong one: a word with a variable, a substitution or
// a glob in it is no path, and neither are devices. Bodies of here-documents,
// quoted text and comments are not read as commands. A relative path is joined to
// a literal "cd" before it.
func shellWrites(command string) []string {
	if len(command) > shellLimit {
		command = command[:shellLimit]
	}
	w := shellWriter{}
	lex := shellLexer{src: command}
	var words []shellWord
	for {
		tok := lex.next()
		if tok.kind == shellRedirect {
			if tok = lex.next(); tok.kind == shellPlain {
				w.write(tok)
				continue
			}
		}
		switch tok.kind {
		case shellPlain:
			words = append(words, tok)
			continue
		case shellRedirect: // "> >": nothing to write to
			continue
		}
		w.command(words)
		words = words[:0]
		if tok.kind == shellEnd {
			return w.paths
		}
	}
}

// shellPrefixes are words before the name of the command that matters.
var shellPrefixes = words("sudo command time git if then else elif while until do ! {")

type shellWriter struct {
	paths []string
	dir   string // from a literal cd
	lost  bool   // after a cd to a place we cannot tell
}

func (w *shellWriter) write(word shellWord) {
	p := word.text
	if p == "" || word.open || p == "-" || strings.HasPrefix(p, "/dev/") || strings.ContainsAny(p, "\n\x00") {
		return
	}
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
		if w.lost {
			return
		}
		if w.dir != "" {
			p = path.Join(w.dir, p)
		}
	}
	w.paths = appendNew(w.paths, strings.Clone(p))
}

// command takes the words of one simple command.
func (w *shellWriter) command(words []shellWord) {
	for len(words) > 0 {
		first := words[0].text
		if shellPrefixes[first] || isAssignment(first) {
			words = words[1:]
			continue
		}
		break
	}
	if len(words) < 2 {
		return
	}
	name, args := path.Base(words[0].text), words[1:]
	var operands []shellWord
	for i, a := range args {
		if a.text == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(a.text, "-") || a.quoted {
			operands = append(operands, a)
		}
	}
	switch name {
	case "cd":
		w.cd(args)
	case "tee", "rm", "mv":
		for _, o := range operands {
			w.write(o)
		}
	case "cp":
		if len(operands) > 1 {
			w.write(operands[len(operands)-1])
		}
	case "sed":
		inPlace := func(a shellWord) bool {
			return strings.HasPrefix(a.text, "-i") || strings.HasPrefix(a.text, "--in-place")
		}
		// BSD's -i takes its suffix as a word of its own, often an empty one; -e
		// takes the script. What is left after the script are files.
		if !slices.ContainsFunc(args, inPlace) {
			return
		}
		operands = slices.DeleteFunc(operands, func(o shellWord) bool { return o.text == "" })
		for _, o := range operands[min(1, len(operands)):] {
			if !looksLikeSedScript(o.text) {
				w.write(o)
			}
		}
	}
}

func (w *shellWriter) cd(args []shellWord) {
	to := args[0]
	switch {
	case to.open || to.text == "-" || to.text == "":
		w.lost = true
	case strings.HasPrefix(to.text, "/") || strings.HasPrefix(to.text, "~"):
		w.dir, w.lost = to.text, false
	default:
		w.dir = path.Join(w.dir, to.text)
	}
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func looksLikeSedScript(s string) bool {
	return len(s) > 2 && s[0] == 's' && strings.Count(s, s[1:2]) >= 2 && strings.ContainsAny(s[1:2], "/|#,@")
}

type shellKind int

const (
	shellEnd      shellKind = iota
	shellPlain              // a word
	shellRedirect           // > >> >| &> and the like: a path follows
	shellBreak              // ; & | newline and parentheses: a command ends
)

// A shellWord is one token. open: its value depends on more than its text.
type shellWord struct {
	kind         shellKind
	text         string
	open, quoted bool
}

// shellLexer cuts a command into words as a shell does, as far as is needed here.
type shellLexer struct {
	src      string
	pos      int
	heredocs []string // delimiters whose bodies begin after the next newline
	test     bool     // inside [[ … ]], where > compares
}

func (l *shellLexer) next() shellWord {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			l.pos++
		case c == '\\' && strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.pos += 2
		case c == '#':
			if nl := strings.IndexByte(l.src[l.pos:], '\n'); nl >= 0 {
				l.pos += nl
			} else {
				l.pos = len(l.src)
			}
		case c == '\n':
			l.pos++
			l.skipHeredocs()
			return shellWord{kind: shellBreak}
		case c == '>' && !l.test:
			return l.redirect()
		case c == '&' && strings.HasPrefix(l.src[l.pos:], "&>") && !l.test:
			l.pos++
			return l.redirect()
		case c == '<' && strings.HasPrefix(l.src[l.pos:], "<<") && !strings.HasPrefix(l.src[l.pos:], "<<<"):
			l.pos += 2
			if l.pos < len(l.src) && l.src[l.pos] == '-' {
				l.pos++
			}
			if tag := l.next(); tag.kind == shellPlain {
				l.heredocs = append(l.heredocs, tag.text)
			}
		case c == '<':
			l.pos += len(l.src[l.pos:]) - len(strings.TrimLeft(l.src[l.pos:], "<"))
			if l.pos < len(l.src) && l.src[l.pos] == '(' {
				continue // a process substitution: its parenthesis ends the command
			}
			l.next() // an input is not a word of the command
		case strings.IndexByte(";&|()", c) >= 0:
			l.pos++
			return shellWord{kind: shellBreak}
		default:
			return l.word()
		}
	}
	return shellWord{kind: shellEnd}
}

// redirect stands at a ">". Duplicated descriptors and process substitutions are no files.
func (l *shellLexer) redirect() shellWord {
	l.pos++
	for l.pos < len(l.src) && (l.src[l.pos] == '>' || l.src[l.pos] == '|') {
		l.pos++
	}
	if l.pos < len(l.src) && l.src[l.pos] == '&' { // >&2, >&-, and >&file
		l.pos++
		if l.pos < len(l.src) && (l.src[l.pos] == '-' || l.src[l.pos] >= '0' && l.src[l.pos] <= '9') {
			l.pos++
			return l.next()
		}
	}
	return shellWord{kind: shellRedirect}
}

func (l *shellLexer) word() shellWord {
	w := shellWord{kind: shellPlain}
	var b strings.Builder
	start := l.pos
loop:
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case strings.IndexByte(" \t\r\n;&|()<", c) >= 0:
			break loop
		case c == '>':
			if l.test {
				b.WriteByte(c)
				l.pos++
				continue
			}
			if n := l.src[start:l.pos]; strings.Trim(n, "0123456789") == "" {
				return l.redirect() // 2>file: the digits are a descriptor
			}
			if prev := l.src[l.pos-1]; prev == '-' || prev == '=' {
				w.open = true // an arrow, -> or =>, in text that lost its quotes
				l.pos++
				continue
			}
			break loop
		case c == '\\' && l.pos+1 < len(l.src):
			b.WriteByte(l.src[l.pos+1])
			l.pos += 2
		case c == '\'':
			w.quoted = true
			end := strings.IndexByte(l.src[l.pos+1:], '\'')
			if end < 0 {
				l.pos = len(l.src)
				w.open = true
				break loop
			}
			b.WriteString(l.src[l.pos+1 : l.pos+1+end])
			l.pos += end + 2
		case c == '"':
			w.quoted = true
			l.doubleQuoted(&b, &w)
		case c == '$' || c == '`':
			w.open = true
			l.substitution()
		default:
			if strings.IndexByte("*?{[", c) >= 0 {
				w.open = true
			}
			b.WriteByte(c)
			l.pos++
		}
	}
	w.text = b.String()
	switch w.text {
	case "[[":
		l.test = true
	case "]]":
		l.test = false
	}
	return w
}

func (l *shellLexer) doubleQuoted(b *strings.Builder, w *shellWord) {
	l.pos++
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '"':
			l.pos++
			return
		case c == '\\' && l.pos+1 < len(l.src):
			b.WriteByte(l.src[l.pos+1])
			l.pos += 2
		case c == '$' || c == '`':
			w.open = true
			l.substitution()
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	w.open = true // never closed: the command was cut
}

// closingParen is the length of the parenthesised text that s begins with, quotes
// and here-documents inside it respected.
func closingParen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'', '"':
			end := strings.IndexByte(s[i+1:], s[i])
			if end < 0 {
				return len(s)
			}
			i += end + 1
		case '<':
			if strings.HasPrefix(s[i:], "<<") && !strings.HasPrefix(s[i:], "<<<") {
				i += heredocLen(s[i:]) - 1
			}
		}
	}
	return len(s)
}

// heredocLen is the length of the here-document that s begins with, from its "<<"
// through its last line.
func heredocLen(s string) int {
	first, body, _ := strings.Cut(s, "\n")
	tag, _, _ := strings.Cut(strings.TrimLeft(first[2:], "- "), " ")
	tag = strings.Trim(tag, `'"\`)
	for body != "" {
		line, rest, _ := strings.Cut(body, "\n")
		if strings.TrimSpace(line) == tag {
			return len(s) - len(body) + len(line)
		}
		body = rest
	}
	return len(s)
}

// substitution passes over $name, ${…}, $(…) and `…`, whose inside is not looked at.
func (l *shellLexer) substitution() {
	rest := l.src[l.pos:]
	switch {
	case rest[0] == '`':
		if end := strings.IndexByte(rest[1:], '`'); end >= 0 {
			l.pos += end + 2
		} else {
			l.pos = len(l.src)
		}
	case strings.HasPrefix(rest, "$("):
		l.pos += 1 + closingParen(rest[1:])
	case strings.HasPrefix(rest, "${"):
		if end := strings.IndexByte(rest, '}'); end >= 0 {
			l.pos += end + 1
		} else {
			l.pos = len(l.src)
		}
	default:
		l.pos++
	}
}

func (l *shellLexer) skipHeredocs() {
	for _, tag := range l.heredocs {
		for l.pos < len(l.src) {
			line, rest, more := strings.Cut(l.src[l.pos:], "\n")
			if l.pos = len(l.src) - len(rest); !more {
				l.pos = len(l.src)
			}
			if strings.TrimLeft(line, "\t") == tag || strings.TrimSpace(line) == tag {
				break
			}
		}
	}
	l.heredocs = l.heredocs[:0]
}
