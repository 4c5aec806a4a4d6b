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
	f.origin = fittingOrigin(v, card, opts.MaxTokens, f.worstNotes())
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

// rounds is how often a selection is made to bring the budget's use close: what the
// frame and its notes cost is only known when they are written.
const rounds = 8

// pack selects turns for what the frame leaves of the budget. The first
// selection assumes the plainest frame; each further one takes up the exact
// difference, and the fullest that fits wins.
func (f *filler) pack() (*Pack, error) {
	room := f.opts.MaxTokens - f.frameTokens(notes{})
	if f.src.total > 0 { // all of it, if that happens to fit to the last token
		sel, err := f.fill(room+2*hexTokens, 0)
		if err != nil {
			return nil, err
		}
		if all := f.assemble(sel); all.Next == "" && all.Tokens <= f.opts.MaxTokens {
			return all, nil
		}
	}
	var best *Pack
	low, high := 0, f.opts.MaxTokens // rooms that left some over, and that were too much
	for range rounds {
		sel, err := f.fill(room, f.gapTokens())
		if err != nil {
			return nil, err
		}
		pack := f.assemble(sel)
		slack := f.opts.MaxTokens - pack.Tokens
		if slack < 0 {
			high = room
		} else {
			low = room
			if best == nil || pack.Tokens > best.Tokens {
				best = pack
			}
			if slack < 4 || pack.Next == "" {
				break
			}
		}
		if room += slack; room <= low || room >= high {
			room = (low + high) / 2
		}
	}
	if best != nil {
		return best, nil
	}
	// Each round's notes cost more than the last one left: leave room for all of them.
	sel, err := f.fill(f.opts.MaxTokens-f.frameTokens(f.worstNotes()), f.gapTokens())
	if err != nil {
		return nil, err
	}
	return f.assemble(sel), nil
}

// hexTokens is the most that the digits of a boundary can count.
const hexTokens = 16

// frameTokens is the cost of a frame with notes n, whatever its boundary is.
func (f *filler) frameTokens(n notes) int {
	fr := newFrame(f.origin, "", n)
	return f.v.count(fr.header) + f.v.count(fr.trailer) + hexTokens
}

func (f *filler) worstNotes() notes {
	all := f.src.card.Turns.Total()
	return notes{shown: all, total: all, toolsLeft: all, masks: true, removed: 1 << 40,
		next: f.next([]Elided{{From: all, To: all, Turns: all}}, true, nil)}
}

// assemble writes the pack of a selection.
func (f *filler) assemble(sel *selection) *Pack {
	card := f.src.card
	p := &Pack{
		ID: card.ID, Version: card.Version, Encoding: f.opts.Encoding, MaxTokens: f.opts.MaxTokens,
		TurnsIncluded: len(sel.parts), TurnsTotal: f.src.showable + f.src.unread(), Elided: []Elided{},
	}
	segments, gaps := sel.layout(f)
	p.Elided = append(p.Elided, gaps...)
	p.Next = f.next(gaps, sel.anyCut(), sel)

	var body strings.Builder
	removed := 0
	for _, s := range segments {
		body.WriteString(s.text)
		p.Tokens += s.tokens
	}
	for _, part := range sel.parts {
		removed += part.item.removed
	}
	quoted := body.String()
	n := notes{shown: p.TurnsIncluded, total: p.TurnsTotal, removed: removed, next: p.Next,
		masks: strings.Contains(quoted, maskOpen)}
	if !f.opts.ToolCalls {
		n.toolsLeft = card.Turns.Tool
		if f.focus != nil && f.focus.tool {
			n.toolsLeft--
		}
	}
	fr := newFrame(f.origin, quoted, n)
	p.Tokens += f.v.count(fr.header) + f.v.count(fr.trailer)
	p.Text = fr.header + quoted + fr.trailer
	return p
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
