//go:build darwin || freebsd || netbsd

package harness

import (
	"io/fs"
	"syscall"
)

// identity is a file's inode and the time of the last change to its content or its
// inode, in Unix nanoseconds.
func identity(info fs.FileInfo) (inode uint64, changed int64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Ino), st.Ctimespec.Nano(), true
}
