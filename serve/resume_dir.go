package serve

import (
	"context"
	"path/filepath"
	"strings"

	"sessdex/indexer"
	"sessdex/search"
	"sessdex/session"
)

// elsewhere looks for a folder that is there and holds the work of a session whose
// own folder is gone: another of the session's folders, the repository above the
// gone one, or where another session of the same repository ran. "" where there
// is none that can be told.
func (s *Service) elsewhere(ctx context.Context, card *session.Card, gone string) string {
	for _, dir := range card.Dirs {
		if dir != gone && filepath.IsAbs(dir) && isFolder(dir) {
			return dir
		}
	}
	for dir := filepath.Clean(gone); filepath.IsAbs(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if !isFolder(dir) {
			continue
		}
		if root := indexer.GitRoot(dir); root != "" && sameRepo(card.Repo, indexer.GitRepo(root)) {
			return root
		}
		break // the nearest one that is there tells
	}
	if card.Repo == "" {
		return ""
	}
	res, err := s.Index.Search(ctx, search.Query{Repo: card.Repo, Limit: elsewhereHits})
	if err != nil {
		return "" // only a proposal
	}
	for _, h := range res.Hits {
		if h.Dir != gone && filepath.IsAbs(h.Dir) && isFolder(h.Dir) && indexer.GitRepo(h.Dir) == card.Repo {
			return h.Dir
		}
	}
	return ""
}

// elsewhereHits is how many of a repository's newest sessions are asked for their
// folder.
const elsewhereHits = 20

// sameRepo reports whether the repository found above a gone folder is the
// session's. One without a remote is known by the name of its work tree only, which
// may have been another one's.
func sameRepo(want, found string) bool {
	return want == found || !strings.Contains(want, "/")
}
