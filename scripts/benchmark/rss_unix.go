//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the largest resident memory of an ended process in bytes.
func peak(st *os.ProcessState) int64 {
	ru, ok := st.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // bytes there, KB elsewhere
		return int64(ru.Maxrss)
	}
	return int64(ru.Maxrss) << 10
}
