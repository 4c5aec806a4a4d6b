//go:build unix

package harness

import "syscall"

// openNow opens a pipe without waiting for its writer; it changes nothing for files.
const openNow = syscall.O_NONBLOCK
