package serve

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strings"

	"sessdex/contextpack"
	"sessdex/indexer"
	"sessdex/session"
)

// Limits of ResumeRequest.MaxTokens.
const (
	DefaultHandover = contextpack.DefaultTokens
	MinHandover     = 1_000
)

// maxPrompt is how many bytes of a prompt fit into a command: Linux takes 128 KiB
// for one argument, Windows 32,767 characters for the whole line, with a backslash
// before every quotation mark.
func maxPrompt(goos string) int {
	if goos == "windows" {
		return 16_000
	}
	return 120_000
}

// handOver fills in how another harness begins a session with the work of this one:
// with as much of it in its prompt as the budget, or a command, can hold.
func (s *Service) handOver(ctx context.Context, card *session.Card, req ResumeRequest, out *Resumption) error {
	if known := indexer.Starters(); !slices.Contains(known, req.In) {
		return usage("--in %s: the harnesses that can take work over are %s", session.OneLine(req.In, 80), strings.Join(known, ", "))
	}
	limit := cmp.Or(req.MaxTokens, DefaultHandover)
	if limit < MinHandover || limit > contextpack.MaxTokens {
		return usage("max tokens must be from %d to %d", MinHandover, contextpack.MaxTokens)
	}
	own, _ := indexer.Resume(&card.Meta) // for its folder only
	dir, err := s.folder(ctx, card, cmp.Or(req.Dir, own.Dir), req.Dir != "", out)
	if err != nil {
		return err
	}
	c := session.Continuation{ID: card.ID, Harness: card.Harness, NativeID: card.NativeID, Title: session.Plain(card.ShownTitle())}
	head, err := contextpack.Count(contextpack.Encodings[0], c.Prompt(""))
	if err != nil {
		return err
	}
	out.Harness = req.In
	for budget := limit - head; ; {
		pack, err := s.pack(ctx, card, "", contextpack.Options{MaxTokens: budget})
		if err != nil {
			return err
		}
		out.Command, _ = indexer.Start(req.In, dir, c.Prompt(pack.Text))
		prompt := slices.MaxFunc(out.Argv, func(a, b string) int { return len(a) - len(b) })
		if out.Tokens, err = contextpack.Count(contextpack.Encodings[0], prompt); err != nil {
			return err
		}
		most := maxPrompt(runtime.GOOS)
		switch {
		case len(prompt) > most && budget > contextpack.MinTokens:
			out.Shortened = true
			budget = max(contextpack.MinTokens, budget*most/len(prompt)*9/10)
		case out.Tokens > limit && budget > contextpack.MinTokens: // what was escaped, and where the parts meet
			budget = max(contextpack.MinTokens, budget-(out.Tokens-limit)-8)
		default:
			return nil
		}
	}
}
