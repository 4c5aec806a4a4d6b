//go:build !(linux || openbsd || dragonfly || solaris || darwin || freebsd || netbsd)

package harness

import "io/fs"

// identity is not told by this system's files: size and modification time must do.
func identity(fs.FileInfo) (inode uint64, changed int64, ok bool) { return 0, 0, false }
