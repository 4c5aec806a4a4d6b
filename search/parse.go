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
//	-word -"a b"    a word or phrase that must not occur (--flag and -f are words)
//	name:value      a filter, where name is one of harness, tag, file, branch,
//	name:"value"    repo, author, role, since, until, and the value makes sense;
//	                anything else with a colon is a word
//
// AND, OR, NOT, parentheses and stars mean nothing.
func ParseQuery(text string) Parsed {
	var p Parsed
	if len(text) > maxQuery {
		text = string(cutRune([]byte(text), maxQuery))
	}
	text = strings.ToValidUTF8(text, " ")
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return p
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

// minNot is how long an exclusion is at least: -p and -rf are flags of commands.
const minNot = 3

// word takes a word or an exclusion off the beginning of text.
func (p *Parsed) word(text string) (rest string) {
	if after, ok := strings.CutPrefix(text, "-"); ok && after != "" {
		if quoted, rest, ok := cutQuoted(after); ok && wordAt(oneSpace(quoted), 0) {
			p.Not = append(p.Not, oneSpace(quoted))
			return rest
		}
		if end := wordEnd(after); end >= minNot && wordAt(after, 0) {
			p.Not = append(p.Not, after[:end])
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
func (p *Parsed) filter(text string) (rest string, ok bool) {
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
	l := list(p)
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

// dateForms are the absolute dates, with the length of the span that each names.
var dateForms = []struct {
	layout              string
	years, months, days int
}{
	{time.DateOnly, 0, 0, 1},
	{"2006-1-2", 0, 0, 1},
	{"2006-01", 0, 1, 0},
	{"2006-1", 0, 1, 0},
	{"2006", 1, 0, 0},
}

// ParseDate reads a date as people write it and gives the span it names: its
// beginning and the moment after its end, in now's time zone. It knows 2026-01-31,
// 2026-01, 2026, RFC 3339 times, today, yesterday, "this week", "last week", and the
// same of month and year (weeks begin on Monday), and ages: 12h, 7d, 2w, 3m (months),
// 1y, whose span is that moment. "last 7 days" is 7d.
func ParseDate(s string, now time.Time) (from, to time.Time, ok bool) {
	s = strings.ToLower(oneSpace(strings.ReplaceAll(s, "_", " ")))
	for _, f := range dateForms {
		if t, err := time.ParseInLocation(f.layout, s, now.Location()); err == nil {
			return t, t.AddDate(f.years, f.months, f.days), true
		}
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(s)); err == nil {
		return t, t, true
	}
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	week := day.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	month := day.AddDate(0, 0, 1-day.Day())
	year := month.AddDate(0, 1-int(month.Month()), 0)
	switch s {
	case "now":
		return now, now, true
	case "today":
		return day, day.AddDate(0, 0, 1), true
	case "yesterday":
		return day.AddDate(0, 0, -1), day, true
	case "this week", "week":
		return week, week.AddDate(0, 0, 7), true
	case "last week":
		return week.AddDate(0, 0, -7), week, true
	case "this month", "month":
		return month, month.AddDate(0, 1, 0), true
	case "last month":
		return month.AddDate(0, -1, 0), month, true
	case "this year", "year":
		return year, year.AddDate(1, 0, 0), true
	case "last year":
		return year.AddDate(-1, 0, 0), year, true
	}
	t, ok := age(s, now)
	return t, t, ok
}

// age reads "7d", "7 days", "last 7 days", "7 days ago".
func age(s string, now time.Time) (time.Time, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "last "), "past "), " ago")
	digits := 0
	n := 0
	for digits < len(s) && digits < 5 && '0' <= s[digits] && s[digits] <= '9' {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	if digits == 0 {
		return time.Time{}, false
	}
	unit := strings.TrimSpace(s[digits:])
	if len(unit) > 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	is := func(names ...string) bool { return slices.Contains(names, unit) }
	switch {
	case is("h", "hour"):
		return now.Add(-time.Duration(n) * time.Hour), true
	case is("d", "day"):
		return now.AddDate(0, 0, -n), true
	case is("w", "week"):
		return now.AddDate(0, 0, -7*n), true
	case is("m", "mo", "month"):
		return now.AddDate(0, -n, 0), true
	case is("y", "year"):
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
