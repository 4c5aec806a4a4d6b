package harness

import (
	"fmt"
	"regexp"
	"strconv"
)

// fork tells which session a session was copied from, and up to which message, in the
// shape of newer exports: {"sessionID", "messageID"}. Most versions do not write it
// down. There the origin is the session in the same database that has a message of
// the same millisecond as the copy's first, which is older than the copy itself; of
// several, one whose title the copy's was made from, else the oldest.
func (s openCodeDBSession) fork(row map[string]any) map[string]any {
	fork := map[string]any{}
	if from, _ := row["fork_session_id"].(string); from != "" {
		fork["sessionID"] = from
		if at, _ := row["fork_message_id"].(string); at != "" {
			fork["messageID"] = at
		}
		return fork
	}
	born, _ := row["time_created"].(int64)
	title, _ := row["title"].(string)
	if born == 0 || !s.has["message.time_created"] || !s.has["session.time_created"] || !s.has["session.title"] {
		return nil
	}
	var first int64
	err := s.tx.QueryRow("SELECT time_created FROM message WHERE session_id = ? ORDER BY time_created, id LIMIT 1", s.id).Scan(&first)
	if err != nil || first >= born {
		return nil
	}
	rows, err := s.tx.Query(fmt.Sprintf(`SELECT id, coalesce(%s, '') FROM session WHERE %s AND id <> ? AND time_created < ?
		AND EXISTS (SELECT 1 FROM message WHERE session_id = session.id AND time_created = ?) ORDER BY time_created, id`,
		openCodeBounded("title", openCodeMaxTitle), openCodeIsID("id")), s.id, born, first)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id, name string
		if rows.Scan(&id, &name) != nil {
			return nil
		}
		made := openCodeForkTitle(name) == title
		if made || len(fork) == 0 {
			fork["sessionID"] = id
		}
		if made {
			break
		}
	}
	return fork
}

// openCodeForkTitle is the title that a copy of a session gets.
func openCodeForkTitle(title string) string {
	if m := openCodeForked.FindStringSubmatch(title); m != nil {
		if n, err := strconv.Atoi(m[2]); err == nil {
			return m[1] + " (fork #" + strconv.Itoa(n+1) + ")"
		}
	}
	return title + " (fork #1)"
}

// openCodeMaxTitle is the length in bytes up to which a title is compared.
const openCodeMaxTitle = 4 << 10

var openCodeForked = regexp.MustCompile(`^(.+) \(fork #(\d+)\)$`)
