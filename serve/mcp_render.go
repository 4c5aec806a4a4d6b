package serve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sessdex/search"
)

// Limits of what is said about one session in a listing, in runes.
const (
	maxTitle   = 120
	maxSnippet = 340
	maxWord    = 80 // a path, a tag, a branch, a name
)

// maxSearchReply is the size in bytes of a search reply: some clients cut or
// hide larger results.
const maxSearchReply = 8 << 10

// tierWords say how strictly a query's words were matched.
var tierWords = map[string]string{
	"all":   "every word matched",
	"most":  "most words matched",
	"some":  "no session has most of the words; some matched",
	"fuzzy": "no exact match; similar spellings",
}

// searchText is a search reply for a model: one block for each hit, as many as
// fit, and how to go on. scope says what a listing was narrowed to.
func searchText(q search.Query, reply *SearchReply, scope string) string {
	if len(reply.Hits) == 0 {
		return noHits(q, reply, scope)
	}
	var hits strings.Builder
	shown := 0
	for i, h := range reply.Hits {
		block := hitText(q.Offset+i+1, h)
		if shown > 0 && hits.Len()+len(block) > maxSearchReply-800 { // 800: frame, head and tail
			break
		}
		hits.WriteString(block)
		shown++
	}

	var b strings.Builder
	fmt.Fprintf(&b, "Sessions %d-%d of %s", q.Offset+1, q.Offset+shown, totalText(reply))
	if scope != "" {
		b.WriteString(" " + scope)
	}
	if words := tierWords[reply.Tier]; words != "" {
		b.WriteString(", " + words)
	}
	b.WriteString(".\n")
	b.WriteString(quoted(hits.String()))
	next := reply.NextOffset
	if shown < len(reply.Hits) {
		next = q.Offset + shown
	}
	if next > 0 {
		fmt.Fprintf(&b, "More: the same call with offset=%d.\n", next)
	}
	return b.String()
}

func totalText(reply *SearchReply) string {
	if reply.TotalExact {
		return fmt.Sprint(reply.Total)
	}
	return fmt.Sprintf("at least %d", reply.Total)
}

func noHits(q search.Query, reply *SearchReply, scope string) string {
	switch {
	case reply.Total > 0:
		return fmt.Sprintf("No sessions from offset %d on: there are %s. Use a smaller offset.\n", q.Offset, totalText(reply))
	case scope != "":
		return "No sessions " + scope + ".\n"
	case q.Text == "":
		return "No sessions match these filters. Leave some out, or call list_sessions with all_repos=true.\n"
	}
	return "No sessions match. Try fewer or other words, or leave filters out.\n"
}

// hitText is one hit: what it is, where it matched, how to read on.
func hitText(rank int, h Hit) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d. %s \"%s\"\n", rank, h.ID, oneLine(h.Title, maxTitle))
	facts := []string{h.Harness, place(h.Repo, h.Branch), day(h.LastActive), count(h.Turns, "turn"), h.Owner}
	if h.Subagent {
		facts = append(facts, "sub-agent of "+h.Parent)
	}
	line(&b, "", facts, " | ")
	fetch := "fetch_session_context id=" + h.ID
	snippet := oneLine(marked(h.Snippet, h.Marks, "«", "»"), maxSnippet)
	if h.Turn > 0 {
		fmt.Fprintf(&b, "   turn %d, %s: %s\n", h.Turn, h.Role, snippet)
		fetch += fmt.Sprintf(" around=%d", h.Turn)
	} else if snippet != "" && snippet != oneLine(h.Title, maxTitle) {
		fmt.Fprintf(&b, "   asked: %s\n", snippet)
	}
	line(&b, "files: ", few(Within(h.Dir, h.Files), 4), ", ")
	line(&b, "tags: ", few(h.Tags, 6), ", ")
	fmt.Fprintf(&b, "   %s\n", fetch)
	return b.String()
}

// line writes the parts that are not empty as one indented line.
func line(b *strings.Builder, label string, parts []string, sep string) {
	parts = slices.Clone(parts)
	for i, p := range parts {
		parts[i] = oneLine(p, maxWord)
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	if len(parts) > 0 {
		fmt.Fprintf(b, "   %s%s\n", label, strings.Join(parts, sep))
	}
}

// Within shortens the paths below a session's own folder to what follows it.
func Within(dir string, paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		if rest, ok := strings.CutPrefix(p, dir); ok && dir != "" && len(rest) > 1 && strings.ContainsRune(`/\`, rune(rest[0])) {
			out[i] = rest[1:]
		}
	}
	return out
}

// few is the first n of a list and how many more there are.
func few(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	return append(slices.Clone(list[:n]), fmt.Sprintf("+%d", len(list)-n))
}

// marked is s with open and shut around its marked byte ranges. Ranges that do
// not fit s are left out.
func marked(s string, marks [][2]int, open, shut string) string {
	var b strings.Builder
	for _, p := range pieces(s, marks) {
		if p.Mark {
			b.WriteString(open + p.Text + shut)
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// A piece of a snippet, matched by the query or not.
type piece struct {
	Text string
	Mark bool
}

func pieces(s string, marks [][2]int) []piece {
	var out []piece
	at := 0
	for _, m := range marks {
		if m[0] < at || m[1] <= m[0] || m[1] > len(s) {
			continue
		}
		if m[0] > at {
			out = append(out, piece{s[at:m[0]], false})
		}
		out = append(out, piece{s[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(s) {
		out = append(out, piece{s[at:], false})
	}
	return out
}

func place(repo, branch string) string {
	if repo != "" && branch != "" {
		return repo + "@" + branch
	}
	return repo + branch
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02")
}

func minute(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// publishText says what became of a published transcript.
func publishText(r *PublishReply) string {
	var b strings.Builder
	state := map[string]string{
		"new":       "Published as a new session",
		"changed":   "Published; the session has a new version",
		"unchanged": "Already published; nothing changed",
	}[r.Outcome]
	if state == "" {
		state = "Published"
	}
	fmt.Fprintf(&b, "%s.\nid %s, version %s, %s\n", state, r.ID, r.Version, count(r.Turns, "turn"))
	if len(r.Scrubbed) == 0 {
		b.WriteString("No secrets were found in it.\n")
	} else {
		b.WriteString("Secrets removed: " + strings.Join(ruleCounts(r.Scrubbed), ", ") + "\n")
	}
	return b.String()
}

// ruleCounts lists masks by rule, most first.
func ruleCounts(masks map[string]int) []string {
	rules := make([]string, 0, len(masks))
	for rule := range masks {
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b string) int {
		if d := masks[b] - masks[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, rule := range rules {
		rules[i] = fmt.Sprintf("%s ×%d", oneLine(rule, maxWord), masks[rule])
	}
	return rules
}
