//go:build !linux

package blobstore_test

import "os/exec"

func ownMounts(*exec.Cmd) {}
