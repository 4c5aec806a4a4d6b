package harness

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"
)

// claudeRestore lays a session out as <projects>/<slug of its folder>/<id>.jsonl, and
// a sub-agent's transcript below its session's, where it was. Claude Code finds a
// session by its id in any of the project folders, so one that stands in another
// is there already. The file's time stays that of its making: Claude Code removes
// files whose time is too long ago when it starts.
func claudeRestore(env Env, s Stored) (Layout, error) {
	roots := claudeRoots(env)
	if len(roots) == 0 {
		return Layout{}, noHome("claude-code")
	}
	name := s.Meta.NativeID + ".jsonl"
	if s.Meta.Subagent {
		rest := below(s.Path, "subagents")
		if rest == "" {
			rest = name
		}
		name = filepath.Join(s.Meta.Parent, "subagents", rest)
	}
	for _, root := range roots {
		for _, project := range folders(root) {
			if at := standing(filepath.Join(project, name), filepath.Join(project, s.Meta.NativeID+".jsonl")); at != "" {
				return Layout{Present: at}, nil
			}
		}
	}
	if s.Dir == "" {
		return Layout{}, errNoDir
	}
	return Layout{Files: []File{{filepath.Join(roots[0], claudeSlug(s.Dir), name), verbatim(s)}}}, nil
}

// claudeSlugMax is how much of a folder's name a slug has, in UTF-16 units; a
// longer one ends in a hash.
const claudeSlugMax = 200

// claudeSlug is the name of a folder's project: every UTF-16 unit but letters and
// digits of ASCII is "-". The hash is that of Claude Code 2.1.332.
func claudeSlug(dir string) string {
	units := utf16.Encode([]rune(dir))
	var b strings.Builder
	var hash int32
	for _, u := range units {
		hash = hash*31 + int32(u)
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= claudeSlugMax {
		return b.String()
	}
	n := int64(hash)
	if n < 0 {
		n = -n
	}
	return b.String()[:claudeSlugMax] + "-" + strconv.FormatInt(n, 36)
}
