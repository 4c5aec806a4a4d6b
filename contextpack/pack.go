package contextpack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sessdex/session"
)

// A Packer makes packs. It is safe for concurrent use.
type Packer struct{}

// New makes a Packer. Vocabularies load when first needed, once in a process.
func New() *Packer { return &Packer{} }

// Warm loads an encoding's vocabulary ("": the default) in the background, so that
// the first pack need not wait for it. A name that does not exist is left for Pack to report.
func (p *Packer) Warm(encoding string) { go vocabularyOf(encoding) }

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
	v, err := check(&opts, card)
	if err != nil {
		return nil, fmt.Errorf("pack session %s: %w", card.ID, err)
	}
	f := &filler{v: v, src: newSource(ctx, card, read, opts), opts: opts}
	if err := f.start(); err != nil {
		return nil, fmt.Errorf("pack session %s: %w", card.ID, err)
	}
	f.origin = fittingOrigin(v, card, opts.MaxTokens)
	pack, err := f.pack()
	if err != nil {
		return nil, fmt.Errorf("pack session %s: %w", card.ID, err)
	}
	return pack, nil
}

// check fills in the defaults of opts and refuses what cannot be done.
func check(opts *Options, card *session.Card) (*vocabulary, error) {
	if opts.Encoding == "" {
		opts.Encoding = Encodings[0]
	}
	if opts.MaxTokens == 0 {
		opts.MaxTokens = DefaultTokens
	}
	if opts.MaxTokens < MinTokens || opts.MaxTokens > MaxTokens {
		return nil, fmt.Errorf("%w: %d tokens is out of range; from %d to %d are allowed", ErrOptions, opts.MaxTokens, MinTokens, MaxTokens)
	}
	if total := card.Turns.Total(); opts.Around < 0 || opts.Around > total {
		return nil, fmt.Errorf("%w: there is no turn %d; the session has %d", ErrOptions, opts.Around, total)
	}
	return vocabularyOf(opts.Encoding)
}

// rounds bounds how often a selection is made: what its notes and the lines about
// its gaps cost is only known when it is there.
const rounds = 6

// pack selects turns for what the frame leaves of the budget: all of them, if that
// happens to fit to the last token; else as many as fit with the plainest frame
// and the longest lines about gaps, and then again with the exact difference, until
// nothing is gained. The fullest selection that fits wins.
func (f *filler) pack() (*Pack, error) {
	room := f.opts.MaxTokens - f.frameTokens(notes{})
	all, err := f.fill(room, 0)
	if err != nil {
		return nil, err
	}
	if m := f.measure(all); m.next == "" && m.tokens <= f.opts.MaxTokens {
		return f.write(m), nil
	}
	var best *measured
	gaps, high := f.gapTokens(), room+f.opts.MaxTokens
	for range rounds {
		sel, err := f.fill(room, gaps)
		if err != nil {
			return nil, err
		}
		m := f.measure(sel)
		slack := f.opts.MaxTokens - m.tokens
		if slack < 0 {
			high = room
			room = min(room-1, sel.tokens()+gaps) + slack // below what was chosen, or the same is chosen again
			continue
		}
		if best != nil && m.tokens <= best.tokens {
			break
		}
		if best = m; slack == 0 {
			break
		}
		if room += slack; room >= high {
			room = high - 1
		}
	}
	if best == nil { // each round's notes cost more than the last one left: leave room for all of them
		sel, err := f.fill(f.opts.MaxTokens-f.frameTokens(f.worstNotes()), gaps)
		if err != nil {
			return nil, err
		}
		best = f.measure(sel)
	}
	return f.write(best), nil
}

// frameTokens is the cost of a frame with notes n.
func (f *filler) frameTokens(n notes) int {
	fr := newFrame(anyBoundary(f.v), f.origin, n)
	return f.v.count(fr.header) + f.v.count(fr.trailer)
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
	fr := newFrame(boundary(f.v, quoted, f.origin), f.origin, m.notes)
	return &Pack{
		ID: f.src.card.ID, Version: f.src.card.Version, Encoding: f.opts.Encoding,
		MaxTokens: f.opts.MaxTokens, Tokens: m.tokens,
		TurnsTotal: m.total, TurnsIncluded: m.shown, Elided: append([]Elided{}, m.gaps...),
		Text: fr.header + quoted + fr.trailer, Next: m.next,
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
