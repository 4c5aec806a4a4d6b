package session

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
	"time"
)

// CardSchema is the version of the card's JSON that this program writes. A
// card of a newer schema is read as far as it goes and never overwritten.
const CardSchema = 1

// A Card is what the library knows about one session, stored as
// <workspace>/cards/<id>.json. The transcript-derived part (Meta, Files, Reads,
// AutoTags) is remade on every import; what people said (PeopleTitle, PeopleTags,
// DroppedTags, Readers) is never touched by one.
type Card struct {
	Schema  int    `json:"schema"`
	ID      string `json:"id"`      // see NewID
	Version string `json:"version"` // first 12 hex digits of SHA256
	Owner   string `json:"owner"`   // who ran the session
	Meta

	PeopleTitle string   `json:"people_title,omitempty"` // title given with publish; beats Meta.Title
	PeopleTags  []string `json:"people_tags,omitempty"`  // given with `sessdex tag` or publish_session, sorted
	AutoTags    []string `json:"auto_tags,omitempty"`    // made from what the session shows, sorted
	DroppedTags []string `json:"dropped_tags,omitempty"` // of Tags and AutoTags, taken off with `sessdex tag`, in lower case, sorted
	Label       string   `json:"label,omitempty"`        // free words of the publisher
	Readers     []string `json:"readers,omitempty"`      // who else may see it; empty: the owner only

	Files []string `json:"files,omitempty"` // every path edited, in order of first touch
	Reads []string `json:"reads,omitempty"` // every path only read

	SHA256     string         `json:"sha256"`                // of the scrubbed transcript, uncompressed, hex
	Bytes      int64          `json:"bytes"`                 // its length
	Encoding   string         `json:"encoding"`              // shape of the bytes: "jsonl" or "json"
	Secrets    map[string]int `json:"secrets,omitempty"`     // masks in the transcript, by rule
	SourcePath string         `json:"source_path,omitempty"` // where it was read
	Host       string         `json:"host,omitempty"`        // on which machine
	Imported   time.Time      `json:"imported,omitzero"`     // when this version was stored

	// Copied says that ForkedFrom and Inherited were found by comparing this session
	// with others, because its transcript does not tell.
	Copied bool `json:"copied,omitempty"`

	Older []Version `json:"older,omitempty"` // kept versions that are no prefix of a later one, oldest first
}

// A Version names transcript bytes that the library keeps beside the current ones.
type Version struct {
	Version  string    `json:"version"`
	SHA256   string    `json:"sha256"`
	Bytes    int64     `json:"bytes"`
	Imported time.Time `json:"imported,omitzero"`
}

// ShownTitle is the title to show: a person's own, else the transcript's, else the id.
func (c *Card) ShownTitle() string {
	switch {
	case c.PeopleTitle != "":
		return c.PeopleTitle
	case c.Title != "":
		return c.Title
	}
	return c.ID
}

// AllTags lists the tags of every kind, people's first, without duplicates and
// without those that people took off.
func (c *Card) AllTags() []string {
	made := slices.DeleteFunc(Unique(c.Tags, c.AutoTags), func(t string) bool {
		return slices.Contains(c.DroppedTags, strings.ToLower(t))
	})
	return Unique(c.PeopleTags, made)
}

// Unique joins lists in order and drops what came before. It never returns nil.
func Unique(lists ...[]string) []string {
	seen := map[string]bool{}
	out := []string{}
	for _, l := range lists {
		for _, s := range l {
			if s != "" && !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// crockford is the lower-case Crockford base32 alphabet: no i, l, o, u.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// IDLen is the length of a session's id in characters (60 bits).
const IDLen = 12

// NewID makes the session's id from what identifies it, so that importing
// twice is importing once. The parts are joined with NUL, which none holds.
func NewID(owner, harness, nativeID string) string {
	sum := sha256.Sum256([]byte(owner + "\x00" + harness + "\x00" + nativeID))
	return crockford.EncodeToString(sum[:])[:IDLen]
}

// ValidIDPrefix reports whether s could be an id or the beginning of one:
// 1 to 12 characters of the id alphabet. Anything else never reaches a key.
func ValidIDPrefix(s string) bool {
	if s == "" || len(s) > IDLen {
		return false
	}
	return strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}
