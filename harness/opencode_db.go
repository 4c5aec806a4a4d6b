package harness

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// An openCodeDB is a database opened for reading, at one moment: a writer beside it
// is neither seen nor held up. Only the tables session, message, part and project are
// read, by names of columns; beside them are accounts, credentials and keys of shared
// sessions.
type openCodeDB struct {
	tx    *sql.Tx
	path  string
	as    string          // what the file looked like when it was opened without locks, else ""
	has   map[string]bool // "table.column" of what may be read
	close func() error
}

// errNoOpenCode means that a database has none of the tables that hold sessions.
var errNoOpenCode = errors.New("it has no tables session, message and part of OpenCode's")

// errOpenCodeChanged means that a writer came while a database was read that nobody
// had open before.
var errOpenCodeChanged = errors.New("the database changed while it was read; it is read again the next time")

// openCodeColumns are the columns that are read where a version has them. Those of the
// first line of a table are in every version.
var openCodeColumns = map[string][]string{
	"session": {"id", "directory", "title", "version", "time_created", "time_updated",
		"slug", "project_id", "parent_id", "path", "agent", "model", "revert", "time_archived",
		"summary_additions", "summary_deletions", "summary_files", "fork_session_id", "fork_message_id"},
	"message": {"id", "session_id", "time_created", "time_updated", "data"},
	"part":    {"id", "session_id", "message_id", "time_updated", "data"},
	"project": {"id", "worktree"},
}

// openOpenCodeDB opens a database in the way that its state allows:
//
//   - with a log beside it, as a reader among its readers and writers, which needs the
//     shared memory file that they use;
//   - without a log, as a file that nobody writes, which leaves nothing in its folder;
//     whoever comes to write is noticed at the end;
//   - where neither can be, as in a folder that may not be written to, as a copy.
func openOpenCodeDB(path string) (*openCodeDB, error) {
	path, err := filepath.EvalSymlinks(path) // the log is beside the file, not beside a link to it
	if err == nil {
		err = openCodeOnlyFiles(path)
	}
	if err != nil {
		return nil, err
	}
	d := &openCodeDB{path: path, has: map[string]bool{}}
	_, wal := os.Stat(path + openCodeWAL)
	_, journal := os.Stat(path + "-journal")
	if errors.Is(wal, fs.ErrNotExist) && errors.Is(journal, fs.ErrNotExist) {
		d.as = fileState(path)
		if err := d.open(openCodeDSN(path, "mode=ro&immutable=1")); err != nil {
			return nil, err
		}
		return d, nil
	}
	err = d.open(openCodeDSN(path, "mode=ro"))
	if err == nil || errors.Is(err, errNoOpenCode) {
		return d, err
	}
	copied, err2 := openCodeCopies.get(path)
	if err2 != nil {
		return nil, err // why the original cannot be read says more
	}
	if err := d.use(copied.db, copied.done); err != nil {
		return nil, err
	}
	return d, nil
}

// openCodeDSN names a database to the driver. What its schema calls is not trusted.
func openCodeDSN(path, how string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/…
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: how + "&_pragma=busy_timeout(5000)&_pragma=trusted_schema(0)"}
	return u.String()
}

// openCodeFileState changes whenever a database or its log does.
func openCodeFileState(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return fileState(path) + " " + fileState(path+openCodeWAL)
}

// fileState changes whenever a file does; it is "" for one that is not there.
func fileState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d-%d", info.Size(), info.ModTime().UnixNano())
}

func (d *openCodeDB) open(dsn string) error {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	return d.use(db, db.Close)
}

// use begins to read a database. close is called now if that fails, else by Close.
func (d *openCodeDB) use(db *sql.DB, close func() error) (err error) {
	defer func() {
		if err != nil {
			if d.tx != nil {
				d.tx.Rollback()
			}
			close()
			d.tx = nil
			err = fmt.Errorf("open %s: %w", filepath.Base(d.path), err)
		}
	}()
	if d.tx, err = db.BeginTx(context.Background(), nil); err != nil {
		return err
	}
	for table, columns := range openCodeColumns {
		// Views and virtual tables run whatever somebody wrote into the schema, without end
		// if that has none.
		rows, err := d.tx.Query(`SELECT name FROM pragma_table_info(?1)
			WHERE EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1 AND rootpage > 0)`, table)
		if err != nil {
			return err
		}
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				rows.Close()
				return err
			}
			if slices.Contains(columns, name) {
				d.has[table+"."+name] = true
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
	}
	for _, column := range []string{"session.id", "message.id", "message.session_id", "message.data", "part.id", "part.message_id", "part.data"} {
		if !d.has[column] {
			return errNoOpenCode
		}
	}
	d.close = close
	return nil
}

// column is an expression for a column that an older or newer version may not have.
func (d *openCodeDB) column(table, name string) string {
	if d.has[table+"."+name] {
		return table + "." + name
	}
	return "NULL"
}

// unchanged reports a writer that came while a file was read as one nobody writes:
// what it writes goes to a log first, and only from there into the file.
func (d *openCodeDB) unchanged() error {
	if d.as != "" && fileState(d.path) != d.as {
		return errOpenCodeChanged
	}
	return nil
}

// Close implements [io.Closer].
func (d *openCodeDB) Close() error {
	d.tx.Rollback()
	return d.close()
}

// An openCodeRow is what the list of a database's sessions tells about one.
type openCodeRow struct {
	id       string
	messages int
	stamp    string
	size     int64 // bytes of its messages and parts
}

// list tells of every session, without reading what was said: rows are counted, and
// lengths are in a row's head.
func (d *openCodeDB) list() ([]openCodeRow, error) {
	sums := func(table string) string {
		if !d.has[table+".session_id"] {
			return "SELECT NULL id, 0 n, 0 t, 0 size"
		}
		// Sorted by session, where no index gives that order, is what was computed, and
		// not the data.
		return fmt.Sprintf(`WITH row AS MATERIALIZED (SELECT session_id id, %s t, octet_length(data) size FROM %s WHERE %s)
			SELECT id, count(*) n, max(t) t, sum(size) size FROM row GROUP BY id`,
			d.number(table, "time_updated"), table, openCodeIsID("session_id"))
	}
	rows, err := d.tx.Query(fmt.Sprintf(`SELECT session.id, %s,
			coalesce(m.n, 0), coalesce(m.t, 0), coalesce(m.size, 0), coalesce(p.n, 0), coalesce(p.t, 0), coalesce(p.size, 0)
		FROM session LEFT JOIN (%s) m ON m.id = session.id LEFT JOIN (%s) p ON p.id = session.id
		WHERE %s ORDER BY session.id`, d.number("session", "time_updated"), sums("message"), sums("part"), openCodeIsID("session.id")))
	if err != nil {
		return nil, fmt.Errorf("list the sessions of %s: %w", filepath.Base(d.path), err)
	}
	defer rows.Close()
	var all []openCodeRow
	for rows.Next() {
		var r openCodeRow
		var updated, messagesUpdated, partsUpdated, messagesSize, partsSize int64
		var parts int
		err := rows.Scan(&r.id, &updated, &r.messages, &messagesUpdated, &messagesSize, &parts, &partsUpdated, &partsSize)
		if err != nil {
			return nil, fmt.Errorf("list the sessions of %s: %w", filepath.Base(d.path), err)
		}
		r.size = messagesSize + partsSize
		r.stamp = fmt.Sprintf("%d-%d-%d-%d-%d-%d", updated, r.messages, messagesUpdated, parts, partsUpdated, r.size)
		all = append(all, r)
	}
	return all, rows.Err()
}

// of is one session of the database; closing it closes the database.
func (d *openCodeDB) of(id string) openCodeStore { return openCodeDBSession{d, id} }

// openCodeDBSession is one session kept as rows.
type openCodeDBSession struct {
	*openCodeDB
	id string
}

func (s openCodeDBSession) messages() ([]openCodeRef, error) {
	rows, err := s.tx.Query(fmt.Sprintf("SELECT id, %s created FROM message WHERE session_id = ? AND %s ORDER BY created, id",
		s.number("message", "time_created"), openCodeIsID("id")), s.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var refs []openCodeRef
	for rows.Next() {
		var r openCodeRef
		if err := rows.Scan(&r.id, &r.created); err != nil {
			return nil, err
		}
		refs = append(refs, r)
	}
	return refs, rows.Err()
}

func (s openCodeDBSession) message(id string) ([]byte, error) {
	var raw []byte
	err := s.tx.QueryRow("SELECT "+openCodeBounded("data", openCodeMaxData)+" FROM message WHERE id = ?", id).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, io.EOF
	}
	return raw, err
}

func (s openCodeDBSession) parts(message string) iter.Seq2[openCodePart, error] {
	return func(yield func(openCodePart, error) bool) {
		rows, err := s.tx.Query(fmt.Sprintf("SELECT CASE WHEN %s THEN id ELSE '' END, %s FROM part WHERE message_id = ? ORDER BY id",
			openCodeIsID("id"), openCodeBounded("data", openCodeMaxData)), message)
		if err != nil {
			yield(openCodePart{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var p openCodePart
			var data sql.RawBytes
			if err := rows.Scan(&p.id, &data); err != nil {
				yield(p, err)
				return
			}
			if p.data = data; !yield(p, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(openCodePart{}, err)
		}
	}
}

// session writes the row as an export shows it.
func (s openCodeDBSession) session() ([]byte, error) {
	names := openCodeColumns["session"]
	exprs := make([]string, len(names))
	values := make([]any, len(names))
	for i, name := range names {
		exprs[i] = openCodeBounded(s.column("session", name), openCodeMaxField)
		values[i] = new(any)
	}
	err := s.tx.QueryRow("SELECT "+strings.Join(exprs, ", ")+" FROM session WHERE id = ?", s.id).Scan(values...)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, err
	}
	row := map[string]any{}
	for i, name := range names {
		switch v := (*values[i].(*any)).(type) {
		case []byte:
			row[name] = string(v)
		case time.Time:
			row[name] = v.UnixMilli()
		default:
			row[name] = v
		}
	}
	parsed := func(name string) any {
		text, _ := row[name].(string)
		if text == "" {
			return nil
		}
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return nil
		}
		return v
	}
	info := map[string]any{
		"slug": row["slug"], "projectID": row["project_id"], "parentID": row["parent_id"], "directory": row["directory"], "path": row["path"],
		"title": row["title"], "version": row["version"], "agent": row["agent"], "model": parsed("model"), "revert": parsed("revert"),
		"time":    map[string]any{"created": row["time_created"], "updated": row["time_updated"], "archived": row["time_archived"]},
		"summary": map[string]any{"additions": row["summary_additions"], "deletions": row["summary_deletions"], "files": row["summary_files"]},
	}
	if info["directory"] == nil || info["directory"] == "" {
		info["worktree"] = s.worktree(row["project_id"])
	}
	if fork := s.fork(row); len(fork) > 0 {
		info["fork"] = fork
	}
	return json.Marshal(info)
}

// worktree is the folder of a project, for sessions that know none.
func (s openCodeDBSession) worktree(project any) any {
	if !s.has["project.id"] || !s.has["project.worktree"] {
		return nil
	}
	var dir any
	if s.tx.QueryRow("SELECT "+openCodeBounded("worktree", openCodeMaxField)+" FROM project WHERE id = ?", project).Scan(&dir) != nil {
		return nil
	}
	return dir
}
