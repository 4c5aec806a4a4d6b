package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A village is a home folder with sessions of all five harnesses in every variant
// of their formats, made up here. Each session says a word of its own.
type village struct {
	t    testing.TB
	home string
	told []told
}

// A told is what is known of a session before anything reads it.
type told struct {
	harness, native, word string
	said                  int    // the person's own requests; 0: not asked, as a model wrote them
	start, last           string // the first and the last message's time; "": not told by the format
	parent, forkedFrom    string // native ids
	path                  string // of its file, where one file is the session
}

// newVillage lays out all of it.
func newVillage(t testing.TB) *village {
	v := &village{t: t, home: t.TempDir()}
	v.claude()
	v.codex()
	v.gemini()
	v.openCode()
	v.grok()
	return v
}

// at is a path in the home folder, whose folder is there.
func (v *village) at(elem ...string) string {
	v.t.Helper()
	path := filepath.Join(append([]string{v.home}, elem...)...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// put writes a file and gives its path.
func (v *village) put(data []byte, elem ...string) string {
	v.t.Helper()
	path := v.at(elem...)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		v.t.Fatal(err)
	}
	return path
}

// tell adds a session to those that must be found.
func (v *village) tell(s told) { v.told = append(v.told, s) }

// of is the told session of a word.
func (v *village) of(word string) told {
	v.t.Helper()
	for _, s := range v.told {
		if s.word == word {
			return s
		}
	}
	v.t.Fatalf("no session says %s", word)
	return told{}
}

// obj is a JSON object.
type obj map[string]any

// with is the object with further members.
func (o obj) with(more obj) obj {
	all := obj{}
	for _, m := range []obj{o, more} {
		for k, v := range m {
			all[k] = v
		}
	}
	return all
}

// asJSON is a value on one line.
func asJSON(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// lines is one record a line.
func lines(records ...obj) []byte {
	var b bytes.Buffer
	for _, r := range records {
		b.Write(asJSON(r))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// squeeze is the zstd form of bytes.
func squeeze(data []byte) []byte {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return enc.EncodeAll(data, nil)
}

// day is when everything in the village happened; clock gives the time of a
// minute of it as most harnesses write times.
var day = time.Date(2026, 9, 3, 10, 0, 0, 0, time.UTC)

func minute(m int) time.Time { return day.Add(time.Duration(m) * time.Minute) }
func clock(m int) string     { return minute(m).Format("2006-01-02T15:04:05.000Z") }

// second is a time as the program's answers have it.
func second(m int) string { return minute(m).Format(time.RFC3339) }

// native makes a UUID from a short hexadecimal name.
func native(name string) string {
	return strings.Repeat("0", 8-len(name)) + name + "-5e55-4000-8000-00000000" + strings.Repeat("0", 4-len(name)) + name
}
