package serve

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"sessdex/session"
)

// The modes of get_session.
var sessionModes = []string{"summary", "tail", "full"}

// Sizes of what get_session returns, in runes. A client that gets more than
// about 40,000 characters cuts them, or saves them to a file instead of showing
// them to the model.
const (
	maxPage     = 38_000 // turns of one page; the frame and the hints come on top
	maxTailTurn = 2_000
	maxTail     = 100 // turns
	readAhead   = 40  // turns read at once
)

func (s *Service) toolSession(ctx context.Context, a *arguments) (string, error) {
	id := a.need("id", idHint)
	mode := a.choice("mode", sessionModes...)
	_, wantsTail := a.integer("tail")
	_, wantsPage := a.integer("offset")
	if mode == "" && wantsTail {
		mode = "tail"
	} else if mode == "" && wantsPage {
		mode = "full"
	}
	tail := a.number("tail", 10, 1, maxTail)
	from, skip := a.number("offset", 1, 1, 1<<30), a.number("skip", 0, 0, 1<<30)
	if a.err != nil {
		return "", a.err
	}
	switch mode {
	case "full":
		return s.sessionPage(ctx, id, from, skip)
	case "tail":
		return s.sessionTail(ctx, id, tail)
	}
	sum, err := s.Summary(ctx, id, "")
	if err != nil {
		return "", err
	}
	return summaryText(sum), nil
}

// sessionTail is the summary and the last n turns, long ones cut. Where they are
// too many for one reply the oldest of them are left out.
func (s *Service) sessionTail(ctx context.Context, id string, n int) (string, error) {
	sum, err := s.Summary(ctx, id, "")
	if err != nil {
		return "", err
	}
	part, err := s.Read(ctx, sum.Card.ID, "", -n, 0)
	if err != nil {
		return "", err
	}
	head := summaryText(sum)
	room := maxPage - utf8.RuneCountInString(head)
	first := len(part.Turns)
	texts := make([]string, len(part.Turns))
	for first > 0 {
		text := turnText(&part.Turns[first-1], maxTailTurn)
		if room -= utf8.RuneCountInString(text); room < 0 && first < len(part.Turns) {
			break
		}
		first--
		texts[first] = text
	}
	if first == len(part.Turns) {
		return head, nil
	}
	hint := fmt.Sprintf("\nThe last %s of %d follow. All of them: get_session id=%s mode=full.\n",
		count(len(part.Turns)-first, "turn"), part.Total, sum.Card.ID)
	return head + hint + quoted(strings.Join(texts[first:], "")), nil
}

// sessionPage is the session from turn from on, whole turns as far as they fit. A
// turn larger than a page is given in parts; skip says how much of the first
// turn, in runes, the reader has.
func (s *Service) sessionPage(ctx context.Context, id string, from, skip int) (string, error) {
	var body strings.Builder
	room := maxPage
	var card *session.Card
	next, total := from, 0
	for room > 0 {
		part, err := s.Read(ctx, id, "", next, next+readAhead-1)
		if err != nil {
			return "", err
		}
		card, total, id = part.Card, part.Total, part.Card.ID
		for i := range part.Turns {
			text := turnText(&part.Turns[i], 0)
			if skip > 0 {
				text = restOf(text, skip)
			}
			size := utf8.RuneCountInString(text)
			if size > room && body.Len() > 0 {
				return pageText(card, body.String(), from, next, total, 0), nil
			}
			if size > room {
				shown := beforeMask(runePrefix(text, room), text)
				return pageText(card, shown+"\n", from, next, total, skip+utf8.RuneCountInString(shown)), nil
			}
			body.WriteString(text)
			room -= size
			skip = 0
			next = part.Turns[i].N + 1
		}
		if len(part.Turns) == 0 || next > total {
			break
		}
	}
	if body.Len() == 0 {
		return "", usage("session %s has %s: offset must be between 1 and that number", card.ID, count(total, "turn"))
	}
	return pageText(card, body.String(), from, next, total, 0), nil
}

// restOf is text without its first n runes; an n beyond its end leaves nothing.
func restOf(text string, n int) string {
	rest := text[len(runePrefix(text, n)):]
	if rest == "" {
		return "[nothing more in this turn]\n"
	}
	return rest
}

// pageText frames a page. next is the first turn that is not wholly shown, skip
// how much of it is.
func pageText(card *session.Card, body string, from, next, total, skip int) string {
	last := next - 1
	if skip > 0 {
		last = next
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s, version %s: turns %d-%d of %d.\n", card.ID, card.Version, from, last, total)
	b.WriteString(quoted(body))
	switch {
	case skip > 0:
		fmt.Fprintf(&b, "Next: get_session id=%s mode=full offset=%d skip=%d (turn %d goes on).\n", card.ID, next, skip, next)
	case next <= total:
		fmt.Fprintf(&b, "Next: get_session id=%s mode=full offset=%d.\n", card.ID, next)
	default:
		b.WriteString("That is the end of the session.\n")
	}
	return b.String()
}

// headLike matches lines of a turn that look like the head of another one.
var headLike = regexp.MustCompile(`(?m)^([ \t]*)(#[0-9]+ (?:user|assistant|tool|summary)\b)`)

// turnText is a turn in full: a head line, then what was said, called and
// returned. With most > 0 each part is cut to that many runes and thinking is
// left out.
func turnText(t *session.Turn, most int) string {
	part := func(s string) string {
		s = session.Plain(s)
		s = headLike.ReplaceAllString(s, `$1\$2`)
		if s = strings.TrimRight(s, "\n"); most > 0 {
			s = cut(s, most)
		}
		return s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s", t.N, t.Role)
	if t.Tool != "" {
		b.WriteString(" " + oneLine(t.Tool, maxWord))
	}
	if t.Failed {
		b.WriteString(" (failed)")
	}
	if t.Undone {
		b.WriteString(" (undone)")
	}
	if when := minute(t.Time); when != "" {
		b.WriteString(" " + when)
	}
	b.WriteByte('\n')
	if t.Thinking != "" && most == 0 {
		b.WriteString("[thinking]\n" + part(t.Thinking) + "\n[/thinking]\n")
	}
	for _, s := range []string{t.Text, t.Input} {
		if s = part(s); s != "" {
			b.WriteString(s + "\n")
		}
	}
	if out := part(t.Output); out != "" {
		b.WriteString("→ " + out + "\n")
	}
	b.WriteByte('\n')
	return b.String()
}
