package contextpack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sessdex/session"
)

// ErrOptions marks errors that come from what the caller asked for: a budget
// out of range, an encoding that does not exist, a turn that is not there. Such an
// error is one sentence by itself, about the option, and does not name the mark.
var ErrOptions = errors.New("cannot pack with these options")

type optionError string

func (e optionError) Error() string { return string(e) }
func (e optionError) Unwrap() error { return ErrOptions }

func refuse(format string, args ...any) error { return optionError(fmt.Sprintf(format, args...)) }

// A Packer makes packs. It is safe for concurrent use.
type Packer struct{}

// New makes a Packer. Encodings load when first needed, once in a process.
func New() *Packer { return &Packer{} }

// Warm loads an encoding ("": the default) in the background, so that
// the first pack need not wait for it. A name that does not exist is left for Pack to report.
func (p *Packer) Warm(encoding string) { go tokenizerOf(encoding) }

// Pack fills the budget of opts with the session of card, whose turns it reads
// through read: the opening request, then the newest turns that fit, or the turns
// around opts.Around, in order. A turn that does not fit whole is cut in its
// middle, and what is missing is said where it is missing. The text is the same
// for the same input.
//
// Only turns near the budget are read, so TurnsTotal and Elided count undone and
// empty turns that lie outside them; where the unread turns are in two places,
// their numbers are shared out by length.
//
// Errors wrap ErrOptions where the options are at fault, and the error of read.
func (p *Packer) Pack(ctx context.Context, card *session.Card, read Reader, opts Options) (*Pack, error) {
	if card == nil {
		return nil, errors.New("pack session: no card")
	}
	if err := check(&opts, card); err != nil {
		return nil, err
	}
	f, err := newFiller(ctx, card, read, opts)
	if err != nil {
		return nil, fmt.Errorf("pack session %s: %w", card.ID, err)
	}
	pack, err := f.pack()
	if err != nil {
		return nil, fmt.Errorf("pack session %s: %w", card.ID, err)
	}
	return pack, nil
}

// check fills in the defaults of opts and refuses what cannot be done.
func check(opts *Options, card *session.Card) error {
	if opts.Encoding == "" {
		opts.Encoding = Encodings[0]
	}
	if opts.MaxTokens == 0 {
		opts.MaxTokens = DefaultTokens
	}
	if !slices.Contains(Encodings, opts.Encoding) {
		return unknownEncoding(opts.Encoding)
	}
	if opts.MaxTokens < MinTokens || opts.MaxTokens > MaxTokens {
		return refuse("max_tokens %d is out of range: %d to %d", opts.MaxTokens, MinTokens, MaxTokens)
	}
	if total := card.Turns.Total(); opts.Around < 0 || opts.Around > total {
		return refuse("there is no turn %d: the session has %d", opts.Around, total)
	}
	return nil
}

// rounds bounds how often a selection is made: what its notes and the lines about
// its gaps cost is only known when it is there.
const rounds = 10

// pack selects turns for what the frame leaves of the budget: all of them, if that
// happens to fit to the last token; else as many as fit with the plainest frame
// and the longest lines about gaps, and then again with the exact difference, as
// long as something is gained. Where that leads above the budget, since one turn more
// brings a note with it, the room between is halved until little is left. The
// fullest selection that fits wins. What was encoded once is not encoded again.
func (f *filler) pack() (*Pack, error) {
	budget := f.opts.MaxTokens
	room := budget - f.frameTokens(notes{})
	all, err := f.fill(room, 0)
	if err != nil {
		return nil, err
	}
	if m := f.measure(all); m.next == "" && m.tokens <= budget {
		return f.write(m), nil
	}
	var best *measured
	gaps := f.gapTokens()
	for low, high, i := 0, room+budget, 0; i < rounds; i++ { // low fits, high does not
		sel, err := f.fill(room, gaps)
		if err != nil {
			return nil, err
		}
		m := f.measure(sel)
		slack := budget - m.tokens
		gain := slack >= 0 && (best == nil || m.tokens > best.tokens)
		if gain {
			best = m
		}
		if slack < 0 {
			high = min(room, sel.tokens()+gaps) // or the same is chosen again
			room = high + slack
		} else {
			low = max(low, room)
			room += slack
		}
		if room <= low || room >= high || !gain && slack >= 0 {
			if best != nil && budget-best.tokens <= budget/50 {
				break
			}
			if room = (low + high) / 2; room == low {
				break
			}
		}
	}
	if best == nil { // each round's notes cost more than the last one left: leave room for all of them
		sel, err := f.fill(budget-f.frameTokens(f.worstNotes()), gaps)
		if err != nil {
			return nil, err
		}
		best = f.measure(sel)
	}
	return f.write(best), nil
}

// frameTokens is the cost of a frame with notes n.
func (f *filler) frameTokens(n notes) int {
	return f.fixed + f.tok.count(n.lines()) + f.tok.count(n.last())
}

func (f *filler) worstNotes() notes {
	all := f.src.card.Turns.Total()
	return notes{shown: all, total: all, toolsLeft: all, masks: true, removed: 1 << 40,
		next: f.next([]Elided{{From: all, To: all, Turns: all}}, true, nil)}
}

// measured is a selection with all that is needed to write it down.
type measured struct {
	notes
	segments []segment
	gaps     []Elided
	tokens   int // of the whole pack
}

func (f *filler) measure(sel *selection) *measured {
	m := &measured{}
	m.segments, m.gaps = sel.layout(f)
	m.shown, m.total = len(sel.parts), f.src.showable+f.src.unread()
	m.next = f.next(m.gaps, sel.anyCut(), sel)
	if !f.opts.ToolCalls {
		m.toolsLeft = f.src.card.Turns.Tool
		if f.focus != nil && f.focus.tool {
			m.toolsLeft--
		}
	}
	for _, p := range sel.parts {
		m.removed += p.item.removed
	}
	for _, s := range m.segments {
		m.tokens += s.tokens
		m.masks = m.masks || strings.Contains(s.text, maskOpen)
	}
	m.tokens += f.frameTokens(m.notes)
	return m
}

// write makes the pack of a measured selection.
func (f *filler) write(m *measured) *Pack {
	var body strings.Builder
	for _, s := range m.segments {
		body.WriteString(s.text)
	}
	quoted := body.String()
	b := boundary(f.tok, quoted, f.origin)
	return &Pack{
		ID: f.src.card.ID, Version: f.src.card.Version, Encoding: f.opts.Encoding,
		MaxTokens: f.opts.MaxTokens, Tokens: m.tokens,
		TurnsTotal: m.total, TurnsIncluded: m.shown, Elided: append([]Elided{}, m.gaps...),
		Text: opened(b, f.origin) + m.lines() + quoted + closed(b) + m.last(), Next: m.next,
	}
}

// next says how to get what a pack leaves out: "" where that is nothing.
func (f *filler) next(gaps []Elided, cut bool, sel *selection) string {
	if len(gaps) == 0 && !cut {
		return ""
	}
	var ways []string
	if len(gaps) > 0 {
		largest := slices.MaxFunc(gaps, func(a, b Elided) int { return a.Turns - b.Turns })
		ways = append(ways, fmt.Sprintf("fetch_session_context id=%s around=%d", oneLine(f.src.card.ID, 16), sel.beside(largest)))
	}
	if f.opts.MaxTokens < MaxTokens {
		ways = append(ways, fmt.Sprintf("max_tokens up to %d", MaxTokens))
	}
	if len(ways) == 0 {
		return "what was cut does not fit in any pack; the session itself holds it"
	}
	return strings.Join(ways, ", or ")
}
