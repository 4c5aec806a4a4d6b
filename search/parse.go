package search

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// Parsed is a query text taken apart. Every text has one: what is no filter, no
// phrase and no exclusion is words.
type Parsed struct {
	Words   []string // as typed, in order
	Phrases []string // in double quotes: must stand like this
	Not     []string // words and phrases after "-": must not occur

	Harness []string // harness:claude-code
	Tags    []string // tag:review, all must be there
	Files   []string // file:src/main.go, all must be there
	Branch  []string // branch:main
	Repo    []string // repo:owner/name
	Author  []string // author:alice
	Role    []string // role:user
	Since   string   // since:2026-01-31, see ParseDate
	Until   string   // until:7d
}

// filters are the names that a filter may have, with the field it fills.
var filters = map[string]func(*Parsed) *[]string{
	"harness": func(p *Parsed) *[]string { return &p.Harness },
	"agent":   func(p *Parsed) *[]string { return &p.Harness },
	"tag":     func(p *Parsed) *[]string { return &p.Tags },
	"file":    func(p *Parsed) *[]string { return &p.Files },
	"branch":  func(p *Parsed) *[]string { return &p.Branch },
	"repo":    func(p *Parsed) *[]string { return &p.Repo },
	"author":  func(p *Parsed) *[]string { return &p.Author },
	"role":    func(p *Parsed) *[]string { return &p.Role },
}

// filterOrder is the order in which String writes filters.
var filterOrder = []string{"harness", "tag", "file", "branch", "repo", "author", "role"}

// maxQuery is how much of a query text is read, in bytes.
const maxQuery = 64 << 10

// ParseQuery takes a query text apart. It never fails:
//
//	word            a word
//	"two words"     a phrase; without a closing quote, words
//	-word -"a b"    a word or phrase that must not occur; --flag and -f are words, and
//	                so is -flag with words before and after it
//	name:value      a filter, where name is one of harness, tag, file, branch,
//	name:"value"    repo, author, role, since, until, and the value makes sense;
//	                anything else with a colon is a word
//
// AND, OR, NOT, parentheses and stars mean nothing.
func ParseQuery(text string) Parsed {
	var p parser
	if len(text) > maxQuery {
		text = string(cutRune([]byte(text), maxQuery))
	}
	text = strings.ToValidUTF8(text, " ")
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return p.finish()
		}
		if text[0] == '"' {
			quoted, rest, ok := cutQuoted(text)
			if quoted = oneSpace(quoted); ok && quoted != "" {
				p.Phrases = append(p.Phrases, quoted)
			}
			if !ok {
				rest = text[1:] // a stray quote
			}
			text = rest
			continue
		}
		if rest, ok := p.filter(text); ok {
			text = rest
			continue
		}
		text = p.word(text)
	}
}

// A parser collects a query. Whether "-word" excludes is known at the end.
type parser struct {
	Parsed
	maybe []dashed // "-word" in order
}

// A dashed is a "-word" and the number of words before it.
type dashed struct {
	text   string
	at     int
	quoted bool // no flag, wherever it stands
}

// finish tells exclusions from flags: with words on both sides, as in
// "go test -run TestIndex", it is a flag, and so a word.
func (p *parser) finish() Parsed {
	for i := len(p.maybe) - 1; i >= 0; i-- {
		if f := p.maybe[i]; !f.quoted && f.at > 0 && f.at < len(p.Words) {
			p.Words = slices.Insert(p.Words, f.at, "-"+f.text)
			p.maybe = slices.Delete(p.maybe, i, i+1)
		}
	}
	for _, f := range p.maybe {
		p.Not = append(p.Not, f.text)
	}
	return p.Parsed
}

// minNot is how long an exclusion is at least: -p and -rf are flags of commands.
const minNot = 3

// word takes a word or an exclusion off the beginning of text.
func (p *parser) word(text string) (rest string) {
	if after, ok := strings.CutPrefix(text, "-"); ok && after != "" {
		if quoted, rest, ok := cutQuoted(after); ok && wordAt(oneSpace(quoted), 0) {
			p.maybe = append(p.maybe, dashed{oneSpace(quoted), len(p.Words), true})
			return rest
		}
		if end := wordEnd(after); end >= minNot && wordAt(after, 0) {
			p.maybe = append(p.maybe, dashed{after[:end], len(p.Words), false})
			return after[end:]
		}
	}
	end := wordEnd(text)
	p.Words = append(p.Words, text[:end])
	return text[end:]
}

// wordEnd is the first white space or quote in s.
func wordEnd(s string) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return r == '"' || unicode.IsSpace(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// filter takes a filter off the beginning of text.
func (p *parser) filter(text string) (rest string, ok bool) {
	name, after, ok := strings.Cut(text, ":")
	if !ok || len(name) > len("harness") {
		return "", false
	}
	value, rest, quoted := cutQuoted(after)
	if !quoted {
		end := wordEnd(after)
		value, rest = after[:end], after[end:]
	}
	if value = oneSpace(value); value == "" || strings.HasPrefix(value, "//") {
		return "", false
	}
	switch name = strings.ToLower(name); name {
	case "since", "until":
		if _, _, ok := ParseDate(value, time.Time{}.AddDate(2000, 0, 0)); !ok {
			return "", false
		}
		if name == "since" {
			p.Since = value
		} else {
			p.Until = value
		}
		return rest, true
	}
	list := filters[name]
	if list == nil {
		return "", false
	}
	l := list(&p.Parsed)
	*l = append(*l, value)
	return rest, true
}

// cutQuoted takes a quoted text off the beginning of s. The closing quote must
// be followed by white space or the end.
func cutQuoted(s string) (quoted, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	quoted, rest, ok = strings.Cut(s[1:], `"`)
	if !ok || rest != "" && !startsWithSpace(rest) {
		return "", s, false
	}
	return quoted, rest, true
}

func startsWithSpace(s string) bool {
	for _, r := range s {
		return unicode.IsSpace(r)
	}
	return false
}

func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// String writes the query so that ParseQuery gives it back.
func (p Parsed) String() string {
	var parts []string
	for _, name := range filterOrder {
		for _, v := range *filters[name](&p) {
			parts = append(parts, name+":"+quoteSpaces(v))
		}
	}
	if p.Since != "" {
		parts = append(parts, "since:"+quoteSpaces(p.Since))
	}
	if p.Until != "" {
		parts = append(parts, "until:"+quoteSpaces(p.Until))
	}
	for _, s := range p.Phrases {
		parts = append(parts, `"`+s+`"`)
	}
	parts = append(parts, p.Words...)
	for _, s := range p.Not {
		parts = append(parts, "-"+quoteSpaces(s))
	}
	return strings.Join(parts, " ")
}

func quoteSpaces(v string) string {
	if strings.Contains(v, " ") || len(v) < minNot {
		return `"` + v + `"`
	}
	return v
}

// Empty reports whether the query asks for no words at all: browsing.
func (p Parsed) Empty() bool { return len(p.Words)+len(p.Phrases) == 0 }
