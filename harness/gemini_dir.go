package harness

import (
	"path"
	"strings"

	"sessdex/session"
)

// maxTried bounds how many folders are compared with the project's hash.
const maxTried = 4000

// settleDir finds the working folder. No record names it, but all have its hash:
// a folder that has this hash is the one. Else it is what lies beside the file, what
// the session's facts or the model's first message list.
func (p *geminiParser) settleDir() {
	folders := p.folders
	for _, dir := range p.told {
		folders = appendNew(folders, dir)
	}
	proven := p.proven(folders)
	for _, dir := range []string{proven, p.src.Dir} {
		p.b.dir(dir)
	}
	if p.b.meta.Dir == "" || len(p.folders) > 0 {
		for _, dir := range folders {
			p.b.dir(dir)
		}
	}
}

// proven is the folder whose hash the records have, among folders, those above
// them, and those that the session touched.
func (p *geminiParser) proven(folders []string) string {
	if len(p.hash) != 64 {
		return ""
	}
	tried := map[string]bool{}
	try := func(at string) string {
		for strings.HasPrefix(at, "/") && len(at) > 1 && !tried[at] && len(tried) < maxTried {
			tried[at] = true
			if geminiHash(at) == p.hash {
				return at
			}
			at = path.Dir(at)
		}
		return ""
	}
	if p.src.Dir != "" && geminiHash(p.src.Dir) == p.hash {
		return p.src.Dir // on any system
	}
	for _, dir := range folders {
		if geminiHash(dir) == p.hash {
			return dir
		}
		if found := try(dir); found != "" {
			return found
		}
	}
	for _, t := range p.b.turns {
		if t.Role != session.Tool {
			continue
		}
		for _, list := range [][]string{t.Edits, t.Reads} {
			for _, file := range list {
				if found := try(file); found != "" {
					return found
				}
			}
		}
	}
	return ""
}
