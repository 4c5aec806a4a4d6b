package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A database may have been made by anybody: see SQLite's "Defense Against The Dark
// Arts". What is read of one is bounded here.

// openCodeOnlyFiles makes sure that a database and what the driver opens beside it are
// files: it would wait at a pipe for ever, and a copy of a device would have no end.
func openCodeOnlyFiles(path string) error {
	for _, ext := range []string{"", openCodeWAL, "-shm", "-journal"} {
		info, err := os.Stat(path + ext)
		if ext != "" && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = regular(info)
		}
		if err != nil {
			return fmt.Errorf("open %s: %w", filepath.Base(path+ext), err)
		}
	}
	return nil
}

// number is the column as an integer, 0 where it holds none: a column takes values of
// any type.
func (d *openCodeDB) number(table, name string) string {
	return "coalesce(CAST(" + d.column(table, name) + " AS INTEGER), 0)"
}

// What is read of a database, in bytes. A longer value counts as one that cannot be
// read; its length is known without it.
const (
	openCodeMaxID    = 255     // of ids, by which records are also files
	openCodeMaxField = 1 << 20 // of a session's column
	openCodeMaxData  = MaxLine // of a message or part
)

// openCodeIsID is a condition on a column of ids. SQLite lets a primary key be NULL.
func openCodeIsID(column string) string {
	return fmt.Sprintf("typeof(%s) = 'text' AND octet_length(%[1]s) <= %d", column, openCodeMaxID)
}

// openCodeBounded is the value of a column, NULL where that is longer than most.
func openCodeBounded(column string, most int) string {
	return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %[1]s END", column, most)
}

// openCodeMaxValues is how many values a record may have; each takes some hundred bytes
// of memory. Real records have some thousands.
const openCodeMaxValues = 1 << 20

// errCrowded means that a record has more than openCodeMaxValues.
var errCrowded = errors.New("more values than any real record")

// openCodeCrowded counts the commas outside of strings, and what opens.
func openCodeCrowded(raw []byte) bool {
	if len(raw) < openCodeMaxValues {
		return false
	}
	values, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '{' || c == '['):
			values++
		}
	}
	return values > openCodeMaxValues
}
