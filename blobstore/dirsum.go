package blobstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// A sumFile is what +sessdex/sums/KEY holds: a line for each of the last few
// objects that Put wrote at KEY, newest first:
//
//	<sha256 in hex> <size> <modification time in Unix nanoseconds>
//
// A record is written before the object gets its name, and the one of the
// object it replaces is kept, so whichever a crash leaves has its record. The
// time ties a record to a file: a file of another time was not written by Put.
type sumFile []sumRecord

type sumRecord struct {
	sum  string
	size int64
	time int64
}

// keptSums lets a reader that opened an object find its record although a few
// writers came after.
const keptSums = 4

func (s sumFile) find(t time.Time) (sumRecord, bool) {
	for _, r := range s {
		if r.time == t.UnixNano() {
			return r, true
		}
	}
	return sumRecord{}, false
}

// parseSums reads what it can: a line that is torn or foreign records nothing.
func parseSums(data []byte) sumFile {
	var all sumFile
	for line := range bytes.Lines(data) {
		text, whole := strings.CutSuffix(string(line), "\n")
		f := strings.Fields(text)
		if !whole || len(f) != 3 || len(f[0]) != 64 {
			continue
		}
		_, err := hex.DecodeString(f[0])
		size, err2 := strconv.ParseInt(f[1], 10, 64)
		ns, err3 := strconv.ParseInt(f[2], 10, 64)
		if err == nil && err2 == nil && err3 == nil && size >= 0 && f[0] == strings.ToLower(f[0]) {
			all = append(all, sumRecord{f[0], size, ns})
		}
	}
	return all
}

func (s sumFile) encode() []byte {
	var b bytes.Buffer
	for _, r := range s {
		fmt.Fprintf(&b, "%s %d %d\n", r.sum, r.size, r.time)
	}
	return b.Bytes()
}

// sums reads a key's records; there are none where there is no such file.
func (d *directory) sums(key string) sumFile {
	data, err := d.root.ReadFile(sumDir + "/" + key)
	if err != nil {
		return nil
	}
	return parseSums(data)
}

// record puts rec before the records of key, or alone where the key had no
// object. The caller holds the key's lock. The file is not synced: a record
// that a power cut takes costs a verification, not an object.
func (d *directory) record(key string, rec sumRecord, old time.Time) error {
	all := sumFile{rec}
	if !old.IsZero() {
		all = append(all, d.sums(key)...)
		all = all[:min(len(all), keptSums)]
	}
	tmp, f, err := d.createTemp()
	if err != nil {
		return err
	}
	_, err = f.Write(all.encode())
	if err := errors.Join(err, f.Close()); err != nil {
		d.root.Remove(tmp)
		return err
	}
	name := sumDir + "/" + key
	err = d.root.Rename(tmp, name)
	for i := 0; i < 10 && errors.Is(err, fs.ErrNotExist); i++ {
		if err = d.root.MkdirAll(parent(name), 0o700); err == nil || errors.Is(err, os.ErrExist) {
			err = d.root.Rename(tmp, name)
		}
	}
	if err != nil {
		d.root.Remove(tmp)
	}
	return err
}
