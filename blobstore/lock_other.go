//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package blobstore

import (
	"errors"
	"os"
)

// tryLock fails: without locks between processes two writers could both win.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

func diskFull(error) bool { return false }
