package library

import (
	"path"
	"slices"
	"strings"

	"sessdex/session"
)

// merge is the fresh card with what people said on the old one.
func merge(old, fresh *session.Card) *session.Card {
	card := *fresh
	card.Schema = max(old.Schema, fresh.Schema)
	if card.PeopleTitle == "" {
		card.PeopleTitle = old.PeopleTitle
	}
	if card.Label == "" {
		card.Label = old.Label
	}
	card.PeopleTags = union(old.PeopleTags, fresh.PeopleTags)
	card.DroppedTags = union(old.DroppedTags, fresh.DroppedTags)
	card.Readers = union(old.Readers, fresh.Readers)
	card.Older = slices.Clone(old.Older)
	if card.Parent == "" {
		card.Parent = old.Parent
	}
	keepLineage(&card, old)
	keepDir(&card, old)
	keepRepo(&card, old)
	return &card
}

// keepLineage keeps where the session comes from, as others found out or a person
// said, where its own transcript does not tell.
func keepLineage(card, old *session.Card) {
	if card.ForkedFrom != "" || old.Inherited.Total() > card.Turns.Total() {
		return
	}
	card.ForkedFrom, card.Inherited, card.Copied = old.ForkedFrom, old.Inherited, old.Copied
	if old.Copied {
		card.Opening = old.Opening
		if card.TitleSource == session.TitleOpening {
			card.Title = session.OneLine(card.Opening, 120)
		}
	}
}

// keepDir keeps the working folder where the fresh card has none: some transcripts
// do not name it, and a copy of one lies where nothing else tells.
func keepDir(card, old *session.Card) {
	if card.Dir == "" {
		card.Dir = old.Dir
		card.Dirs = session.Unique(old.Dirs, card.Dirs)
		if card.Repo == "" {
			card.Repo = old.Repo
		}
	}
}

// keepRepo keeps what a working folder's repository was called when the folder was
// still there: without it, the name of the folder is all that is known.
func keepRepo(card, old *session.Card) {
	if card.Dir != old.Dir || old.Repo == "" || strings.Contains(card.Repo, "/") {
		return
	}
	if strings.Contains(old.Repo, "/") || card.Repo == path.Base(strings.ReplaceAll(card.Dir, `\`, "/")) {
		card.Repo = old.Repo
	}
}

func union(a, b []string) []string {
	all := session.Unique(a, b)
	if len(all) == 0 {
		return nil
	}
	slices.Sort(all)
	return all
}
