package harness

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// openCodeCopyIdle is how long a copy is kept after its last reader: one import reads
// the sessions of a database one after the other.
const openCodeCopyIdle = 5 * time.Second

// openCodeCopyReaders is how many may read a copy at once.
const openCodeCopyReaders = 4

// openCodeCopies keeps the copies of databases that cannot be read in their place.
var openCodeCopies = copies{byPath: map[string]*openCodeCopy{}}

type copies struct {
	mu     sync.Mutex
	byPath map[string]*openCodeCopy
}

// An openCodeCopy is a copy of a database and its log, open for reading. Where the
// system allows it, its files have no names any more, so that nothing is left behind
// however the process ends.
type openCodeCopy struct {
	db      *sql.DB
	of      string // state of the original
	dir     string // what is to be removed, or ""
	readers int
	idle    *time.Timer
}

// A copyLease is the use of a copy by one reader.
type copyLease struct {
	db   *sql.DB
	done func() error
}

// get leases a copy of the database as it is now.
func (c *copies) get(path string) (copyLease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := openCodeFileState(path)
	cp := c.byPath[path]
	if cp == nil || cp.of != state {
		made, err := copyOpenCodeDB(path, state)
		if err != nil {
			return copyLease{}, err
		}
		if cp != nil {
			c.drop(path, cp)
		}
		cp = made
		c.byPath[path] = cp
	}
	cp.readers++
	if cp.idle != nil {
		cp.idle.Stop()
	}
	var once sync.Once
	return copyLease{cp.db, func() error { once.Do(func() { c.done(path, cp) }); return nil }}, nil
}

func (c *copies) done(path string, cp *openCodeCopy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cp.readers--
	if c.byPath[path] != cp {
		c.drop(path, cp)
		return
	}
	cp.idle = time.AfterFunc(openCodeCopyIdle, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.drop(path, cp)
	})
}

// drop lets go of a copy, unless somebody reads it. The lock is held.
func (c *copies) drop(path string, cp *openCodeCopy) {
	if cp.readers > 0 {
		return // its last reader sees to it
	}
	if c.byPath[path] == cp {
		delete(c.byPath, path)
	}
	cp.db.Close()
	if cp.dir != "" {
		os.RemoveAll(cp.dir)
		cp.dir = ""
	}
}

// copyOpenCodeDB copies a database and its log to a private temporary folder, puts the
// log into the copy, and opens it.
func copyOpenCodeDB(path, state string) (_ *openCodeCopy, err error) {
	dir, err := os.MkdirTemp("", "sessdex-opencode-")
	if err != nil {
		return nil, err
	}
	cp := &openCodeCopy{of: state, dir: dir}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	to := filepath.Join(dir, "copy.db")
	for _, ext := range []string{"", openCodeWAL} {
		if err := copyFile(to+ext, path+ext); err != nil && !(ext != "" && os.IsNotExist(err)) {
			return nil, fmt.Errorf("copy %s: %w", filepath.Base(path+ext), err)
		}
	}
	if now := openCodeFileState(path); now != state {
		return nil, errOpenCodeChanged
	}
	if err := mergeLog(to); err != nil {
		return nil, err
	}
	cp.db, err = sql.Open("sqlite", openCodeDSN(to, "mode=ro&immutable=1"))
	if err != nil {
		return nil, err
	}
	cp.db.SetMaxOpenConns(openCodeCopyReaders)
	cp.db.SetMaxIdleConns(openCodeCopyReaders)
	if runtime.GOOS == "windows" {
		return cp, nil // names go with the last reader
	}
	// Open every connection while the file has a name.
	var conns []*sql.Conn
	for range openCodeCopyReaders {
		conn, err := cp.db.Conn(context.Background())
		if err == nil {
			err = conn.PingContext(context.Background())
			conns = append(conns, conn)
		}
		if err != nil {
			cp.db.Close()
			return nil, err
		}
	}
	for _, conn := range conns {
		conn.Close()
	}
	cp.dir = ""
	return cp, os.RemoveAll(dir)
}

// mergeLog puts the log beside a database into it, and removes it.
func mergeLog(path string) error {
	db, err := sql.Open("sqlite", openCodeDSN(path, "_pragma=synchronous(0)"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var mode string
	err = db.QueryRow("PRAGMA journal_mode=DELETE").Scan(&mode)
	if closed := db.Close(); err == nil {
		err = closed
	}
	return err
}

func copyFile(to, from string) error {
	src, err := openRegular(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if closed := dst.Close(); err == nil {
		err = closed
	}
	return err
}
