//go:build unix

package main

import "syscall"

// detached puts a process into a session of its own, which no terminal hangs up
// and no signal to the group of its parent reaches.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
