package install

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlPair is a key and its value: a string, a list of strings, or pairs, which
// become an inline table.
type tomlPair struct {
	key   string
	value any
}

// maxTOML bounds what is parsed, in bytes: the parser's time grows with the square of the
// number of tables.
const maxTOML = 1 << 20

// setTable gives a TOML text the table at path, or takes it away where pairs is nil.
// Nil text means no file.
//
// A new table goes to the end with an empty line before it, which any text takes: what
// follows the last header belongs to that table, and ours brings its own. It ends with
// a line end if the text does, so that a removal knows what was there.
func setTable(text []byte, path []string, pairs []tomlPair) ([]byte, Outcome, error) {
	if len(text) > maxTOML {
		return nil, "", fmt.Errorf("%w: it is larger than 1 MiB", ErrShape)
	}
	doc, mark := bytes.CutPrefix(text, bom)
	had, err := decodeTable(doc, path)
	if err != nil {
		return nil, "", err
	}
	ours, err := blocksOf(doc, path)
	if err != nil {
		return nil, "", err
	}
	eol := lineEnd(doc)
	block := renderTable(path, pairs, eol)
	want, err := decodeTable(block, path)
	if err != nil {
		return nil, "", fmt.Errorf("edit: %w", err) // ours, and not for writing
	}
	if reflect.DeepEqual(had, want) {
		return text, Kept, nil
	}

	outcome := Replaced
	switch {
	case pairs == nil:
		outcome = Removed
		if doc = cutBlocks(doc, ours); doc == nil {
			return nil, outcome, nil
		}
	case len(ours) > 0 && ours[0].header:
		if !bytes.HasSuffix(doc[:ours[0].end], []byte("\n")) {
			block = bytes.TrimSuffix(block, []byte(eol))
		}
		rest := cutBlocks(doc[ours[0].end:], shift(ours[1:], -ours[0].end))
		doc = slices.Concat(doc[:ours[0].start], block, rest)
	case len(ours) > 0: // dotted keys: a header in their place would swallow what follows
		doc = appendTable(cutBlocks(doc, ours), block, eol)
	default:
		outcome = Added
		doc = appendTable(doc, block, eol)
	}

	if has, err := decodeTable(doc, path); err != nil || !reflect.DeepEqual(has, want) {
		return nil, "", fmt.Errorf("%w: %s in it is written in a way that only a person can edit", ErrShape, path[0])
	}
	if mark {
		doc = slices.Concat(bom, doc)
	}
	return doc, outcome, nil
}

// decodeTable parses a text and gives the table at path, nil if there is none.
func decodeTable(text []byte, path []string) (any, error) {
	var root map[string]any
	if err := toml.Unmarshal(text, &root); err != nil {
		var where *toml.DecodeError
		if errors.As(err, &where) {
			row, col := where.Position()
			return nil, fmt.Errorf("%w (line %d, column %d: %s)", ErrUnreadable, row, col, strings.TrimPrefix(where.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%w (%s)", ErrUnreadable, err)
	}
	var at any = root
	for i, key := range path {
		table, ok := at.(map[string]any)
		if !ok {
			return nil, shapeError(path[:i], "a table")
		}
		if at, ok = table[key]; !ok {
			return nil, nil
		}
	}
	return at, nil
}

// A block is a run of whole lines that holds nothing but a table of ours.
type block struct {
	start, end int
	header     bool // it begins with a table's header
}

func shift(list []block, by int) []block {
	out := slices.Clone(list)
	for i := range out {
		out[i].start += by
		out[i].end += by
	}
	return out
}

// blocksOf finds what a text says about the table at path and those below it. A table
// inside an inline table is not found: that is for a person to edit.
func blocksOf(text []byte, path []string) ([]block, error) {
	var p unstable.Parser
	p.Reset(text)
	var list []block
	var table []string
	open := false // the last block goes on
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		start, end := -1, -1
		for it := e.Key(); it.Next(); {
			n := it.Node()
			if start < 0 {
				start = int(n.Raw.Offset)
			}
			end = int(n.Raw.Offset + n.Raw.Length)
			key = append(key, string(n.Data))
		}
		if e.Kind == unstable.KeyValue {
			key = slices.Concat(table, key)
			end = int(e.Raw.Offset + e.Raw.Length)
		} else {
			table = key
		}
		if len(key) < len(path) || !slices.Equal(key[:len(path)], path) {
			open = false
			continue
		}
		start = bytes.LastIndexByte(text[:start], '\n') + 1
		if n := bytes.IndexByte(text[end:], '\n'); n >= 0 {
			end += n + 1
		} else {
			end = len(text)
		}
		if open {
			list[len(list)-1].end = end
			continue
		}
		list = append(list, block{start, end, e.Kind != unstable.KeyValue})
		open = true
	}
	return list, p.Error()
}

// cutBlocks removes blocks, each with one empty line before it. Nil means that
// nothing is left and that there was no file before us.
func cutBlocks(text []byte, blocks []block) []byte {
	out := []byte{}
	from := 0
	for _, b := range blocks {
		kept := append(slices.Clip(out), text[from:b.start]...) // never nil
		if line, ok := cutLineEnd(kept); ok && (len(line) == 0 || line[len(line)-1] == '\n') {
			kept = line
		}
		if b.end == len(text) && !bytes.HasSuffix(text[:b.end], []byte("\n")) {
			kept, _ = cutLineEnd(kept) // the text before ended without one, too
		} else if b.start == 0 && b.end == len(text) {
			return nil
		}
		out, from = kept, b.end
	}
	return append(out, text[from:]...)
}

func cutLineEnd(text []byte) ([]byte, bool) {
	line, ok := bytes.CutSuffix(text, []byte("\n"))
	if ok {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line, ok
}

// appendTable adds a table at the end: see setTable.
func appendTable(text, table []byte, eol string) []byte {
	switch {
	case text == nil:
		return table
	case len(text) == 0:
		return bytes.TrimSuffix(table, []byte(eol))
	case text[len(text)-1] != '\n':
		return slices.Concat(text, []byte(eol+eol), bytes.TrimSuffix(table, []byte(eol)))
	}
	return slices.Concat(text, []byte(eol), table)
}

// renderTable writes a table under its header; nil pairs are nothing.
func renderTable(path []string, pairs []tomlPair, eol string) []byte {
	if pairs == nil {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]%s", strings.Join(path, "."), eol)
	for _, p := range pairs {
		fmt.Fprintf(&b, "%s = %s%s", p.key, tomlValue(p.value), eol)
	}
	return []byte(b.String())
}

func tomlValue(v any) string {
	switch v := v.(type) {
	case []string:
		words := make([]string, len(v))
		for i, w := range v {
			words[i] = tomlValue(w)
		}
		return "[" + strings.Join(words, ", ") + "]"
	case []tomlPair:
		words := make([]string, len(v))
		for i, p := range v {
			words[i] = p.key + " = " + tomlValue(p.value)
		}
		return "{ " + strings.Join(words, ", ") + " }"
	case string:
		// JSON's escapes are TOML's too, but for one character that JSON leaves alone.
		return strings.ReplaceAll(string(renderJSON(v, "", "")), "\x7f", `\u007F`)
	}
	panic(fmt.Sprintf("install: no TOML for %T", v))
}
