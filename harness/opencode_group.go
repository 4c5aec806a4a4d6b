package harness

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// openCodeGroup tells what a file of OpenCode's belongs to. A session that a database
// has is the database's, with whatever the trees beside it add to it; one that only a
// tree has stands for itself.
func openCodeGroup(path string) Group {
	base := filepath.Base(path)
	if db, ok := openCodeDBOf(path); ok {
		return Group{Carrier: db, Sources: func() ([]Source, error) { return openCodeDBSources(db) }}
	}
	if filepath.Ext(base) != ".json" {
		return Group{}
	}
	place := openCodePlace(path)
	switch {
	case place.session == "":
		return Group{}
	case place.part:
		if path = place.home.ofPart(path); path == "" {
			return Group{}
		}
	case filepath.Base(filepath.Dir(path)) == place.session: // a message
		if path = place.home.tree(place.session); path == "" {
			return Group{}
		}
	}
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	if db := place.home.database(id); db != "" {
		return Group{Carrier: db, Sources: func() ([]Source, error) { return openCodeDBSources(db) }}
	}
	if file := place.home.tree(id); file != "" {
		path = file // the later of two trees
	}
	return Group{Carrier: path, Sources: func() ([]Source, error) { return openCodeTreeSource(place.home, id) }}
}

// openCodeDBOf is the database that a file is, or is a log of.
func openCodeDBOf(path string) (string, bool) {
	for _, ext := range []string{"", openCodeWAL, "-shm"} {
		db, ok := strings.CutSuffix(path, ext)
		if !ok {
			continue
		}
		switch filepath.Ext(db) {
		case ".db", ".sqlite", ".sqlite3":
		default:
			continue
		}
		info, err := os.Stat(db)
		if err == nil && info.Mode().IsRegular() && info.Size() > 0 && (isOpenCodeDBName(filepath.Base(db)) || holdsOpenCode(db)) {
			return db, true
		}
	}
	return "", false
}

// openCodeSchema matches the statements that make the tables, as a log holds them.
var openCodeSchema = regexp.MustCompile("(?i)CREATE TABLE [`\"]?(session|message|part)[`\"]?\\s*\\(")

// holdsOpenCode looks into a database whose name says nothing. It touches neither the
// database nor its folder, and no lock.
func holdsOpenCode(db string) bool {
	if openCodeOnlyFiles(db) != nil {
		return false
	}
	d := &openCodeDB{path: db, has: map[string]bool{}}
	if d.open(openCodeDSN(db, "mode=ro&immutable=1")) == nil {
		d.Close()
		return true
	}
	f, err := openRegular(db + openCodeWAL)
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1<<20))
	tables := map[string]bool{}
	for _, m := range openCodeSchema.FindAllSubmatch(head, -1) {
		tables[strings.ToLower(string(m[1]))] = true
	}
	return err == nil && len(tables) == 3
}

// An openCodeHome is a data folder: databases, storage, project.
type openCodeHome string

// openCodePlaceOf is where a file of a tree stands.
type openCodePlaceOf struct {
	home    openCodeHome
	session string // its id; "?" for a part, which knows it
	part    bool
}

// openCodePlace tells from a file's name alone.
func openCodePlace(path string) openCodePlaceOf {
	steps := strings.Split(filepath.ToSlash(path), "/")
	at := func(n int) string { // n-th step from the end
		if n > len(steps) {
			return ""
		}
		return steps[len(steps)-n]
	}
	up := func(n int) openCodeHome {
		p := path
		for range n {
			p = filepath.Dir(p)
		}
		return openCodeHome(p)
	}
	id := strings.TrimSuffix(at(1), ".json")
	switch {
	case strings.HasPrefix(id, "ses_") && at(2) == "info" && at(3) == "session" && at(4) == "storage":
		return openCodePlaceOf{home: up(6), session: id}
	case strings.HasPrefix(id, "ses_") && at(3) == "session" && at(4) == "storage":
		return openCodePlaceOf{home: up(4), session: id}
	case strings.HasPrefix(id, "msg_") && strings.HasPrefix(at(2), "ses_") && at(3) == "message" && at(4) == "session" && at(5) == "storage":
		return openCodePlaceOf{home: up(7), session: at(2)}
	case strings.HasPrefix(id, "msg_") && strings.HasPrefix(at(2), "ses_") && at(3) == "message" && at(4) == "storage":
		return openCodePlaceOf{home: up(4), session: at(2)}
	case strings.HasPrefix(id, "prt_") && strings.HasPrefix(at(2), "msg_") && at(4) == "part" && at(5) == "session" && at(6) == "storage":
		return openCodePlaceOf{home: up(8), session: at(3), part: true}
	case strings.HasPrefix(id, "prt_") && strings.HasPrefix(at(2), "msg_") && at(3) == "part" && at(4) == "storage":
		return openCodePlaceOf{home: up(4), session: "?", part: true}
	}
	return openCodePlaceOf{}
}

// tree is the file of a session's own record, of the later layout where both have it.
func (h openCodeHome) tree(id string) string {
	if found := h.treesOf(id); len(found) > 0 {
		return found[0]
	}
	return ""
}

// treesOf lists the files of a session's own record, the later layout first.
// It asks for the name in each folder: globbing for it would list them all.
func (h openCodeHome) treesOf(id string) []string {
	var found []string
	for _, pattern := range []string{"storage/session/*", "project/*/storage/session/info"} {
		first := len(found)
		for _, dir := range h.glob(pattern) {
			file := filepath.Join(dir, id+".json")
			if _, err := os.Lstat(file); err == nil {
				found = append(found, file)
			}
		}
		slices.Sort(found[first:]) // as trees does: by the whole path
	}
	return found
}

// trees lists the files of all sessions' own records by id, as treesOf.
func (h openCodeHome) trees() map[string][]string {
	all := map[string][]string{}
	for _, pattern := range []string{"storage/session/*/ses_*.json", "project/*/storage/session/info/ses_*.json"} {
		for _, file := range h.glob(pattern) {
			id := strings.TrimSuffix(filepath.Base(file), ".json")
			all[id] = append(all[id], file)
		}
	}
	return all
}

// glob lists what matches below the folder, sorted; what cannot be read is not there.
func (h openCodeHome) glob(pattern string) []string {
	root := string(h)
	if filepath.Separator == '/' { // elsewhere a backslash is no escape
		root = globLiteral.Replace(root)
	}
	found, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	slices.Sort(found)
	return found
}

var globLiteral = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)

// ofPart is the file of the session that a part belongs to. The parts of a message are
// looked up once for all of them.
func (h openCodeHome) ofPart(path string) string {
	dir := filepath.Dir(path)
	openCodeLast.Lock()
	defer openCodeLast.Unlock()
	if openCodeLast.dir != dir {
		openCodeLast.dir, openCodeLast.file = dir, ""
		id := filepath.Base(filepath.Dir(dir))
		if !strings.HasPrefix(id, "ses_") {
			if m := openCodeSessionOf.FindSubmatch(fileHead(path)); m != nil {
				id = string(m[1])
			}
		}
		if strings.HasPrefix(id, "ses_") {
			openCodeLast.file = h.tree(id)
		}
	}
	return openCodeLast.file
}

// openCodeLast remembers the folder of parts that was looked up last.
var openCodeLast struct {
	sync.Mutex
	dir, file string
}

var openCodeSessionOf = regexp.MustCompile(`"sessionID"\s*:\s*"(ses_[0-9A-Za-z]+)"`)

// fileHead is the first 4 KiB of a file, as far as it can be read.
func fileHead(path string) []byte {
	f, err := openRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, 4<<10))
	return head
}

// database is the one that has a session, or "". One that cannot be read is passed
// over: it is reported where it is found itself.
func (h openCodeHome) database(id string) string {
	for _, db := range h.glob("opencode*.db") {
		rows, err := openCodeRows(db)
		if err != nil {
			continue
		}
		if _, ok := slices.BinarySearchFunc(rows, id, func(r openCodeRow, id string) int { return strings.Compare(r.id, id) }); ok {
			return db
		}
	}
	return ""
}

// openCodeRows lists the sessions of a database, anew only when it has changed.
func openCodeRows(path string) ([]openCodeRow, error) {
	openCodeLists.Lock()
	defer openCodeLists.Unlock()
	state := openCodeFileState(path)
	if was, ok := openCodeLists.of[path]; ok && was.state == state {
		return was.rows, nil
	}
	db, err := openOpenCodeDB(path)
	if err != nil {
		return nil, err
	}
	rows, err := db.list()
	if err == nil {
		err = db.unchanged()
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	openCodeLists.of[path] = openCodeList{state, rows}
	return rows, nil
}

type openCodeList struct {
	state string
	rows  []openCodeRow
}

var openCodeLists = struct {
	sync.Mutex
	of map[string]openCodeList
}{of: map[string]openCodeList{}}

// openCodeDBSources lists the sessions of a database that have a message there or in a
// tree beside it.
func openCodeDBSources(path string) ([]Source, error) {
	rows, err := openCodeRows(path)
	if err != nil {
		return nil, err
	}
	trees := openCodeHome(filepath.Dir(path)).trees()
	var all []Source
	for _, row := range rows {
		files := trees[row.id]
		if row.messages == 0 && len(files) == 0 {
			continue
		}
		src := Source{Path: path, Part: row.id, Size: row.size, Stamp: row.stamp}
		for _, file := range files {
			stamp, size, err := newOpenCodeTree(file).stamp()
			if err != nil {
				return nil, err
			}
			src.Stamp += "/" + stamp
			src.Size += size
		}
		src.Open = func() (io.ReadCloser, error) {
			db, err := openOpenCodeDB(path)
			if err != nil {
				return nil, err
			}
			return newOpenCodeReader(row.id, openCodeTogether(db.of(row.id), files)), nil
		}
		all = append(all, src)
	}
	return all, nil
}

// openCodeTogether is a session with what trees add to it.
func openCodeTogether(first openCodeStore, files []string) openCodeStore {
	var union openCodeUnion
	if first != nil {
		union = append(union, first)
	}
	for _, file := range files {
		union = append(union, newOpenCodeTree(file))
	}
	if len(union) == 1 {
		return union[0]
	}
	return union
}

// openCodeTreeSource is a session that only trees have.
func openCodeTreeSource(h openCodeHome, id string) ([]Source, error) {
	files := h.treesOf(id)
	if len(files) == 0 {
		return nil, fmt.Errorf("find the session %s: %w", id, os.ErrNotExist)
	}
	src := Source{Path: files[0]}
	for _, file := range files {
		stamp, size, err := newOpenCodeTree(file).stamp()
		if err != nil {
			return nil, err
		}
		src.Stamp += stamp + "/"
		src.Size += size
	}
	src.Open = func() (io.ReadCloser, error) {
		return newOpenCodeReader(id, openCodeTogether(nil, files)), nil
	}
	return []Source{src}, nil
}
