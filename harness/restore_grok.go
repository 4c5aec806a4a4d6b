package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// grokGroupMax is the longest name of a folder's group in bytes; a longer one is cut,
// ends in a hash, and a file .cwd beside the sessions holds the folder.
const grokGroupMax = 255

// grokRestore lays the kept files of a session out in <sessions>/<folder>/<id>/. grok
// looks for an id in every folder's group, and at a session only if it has a summary.
func grokRestore(env Env, s Stored) (Layout, error) {
	root := grokRoots(env)[0]
	if !filepath.IsAbs(root) {
		return Layout{}, noHome(grokName)
	}
	for _, group := range folders(root) {
		if at := standing(filepath.Join(group, s.Meta.NativeID, grokSummary)); at != "" {
			return Layout{Present: at}, nil
		}
	}
	if s.Dir == "" {
		return Layout{}, errNoDir
	}
	names, err := partNames(s, GrokFiles)
	if err != nil || !slices.Contains(names, grokSummary) {
		return Layout{}, fmt.Errorf("%w: it was kept without the summary.json that grok looks for", ErrUnresumable)
	}
	group := filepath.Join(root, grokGroupName(s.Dir))
	var l Layout
	if filepath.Base(group) != grokEncode(s.Dir) && standing(filepath.Join(group, ".cwd")) == "" {
		l.Files = append(l.Files, textFile(filepath.Join(group, ".cwd"), s.Dir))
	}
	for _, name := range names {
		l.Files = append(l.Files, File{filepath.Join(group, s.Meta.NativeID, name), onePart(s, GrokFiles, name)})
	}
	return l, nil
}

// grokGroupName names the group of a folder. The hash of a cut name is not grok's,
// which only tells that grok's list of that very folder does not show the session.
func grokGroupName(dir string) string {
	name := grokEncode(dir)
	if len(name) <= grokGroupMax {
		return name
	}
	slug := strings.Map(func(r rune) rune {
		if strings.ContainsRune(urlUnreserved, r) {
			return r
		}
		return '-'
	}, dir)
	sum := sha256.Sum256([]byte(dir))
	return slug[max(0, len(slug)-40):] + "-" + hex.EncodeToString(sum[:8])
}

const urlUnreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"

// grokEncode is a folder's path as one name: every byte but unreserved ones as %XX.
func grokEncode(dir string) string {
	var b strings.Builder
	for i := range len(dir) {
		if strings.IndexByte(urlUnreserved, dir[i]) >= 0 {
			b.WriteByte(dir[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", dir[i])
		}
	}
	return b.String()
}

// partNames lists the files that a canonical document holds; see [SplitParts].
func partNames(s Stored, allowed []string) ([]string, error) {
	var names []string
	err := eachPart(s, allowed, func(name string) io.Writer {
		names = append(names, name)
		return io.Discard
	})
	return names, err
}

// onePart writes one of the files that a canonical document holds.
func onePart(s Stored, allowed []string, want string) func(io.Writer) error {
	return func(w io.Writer) error {
		return eachPart(s, allowed, func(name string) io.Writer {
			if name == want {
				return w
			}
			return io.Discard
		})
	}
}

func eachPart(s Stored, allowed []string, to func(name string) io.Writer) error {
	r, err := s.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	return SplitParts(r, allowed, func(name string) (io.WriteCloser, error) { return keepOpen{to(name)}, nil })
}

// keepOpen is a writer whose end is somebody else's to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
