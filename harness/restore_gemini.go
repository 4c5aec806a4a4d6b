package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// geminiRestore lays a session's files out in the chats of its folder's project:
// Gemini CLI looks for an id in the project of the folder that it runs in, and
// nowhere else.
func geminiRestore(env Env, s Stored) (Layout, error) {
	roots := geminiRoots(env)
	if len(roots) == 0 {
		return Layout{}, noHome(geminiName)
	}
	if s.Dir == "" {
		return Layout{}, errNoDir
	}
	project := geminiProject(roots[0], s.Dir, env.GOOS)
	chats := filepath.Join(project, geminiChats)
	if s.Meta.Subagent && s.Meta.Parent != "" {
		chats = filepath.Join(chats, s.Meta.Parent)
	}
	if at := geminiStanding(chats, s.Meta.NativeID); at != "" {
		return Layout{Present: at}, nil
	}
	names, err := geminiNames(s)
	if err != nil {
		return Layout{}, err
	}
	var l Layout
	if marker := filepath.Join(project, ".project_root"); standing(marker) == "" {
		l.Files = append(l.Files, textFile(marker, s.Dir))
	}
	write := verbatim(s)
	for _, name := range names {
		if len(names) > 1 {
			write = onePart(s, names, name)
		}
		l.Files = append(l.Files, File{filepath.Join(chats, name), write})
	}
	return l, nil
}

// geminiStanding finds a file of a session among the files of a folder.
func geminiStanding(chats, id string) string {
	entries, err := os.ReadDir(chats)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		key := geminiNameKey(e.Name())
		if !geminiSessionName(e.Name()) || key == "" || !strings.HasPrefix(id, key) {
			continue
		}
		if at := filepath.Join(chats, e.Name()); geminiFileID(at) == id {
			return at
		}
	}
	return ""
}

// geminiNames names the session's files: as they were named, or as Gemini CLI names
// new ones.
func geminiNames(s Stored) ([]string, error) {
	old := lastStep(s.Path)
	allowed := func(name string) bool {
		return plainName(name) && geminiSessionName(name) && strings.HasPrefix(s.Meta.NativeID, geminiNameKey(name))
	}
	head, err := firstLine(s)
	if err != nil {
		return nil, err
	}
	if first, ok := readPartHead(head); ok {
		var names []string
		r, err := s.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		for line, err := range Lines(r) {
			if errors.Is(err, ErrLongLine) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if part, ok := readPartHead(line); ok {
				name := part.Name
				if !allowed(name) || slices.Contains(names, name) {
					return nil, fmt.Errorf("part %q: %w", name, ErrNotParts)
				}
				names = append(names, name)
			}
		}
		if len(names) == 1 { // verbatim would keep the header
			return nil, fmt.Errorf("part %q alone: %w", first.Name, ErrNotParts)
		}
		return names, nil
	}
	if allowed(old) {
		return []string{old}, nil
	}
	ext := ".jsonl"
	if first := gjson.ParseBytes(head); !first.IsObject() || first.Get("messages").Exists() || !gjson.ValidBytes(head) {
		ext = ".json" // one document
	}
	if s.Meta.Subagent && s.Meta.Parent != "" {
		return []string{s.Meta.NativeID + ext}, nil
	}
	return []string{s.Meta.Start.UTC().Format("session-2006-01-02T15-04-") + s.Meta.NativeID[:min(8, len(s.Meta.NativeID))] + ext}, nil
}

// geminiProject is the folder of a project's temporary files, which need not be there
// yet: by the registry, by the marker in it, or as the next one to be named after the
// project's folder.
func geminiProject(tmp, dir, goos string) string {
	key := dir
	if goos == "windows" {
		key = strings.ToLower(dir)
	}
	taken := map[string]bool{}
	found := ""
	gjson.Parse(geminiRead(filepath.Join(filepath.Dir(tmp), "projects.json"))).Get("projects").
		ForEach(func(folder, slug gjson.Result) bool {
			taken[slug.String()] = true
			if folder.Str == key && plainName(slug.String()) {
				found = keep(slug.String())
			}
			return found == ""
		})
	if found != "" {
		return filepath.Join(tmp, found)
	}
	for _, project := range folders(tmp) {
		marker := geminiRead(filepath.Join(project, ".project_root"))
		if marker == dir {
			return project
		}
		taken[filepath.Base(project)] = taken[filepath.Base(project)] || marker != ""
	}
	slug := strings.Trim(geminiNoSlug.ReplaceAllString(strings.ToLower(lastStep(dir)), "-"), "-")
	if slug == "" {
		slug = "project"
	}
	name := slug
	for n := 1; taken[name]; n++ {
		name = slug + "-" + strconv.Itoa(n)
	}
	return filepath.Join(tmp, name)
}

var geminiNoSlug = regexp.MustCompile(`[^a-z0-9]+`)
