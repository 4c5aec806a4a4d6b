// Package scrub takes secrets out of bytes before anything else sees them.
//
// A [Scrubber] holds the compiled rules and may be shared. A [Pass] is the
// scrubbing of one transcript: it remembers what it found, counts by rule, and
// belongs to one goroutine. The only way to make a [Scrubbed] is through one,
// and a [Scrubbed] is the only thing that the library stores.
package scrub

// Scrubbed is bytes that have been through a Pass. The zero value is empty.
type Scrubbed struct{ b []byte }

// Bytes returns the clean bytes. They must not be changed.
func (s Scrubbed) Bytes() []byte { return s.b }

// Len is their number.
func (s Scrubbed) Len() int { return len(s.b) }
