package harness

import (
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"sessdex/session"
)

// CursorAgent is Cursor's agent, in the terminal and in its editor. Its transcripts are
// ~/.cursor/projects/<slug>/agent-transcripts/<id>/<id>.jsonl, and <id>/subagents/ for
// sub-agents: a message a line, {"role", "message": {"content"}}, without ids, times or
// results, and {"type":"turn_ended"}. The slug is the working folder with "-" for what
// is neither letter nor digit. The database of the editor's chats and the plain texts
// that early versions wrote are not read.
var CursorAgent = &Harness{
	Name: cursorName,
	Roots: func(env Env) []string {
		return []string{filepath.Join(env.Home, ".cursor", "projects")}
	},
	Claims: cursorClaims,
	Detect: cursorDetect,
	New:    func(src Source) Parser { return newCursorParser(src) },
	Resume: func(m *session.Meta) Command {
		return Command{Argv: []string{"cursor-agent", "--resume", m.NativeID}, Dir: m.Dir}
	},
	Start: func(dir, prompt string) Command {
		return Command{Argv: []string{"cursor-agent", noOption(prompt)}, Dir: dir}
	},
}

const (
	cursorName        = "cursor-agent"
	cursorTranscripts = "agent-transcripts"
)

func cursorClaims(rel string) bool {
	parts := strings.Split(rel, "/")
	if len(parts) < 3 || parts[1] != cursorTranscripts || path.Ext(rel) != ".jsonl" {
		return false
	}
	return len(parts) <= 4 || len(parts) == 5 && parts[3] == "subagents"
}

// cursorDetect knows a transcript by its messages, which have a role outside and
// nothing but the content inside, all of them.
func cursorDetect(h Head) bool {
	found := false
	for _, r := range h.Records {
		switch {
		case cursorMessage(r):
			found = true
		case r.Get("role").Exists() || r.Get("type").Str != "turn_ended":
			return false
		}
	}
	return found
}

func cursorMessage(r gjson.Result) bool {
	role := r.Get("role").Str
	if role != "user" && role != "assistant" || !r.Get("message.content").Exists() {
		return false
	}
	only := true
	r.ForEach(func(k, _ gjson.Result) bool {
		only = k.Str == "role" || k.Str == "message" || k.Str == "timestamp"
		return only
	})
	return only && !r.Get("message.role").Exists()
}

type cursorParser struct {
	dialog
	src  Source
	slug string              // of the working folder, from the file's place
	seen map[string]struct{} // folders that were compared with it
}

func newCursorParser(src Source) *cursorParser {
	p := &cursorParser{src: src, seen: map[string]struct{}{}}
	p.dialog = newDialog(cursorName, true)
	steps := strings.Split(strings.ReplaceAll(src.Path, `\`, "/"), "/")
	for i, step := range steps {
		if step == cursorTranscripts && i > 0 {
			p.slug = steps[i-1]
			if n := len(steps); n-i == 4 && steps[n-2] == "subagents" {
				p.meta.Subagent, p.meta.Parent = true, steps[i+1]
			}
		}
	}
	base := steps[len(steps)-1]
	p.meta.NativeID = strings.TrimSuffix(base, path.Ext(base))
	return p
}

// Line implements [Parser].
func (p *cursorParser) Line(line []byte) { p.objects(line, p.record) }

func (p *cursorParser) record(r gjson.Result) {
	c := readContent(r.Get("message.content"))
	at := anyTime(r.Get("timestamp"))
	switch r.Get("role").Str {
	case "user":
		p.message(session.User, c, at, "", func(text string) {
			said, sent := cursorSaid(text)
			if at.IsZero() {
				at = sent
			}
			p.at(at)
			p.person(said, at, "")
		})
	case "assistant":
		for _, call := range c.calls {
			p.folder(call.input)
		}
		p.message(session.Assistant, c, at, "", nil)
	default:
		if kind := r.Get("type").Str; kind != "turn_ended" {
			p.unknown(kind)
		}
	}
}

// cursorSaid is what the person wrote, in a <user_query> among the context that the
// editor adds, and when, where the editor says so.
func cursorSaid(text string) (string, time.Time) {
	sent := cursorTime(element(text, "timestamp"))
	if strings.Contains(text, "<user_query>") {
		var words []string
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, "<user_query>")
			if !ok {
				return strings.Join(words, "\n"), sent
			}
			query, behind, _ := strings.Cut(after, "</user_query>")
			if query = strings.TrimSpace(query); query != "" {
				words = append(words, query)
			}
			rest = behind
		}
	}
	for {
		text = strings.TrimSpace(text)
		name, _, rest, ok := leadingElement(text)
		if !ok || !strings.ContainsAny(name, "_") && name != "timestamp" {
			return text, sent
		}
		text = rest
	}
}

// cursorTime reads "Friday, Jan 2, 2026, 3:04 PM (UTC+2)", and ISO times.
func cursorTime(s string) time.Time {
	s = strings.TrimSpace(s)
	if t := isoTime(s); !t.IsZero() {
		return t
	}
	clock, zone, _ := strings.Cut(s, " (UTC")
	for _, layout := range []string{"Monday, Jan 2, 2006, 3:04 PM", "Monday, January 2, 2006, 3:04 PM"} {
		t, err := time.Parse(layout, clock)
		if err != nil {
			continue
		}
		offset := time.Duration(0)
		if zone = strings.TrimSuffix(zone, ")"); zone != "" {
			hours, minutes, _ := strings.Cut(zone[1:], ":")
			if minutes == "" {
				minutes = "0"
			}
			if offset, err = time.ParseDuration(zone[:1] + hours + "h" + minutes + "m"); err != nil {
				return time.Time{}
			}
		}
		return t.Add(-offset).UTC()
	}
	return time.Time{}
}

// folder looks for the working folder among the paths of a call and the folders above
// them: the one whose slug is in the file's path.
func (p *cursorParser) folder(input gjson.Result) {
	if p.slug == "" || p.meta.Dir != "" {
		return
	}
	for _, at := range append(callFiles(input), first(input, "working_directory", "cwd").String()) {
		at = strings.ReplaceAll(at, `\`, "/")
		for len(at) > 1 && len(p.seen) < maxTried {
			if _, tried := p.seen[at]; tried {
				break
			}
			p.seen[keep(at)] = struct{}{}
			if cursorSlug(at) == p.slug {
				p.dir(at)
				return
			}
			up := path.Dir(at)
			if up == at || up == "." {
				break
			}
			at = up
		}
	}
}

// cursorSlug is a folder's name in Cursor's data.
func cursorSlug(dir string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, dir), "-")
}

// Finish implements [Parser].
func (p *cursorParser) Finish() (session.Meta, iter.Seq[session.Turn]) {
	p.inherit(p.src)
	return p.finish()
}
