package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// geminiGroup gathers the files of one session, and looks up the folder it was
// held in, which stands outside of them.
func geminiGroup(file string) Group {
	chats := geminiChatsDir(file)
	if chats == "" || !geminiSessionName(filepath.Base(file)) {
		return Group{}
	}
	parts := geminiSiblings(file)
	return Group{Carrier: parts[0], Sources: func() ([]Source, error) {
		src, err := geminiSource(parts)
		if err != nil {
			return nil, err
		}
		src.Dir = geminiProjectDir(filepath.Dir(chats))
		src.Stamp += "-" + src.Dir
		src.ForkedFrom = geminiImportedFrom(parts[0])
		return []Source{src}, nil
	}}
}

// geminiChatsDir is the folder "chats" that file lies in, directly or in the folder
// of the session that started a sub-agent, or "".
func geminiChatsDir(file string) string {
	dir := filepath.Dir(file)
	for range 2 {
		if filepath.Base(dir) == geminiChats {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// geminiSiblings lists the files of the session in file, in the order they were
// begun. Their names share the beginning of the session's id, or all but ".jsonl".
func geminiSiblings(file string) []string {
	names := geminiListed(filepath.Dir(file))[geminiNameKey(filepath.Base(file))]
	if len(names) < 2 || len(names) > geminiMaxParts {
		return []string{file}
	}
	own := geminiFileID(file)
	var parts []string
	for _, n := range names {
		part := filepath.Join(filepath.Dir(file), n)
		if part == file || own != "" && geminiFileID(part) == own {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 { // file is not there any more
		return []string{file}
	}
	return parts
}

// geminiMaxParts is how many files may make one session: the head of each is read for
// each of the others. Going on with a session begins one more, now and then.
const geminiMaxParts = 128

// geminiListed lists the sessions' files of a folder, sorted, by what their names have in
// common. The folder that was listed last is remembered: it is asked about for each of
// its files. One that changed a moment ago is not, since what changes it next may
// leave the same time.
func geminiListed(dir string) map[string][]string {
	geminiLast.Lock()
	defer geminiLast.Unlock()
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	if geminiLast.dir == dir && geminiLast.stamp == stamp(info) {
		return geminiLast.byKey
	}
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	names, _ := f.Readdirnames(-1) // what cannot be listed stands alone
	f.Close()
	slices.Sort(names)
	byKey := map[string][]string{}
	for _, n := range names {
		if geminiSessionName(n) {
			byKey[geminiNameKey(n)] = append(byKey[geminiNameKey(n)], n)
		}
	}
	geminiLast.dir = ""
	if time.Since(info.ModTime()) > geminiSettled {
		geminiLast.dir, geminiLast.stamp, geminiLast.byKey = dir, stamp(info), byKey
	}
	return byKey
}

// geminiSettled is more than the steps in which any file system counts time.
const geminiSettled = 3 * time.Second

var geminiLast struct {
	sync.Mutex
	dir, stamp string
	byKey      map[string][]string // never changed
}

// geminiNameKey is what the names of one session's files have in common.
func geminiNameKey(name string) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(name, ".jsonl"), ".json")
	if strings.HasPrefix(stem, "session-") {
		if i := strings.LastIndexByte(stem, '-'); len(stem)-i-1 == 8 {
			return stem[i+1:]
		}
	}
	return stem
}

// geminiFileID reads the session's id from the head of a file, "" where that is not
// Gemini's or is damaged.
func geminiFileID(file string) string {
	if facts := gjson.Parse(geminiHead(file)); geminiFacts(facts) {
		return keep(facts.Get("sessionId").Str)
	}
	return ""
}

// geminiHead is the beginning of a file, "" where it cannot be read.
func geminiHead(file string) string {
	r, err := openTranscript(file)
	if err != nil {
		return ""
	}
	defer r.Close()
	head, _ := io.ReadAll(io.LimitReader(r, 4<<10))
	return strings.TrimSpace(string(head))
}

// geminiImported is the name of a session that was begun from another's file: the
// time in it counts milliseconds.
var geminiImported = regexp.MustCompile(`^session-\d{13}-`)

// geminiImportedFrom is the id of the session in the file that this one was begun
// from, "" where that is gone.
func geminiImportedFrom(file string) string {
	if !geminiImported.MatchString(filepath.Base(file)) {
		return ""
	}
	for _, line := range strings.Split(geminiHead(file), "\n") {
		if from, ok := strings.CutPrefix(gjson.Get(line, "content").String(), geminiImport); ok {
			return geminiFileID(strings.TrimSpace(from))
		}
	}
	return ""
}

// geminiSource is the transcript that parts make: a file as it is, or the document
// of several.
func geminiSource(parts []string) (Source, error) {
	if len(parts) > 1 {
		names := make([]string, len(parts))
		for i, p := range parts {
			names[i] = filepath.Base(p)
		}
		dir := filepath.Dir(parts[0])
		if found := partsOf(dir, names, func(string) int64 { return 0 }); len(found) > 1 {
			return partsSource(partHead{Harness: geminiName}, dir, names[0], found), nil
		}
	}
	return fileSource(parts[0], nil)
}

// maxRegistry bounds what is read of a file that names projects.
const maxRegistry = 4 << 20

// geminiProjectDir finds the folder that a project's temporary files belong to: by
// the marker among them, or by the registry, which knows slugs, and whose folders
// tell whose hash the name is.
func geminiProjectDir(project string) string {
	if marker := geminiRead(filepath.Join(project, ".project_root")); marker != "" {
		return marker
	}
	name := filepath.Base(project)
	home := filepath.Dir(filepath.Dir(project)) // …/.gemini
	found := ""
	take := func(folder gjson.Result, slug string) bool {
		if slug == name || geminiHash(folder.Str) == name {
			found = keep(folder.Str)
		}
		return found == ""
	}
	gjson.Parse(geminiRead(filepath.Join(home, "projects.json"))).Get("projects").
		ForEach(func(folder, slug gjson.Result) bool { return take(folder, slug.String()) })
	if found == "" {
		gjson.Parse(geminiRead(filepath.Join(home, "trustedFolders.json"))).
			ForEach(func(folder, _ gjson.Result) bool { return take(folder, "") })
	}
	return found
}

// geminiHash is the name that a project's folder has in the harness's records.
func geminiHash(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:])
}

// geminiRead is a small text file, trimmed, or "".
func geminiRead(file string) string {
	f, err := openRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxRegistry))
	return strings.TrimSpace(string(data))
}
