package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"sessdex/indexer"
	"sessdex/session"
)

// ResumeRequest asks how a session goes on.
type ResumeRequest struct {
	ID        string
	Dir       string // in this folder instead of the session's own
	In        string // in a new session of this harness instead of its own one
	MaxTokens int    // of the prompt, with In; 0: DefaultHandover
	Shell     Shell  // of Line; "": the service's
	DryRun    bool   // restore nothing
}

// Resumption is how a session goes on on this machine.
type Resumption struct {
	SchemaVersion   int               `json:"schema_version"`
	ID              string            `json:"id"`      // of the session that goes on: a sub-agent's is its parent
	Harness         string            `json:"harness"` // in which
	indexer.Command                   // Dir is "" where the session's folder is not there
	Line            string            `json:"line"`                // the command for a shell; "" where it cannot be given the folder that was asked for
	Shell           Shell             `json:"shell"`               //
	Restored        []string          `json:"restored"`            // files made, or with a dry run to be made; never nil
	Ran             []indexer.Command `json:"ran"`                 // commands of the harness's for it; never nil
	Gone            string            `json:"gone,omitempty"`      // the session's folder, where it is not there
	Instead         string            `json:"instead,omitempty"`   // a folder of the same repository that is
	Tokens          int               `json:"tokens,omitempty"`    // with In: exact count of the prompt
	Shortened       bool              `json:"shortened,omitempty"` // with In: the prompt is shorter than asked, to fit into a command
}

// Resume tells how a session goes on, and sees to it that its harness finds it: a
// session whose files were removed is restored from the library first.
func (s *Service) Resume(ctx context.Context, req ResumeRequest) (*Resumption, error) {
	card, err := s.card(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	if req.In == "" {
		if card, err = s.outermost(ctx, card); err != nil {
			return nil, err
		}
	}
	out := &Resumption{SchemaVersion: SchemaVersion, ID: card.ID, Shell: cmp.Or(req.Shell, s.Shell, Bash), Restored: []string{}, Ran: []indexer.Command{}}
	if req.In != "" {
		err = s.handOver(ctx, card, req, out)
	} else {
		err = s.goOn(ctx, card, req, out)
	}
	if err != nil {
		return nil, err
	}
	again := []string{"sessdex", "resume", card.ID}
	if req.In != "" {
		again = append(again, "--in", req.In)
		if n := cmp.Or(req.MaxTokens, DefaultHandover); n != DefaultHandover {
			again = append(again, "--max-tokens", strconv.Itoa(n))
		}
	}
	if req.Dir != "" {
		again = append(again, "--dir", req.Dir)
	}
	out.Line = out.Shell.lineOr(out.Command, append(again, "--exec"))
	return out, nil
}

// goOn fills in how the session goes on in its own harness.
func (s *Service) goOn(ctx context.Context, card *session.Card, req ResumeRequest, out *Resumption) error {
	cmd, ok := indexer.Resume(&card.Meta)
	if !ok {
		return usage("%s has no command that goes on with session %s: go on in another harness with --in", card.Harness, card.ID)
	}
	out.Harness, out.Command = card.Harness, cmd
	dir, err := s.folder(ctx, card, cmp.Or(req.Dir, cmd.Dir), req.Dir != "", out)
	if err != nil {
		return err
	}
	out.Dir = dir
	cards := []*session.Card{card}
	children, err := s.children(ctx, card)
	if err != nil {
		return err
	}
	for _, id := range children {
		if child, _, err := s.Library.Card(ctx, id); err == nil && child.Owner == card.Owner && child.Harness == card.Harness {
			cards = append(cards, child)
		}
	}
	done, err := s.Indexer.Restore(ctx, cards, cmp.Or(dir, cmd.Dir), req.DryRun)
	if errors.Is(err, indexer.ErrUnresumable) {
		return usage("%v: hand its work to a new session with `sessdex resume %s --in %s`", err, card.ID, card.Harness)
	}
	out.Restored, out.Ran = done.Files, done.Ran
	return err
}

// outermost is the session that a person can go on with: for a sub-agent the one
// that started it, as far as the library has it.
func (s *Service) outermost(ctx context.Context, card *session.Card) (*session.Card, error) {
	for range 32 { // no lineage is that deep; one that is, is a circle
		if !card.Subagent || card.Parent == "" {
			break
		}
		parent, _, err := s.Library.Card(ctx, session.NewID(card.Owner, card.Harness, card.Parent))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		card = parent
	}
	return card, nil
}

// folder settles where a session goes on: in dir where it is there, and else
// nowhere; then it notes what is gone and where the work may be now. A folder that
// the person named must be there.
func (s *Service) folder(ctx context.Context, card *session.Card, dir string, named bool, out *Resumption) (string, error) {
	switch {
	case dir == "" || isFolder(dir):
		return dir, nil
	case named:
		return "", usage("there is no folder %s", dir)
	}
	out.Gone, out.Instead = dir, s.elsewhere(ctx, card, dir)
	return "", nil
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// resumeLine is the line with which a person goes on with a session, as far as its
// card tells: "" where its harness has none.
func (s *Service) resumeLine(m *session.Meta, id string) string {
	cmd, ok := indexer.Resume(m)
	if !ok {
		return ""
	}
	return cmp.Or(s.Shell, Bash).lineOr(cmd, []string{"sessdex", "resume", id, "--exec"})
}

// lineOr is the command's line, or that of another one where the shell cannot be given
// the first.
func (sh Shell) lineOr(c indexer.Command, plain []string) string {
	line, ok := sh.Line(c)
	if !ok {
		line, _ = sh.Line(indexer.Command{Argv: plain})
	}
	return line
}

// GoneError is the sentence about a session's folder that is not there.
func (r *Resumption) GoneError() error {
	if r.Gone == "" {
		return nil
	}
	what := fmt.Sprintf("the session's folder %s is not there any more", r.Gone)
	if r.Instead == "" {
		return notFound("%s: go to where its work is now, or name the folder with --dir", what)
	}
	dir, _ := r.Shell.quote(r.Instead)
	return notFound("%s: its repository is in %s now, so try `sessdex resume %s --dir %s`", what, r.Instead, r.ID, cmp.Or(dir, r.Instead))
}
