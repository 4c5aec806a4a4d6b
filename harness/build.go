package harness

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// builder collects the turns and the facts of one transcript; every parser
// has one.
type builder struct {
	meta  session.Meta
	turns []session.Turn

	custom, given string // titles: a person's, the harness's; the newest wins

	inherited int              // leading turns that the session in meta.ForkedFrom said first
	command   func(i int) bool // user turns that are no plain words: the opening only where there are no others
}

// inherit takes what was found out about a session by comparing it with others,
// where the transcript itself tells less.
func (b *builder) inherit(src Source) {
	if src.Inherited > b.inherited {
		b.inherited = src.Inherited
		if b.meta.ForkedFrom == "" {
			b.meta.ForkedFrom = src.ForkedFrom
		}
	}
}

// add appends a turn, numbers it, and returns its place in b.turns. Parsers that
// later join, complete or drop turns change b.turns[i] in place.
func (b *builder) add(t session.Turn) int {
	if t.Branch == "" {
		t.Branch = b.meta.Branch
	}
	b.turns = append(b.turns, t)
	return len(b.turns) - 1
}

// objects calls take with the JSON objects on a line, and counts one that holds
// anything else. Blank lines and a byte order mark are nothing.
func (b *builder) objects(line []byte, take func(gjson.Result)) {
	if !eachValue(bytes.TrimPrefix(line, bom), func(r gjson.Result) bool { take(r); return true }) {
		b.meta.BadLines++
	}
}

// at notes the time of a record.
func (b *builder) at(t time.Time) {
	if !t.IsZero() && (b.meta.Start.IsZero() || t.Before(b.meta.Start)) {
		b.meta.Start = t
	}
}

func (b *builder) dir(d string) {
	if d == "" {
		return
	}
	if b.meta.Dir == "" {
		b.meta.Dir = keep(d)
	}
	b.meta.Dirs = appendKept(b.meta.Dirs, d)
}

func (b *builder) branch(name string) {
	if name == "" || name == "HEAD" { // HEAD: detached, no branch
		return
	}
	if name != b.meta.Branch {
		b.meta.Branch = keep(name)
	}
	b.meta.Branches = appendKept(b.meta.Branches, name)
}

func (b *builder) model(name string) {
	if name != "" && name != "<synthetic>" {
		b.meta.Models = appendKept(b.meta.Models, name)
	}
}

// unknown counts a record type that the parser does not know. Types come from the
// file, so their number and length are bounded; the rest is counted as "other".
func (b *builder) unknown(kind string) {
	if b.meta.Unknown == nil {
		b.meta.Unknown = map[string]int{}
	}
	if _, known := b.meta.Unknown[kind]; !known && (len(kind) > 80 || len(b.meta.Unknown) >= 100) {
		kind = "other"
	}
	b.meta.Unknown[keep(kind)]++
}

// finish numbers the turns, counts them, and settles what follows from them:
// opening request, title, last activity, repository.
func (b *builder) finish() (session.Meta, iter.Seq[session.Turn]) {
	m := &b.meta
	m.Turns, m.Inherited = session.Counts{}, session.Counts{}
	if m.ForkedFrom == "" {
		b.inherited = 0
	}
	b.inherited = min(b.inherited, len(b.turns))
	b.continued()
	for i := range b.turns {
		t := &b.turns[i]
		t.N = i + 1
		m.Turns.Add(t.Role)
		if i < b.inherited {
			m.Inherited.Add(t.Role)
		}
		if t.Time.After(m.LastActive) {
			m.LastActive = t.Time
		}
	}
	if m.Opening == "" {
		m.Opening = b.opening()
	}
	if m.LastActive.IsZero() {
		m.LastActive = m.Start
	}
	switch {
	case b.custom != "":
		m.Title, m.TitleSource = session.OneLine(b.custom, 120), session.TitleCustom
	case b.given != "":
		m.Title, m.TitleSource = session.OneLine(b.given, 120), session.TitleHarness
	case m.Opening != "":
		m.Title, m.TitleSource = session.OneLine(m.Opening, 120), session.TitleOpening
	}
	if m.Repo == "" && m.Dir != "" {
		m.Repo = baseName(m.Dir)
	}
	return *m, slices.Values(b.turns)
}

// opening is the first request of the session's own: a fork's is the first one
// after it was forked. Where there is none yet, it is that of the history.
func (b *builder) opening() string {
	command := ""
	for _, part := range [][2]int{{b.inherited, len(b.turns)}, {0, b.inherited}} {
		for i := part[0]; i < part[1]; i++ {
			switch t := &b.turns[i]; {
			case t.Role != session.User || t.Undone:
			case b.command == nil || !b.command(i):
				return t.Text
			case command == "":
				command = t.Text
			}
		}
		if command != "" {
			break
		}
	}
	return command
}

// continued takes prompts that hand another session's work over for what they are:
// the text they quote was said there. The first of them names the session that this
// one continues.
func (b *builder) continued() {
	m := &b.meta
	for i := range b.turns {
		t := &b.turns[i]
		if t.Role != session.User {
			continue
		}
		c, rest, ok := session.Continued(t.Text)
		if !ok {
			continue
		}
		words := c.Words(rest)
		if m.Opening == t.Text {
			m.Opening = words
		}
		t.Text = words
		if m.ForkedFrom == "" && c.NativeID != m.NativeID && !m.Subagent {
			m.ForkedFrom = c.NativeID
			if b.given == "" {
				b.given = "Continue: " + c.Title
			}
		}
	}
}

// maxList bounds the lists of a session's facts: a transcript with more working
// folders or branches than that is made to exhaust us.
const maxList = 1000

// appendNew adds s to a short list unless it is empty or there already.
func appendNew(list []string, s string) []string {
	if s == "" || len(list) >= maxList || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// appendKept is appendNew for what may stand in a line: see keep.
func appendKept(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return appendNew(list, keep(s))
}

// RepoName turns a git remote or a repository URL into "host/owner/name", without
// credentials, scheme or ".git": "git@github.com:a/b.git" is "github.com/a/b".
func RepoName(remote string) string {
	s := strings.TrimSpace(remote)
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	} else if host, rest, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") {
		s = host + "/" + rest
	}
	if slash := strings.IndexByte(s, '/'); slash >= 0 {
		if at := strings.LastIndexByte(s[:slash], '@'); at >= 0 {
			s = s[at+1:]
		}
	}
	return strings.TrimSuffix(strings.Trim(s, "/"), ".git")
}
