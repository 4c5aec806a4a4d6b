package harness

import (
	"bytes"
	"errors"

	"github.com/tidwall/gjson"
)

// HeadBytes and headLines bound what Detect looks at.
const (
	HeadBytes = 256 << 10
	headLines = 64
)

// Head is the beginning of a file as detection sees it.
type Head struct {
	// Records are the JSON objects found whole on the first lines. Lines that do
	// not parse are passed over; a line may hold several objects.
	Records []gjson.Result

	// Doc is the beginning read as one JSON document, for files that are a single
	// pretty-printed object or array. It may be cut: only its first members can
	// be relied on.
	Doc gjson.Result

	// Whole reports that Records and Doc cover the entire file.
	Whole bool
}

// ErrUnknown means that a file is no transcript of a harness we know. Errors that
// wrap it say what the file is instead.
var ErrUnknown = errors.New("no known harness writes files like this")

// Detect names the harness that wrote a file, from its first bytes (HeadBytes
// of them, or the whole of a shorter file). The file's name plays no part. An
// error wraps [ErrUnknown] and gives the reason where one is known.
func Detect(head []byte) (*Harness, error) {
	h := newHead(head)
	if len(h.Records) > 0 { // a document of several files says whose they are
		if known := ByName(h.Records[0].Get("sessdex_part.harness").Str); known != nil {
			return known, nil
		}
	}
	for _, known := range All {
		if known.Detect(h) {
			return known, nil
		}
	}
	return nil, refuse(head, h)
}

func newHead(raw []byte) Head {
	h := Head{Whole: len(raw) < HeadBytes}
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') {
		h.Doc = gjson.ParseBytes(trimmed)
	}
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		for v := range Values(line) {
			h.Records = append(h.Records, v)
		}
		if len(h.Records) >= headLines {
			break
		}
	}
	return h
}
