package main

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached gives a process no console and a process group of its own.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
