package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	if strings.HasPrefix(s.Meta.NativeID, "session-") { // the file's name, for want of an id
		return Layout{}, fmt.Errorf("%w: its first line, which holds its id, is damaged", ErrUnresumable)
	}
	project := geminiProject(roots[0], s.Dir, env.GOOS)
	chats := filepath.Join(project, geminiChats)
	if s.Meta.Subagent && s.Meta.Parent != "" {
		chats = filepath.Join(chats, s.Meta.Parent)
	}
	if at := geminiStanding(chats, s.Meta.NativeID); at != "" {
		return Layout{Present: at}, nil
	}
	names, split, err := geminiNames(s)
	if err != nil {
		return Layout{}, err
	}
	var l Layout
	if marker := filepath.Join(project, ".project_root"); standing(marker) == "" {
		l.Files = append(l.Files, textFile(marker, s.Dir))
	}
	write := verbatim(s)
	for _, name := range names {
		if split {
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
// new ones. split tells that the transcript is the document of several.
func geminiNames(s Stored) (names []string, split bool, err error) {
	head, err := firstLine(s)
	if err != nil {
		return nil, false, err
	}
	if _, ok := readPartHead(head); ok {
		names, err := geminiPartNames(s)
		return names, true, err
	}
	if old := baseName(s.Path); geminiOwns(s, old) {
		return []string{old}, false, nil
	}
	ext := ".jsonl"
	if first := gjson.ParseBytes(head); !gjson.ValidBytes(head) || first.Get("messages").Exists() {
		ext = ".json" // one document
	}
	if s.Meta.Subagent && s.Meta.Parent != "" {
		return []string{s.Meta.NativeID + ext}, false, nil
	}
	short := s.Meta.NativeID[:min(8, len(s.Meta.NativeID))]
	return []string{s.Meta.Start.UTC().Format("session-2006-01-02T15-04-") + short + ext}, false, nil
}

// geminiOwns reports whether a file of that name can be one of the session's.
func geminiOwns(s Stored, name string) bool {
	key := geminiNameKey(name)
	return plainName(name) && geminiSessionName(name) && key != "" && strings.HasPrefix(s.Meta.NativeID, key)
}

// geminiPartNames lists the files that a transcript is made of.
func geminiPartNames(s Stored) (names []string, err error) {
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
		part, ok := readPartHead(line)
		if ok && !geminiOwns(s, part.Name) {
			return nil, fmt.Errorf("part %q: %w", part.Name, ErrNotParts)
		}
		if ok {
			names = append(names, part.Name)
		}
	}
	return names, nil
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
	slug := strings.Trim(geminiNoSlug.ReplaceAllString(strings.ToLower(baseName(dir)), "-"), "-")
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
