package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
)

const keyLen = 32

// maskKey reads the key of the masks' hashes, and makes it where there is none.
// Of two processes that make it at once, one wins and both use its key.
func maskKey(path string) ([]byte, error) {
	for range 2 {
		key, err := os.ReadFile(path)
		if err == nil && len(key) == keyLen {
			return key, nil
		}
		if err == nil {
			return nil, fmt.Errorf("read the mask key %s: it has %d bytes, not %d: move it away and import again", path, len(key), keyLen)
		}
		if !isMissing(err) {
			return nil, fmt.Errorf("read the mask key: %w", err)
		}
		if err := writeKey(path); err != nil {
			return nil, fmt.Errorf("make the mask key: %w", err)
		}
	}
	return nil, fmt.Errorf("make the mask key %s: it does not stay", path)
}

// writeKey puts a whole new key in place, unless there is one.
func writeKey(path string) error {
	key := make([]byte, keyLen)
	rand.Read(key)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".mask.key-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(key)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !os.IsExist(err) {
		return os.Rename(tmp.Name(), path) // a disk without links
	}
	return nil
}
