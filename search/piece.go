package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"sessdex/session"
)

// A piece is as much of a turn as one index document holds. Most turns are one
// piece; a long one is cut into several, whose texts joined in order are the
// turn's. Only the first piece carries what is not text (time, tool, paths).
//
// Pieces are stored in blocks: consecutive pieces of a session whose texts
// make up about blockBytes, compressed together and kept with the first one's
// document. A block costs one look-up and a few tens of microseconds.
type piece struct {
	session.Turn     // the texts are this piece's share
	K            int // place within the turn, from 0
}

const (
	pieceBytes = 32 << 10 // most text of a piece
	blockBytes = 32 << 10 // text from which on a block is closed
)

// pieceID is the document id of piece k of turn n: "<session>/<n>", further
// pieces "<session>/<n>.<k>".
func pieceID(id string, n, k int) string {
	s := id + "/" + strconv.Itoa(n)
	if k > 0 {
		s += "." + strconv.Itoa(k)
	}
	return s
}

// texts lists the fields of t that are cut, in their order.
func texts(t *session.Turn) [4]*string {
	return [4]*string{&t.Text, &t.Thinking, &t.Input, &t.Output}
}

// size is the number of bytes of text in the turn.
func size(t *session.Turn) int {
	return len(t.Text) + len(t.Thinking) + len(t.Input) + len(t.Output)
}

// pieces cuts a turn and calls yield with each piece.
func pieces(t session.Turn, yield func(piece) error) error {
	if size(&t) <= pieceBytes {
		return yield(piece{Turn: t})
	}
	rest := t
	for k := 0; ; k++ {
		p := piece{Turn: session.Turn{N: t.N, Role: t.Role, Undone: t.Undone}, K: k}
		if k == 0 {
			p.Turn = t
		}
		room, left := pieceBytes, 0
		from, to := texts(&rest), texts(&p.Turn)
		for i := range from {
			n := cutText(*from[i], room)
			*to[i], *from[i] = (*from[i])[:n], (*from[i])[n:]
			room -= n
			if len(*from[i]) > 0 {
				room = 0 // what follows belongs to a later piece
			}
			left += len(*from[i])
		}
		if err := yield(p); err != nil || left == 0 {
			return err
		}
	}
}

// cutText is where to cut s so that at most n bytes come before: after a line
// where one ends in the last quarter, else after white space, else between
// runes.
func cutText(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	if n == 0 {
		return 0
	}
	tail := s[n*3/4 : n]
	if i := strings.LastIndexByte(tail, '\n'); i >= 0 {
		return n*3/4 + i + 1
	}
	if i := strings.LastIndexAny(tail, " \t"); i >= 0 {
		return n*3/4 + i + 1
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n // no UTF-8
}

// searchText is what of a piece is searched and what snippets are cut from.
func (p *piece) searchText() string {
	if p.Role != session.Tool && p.Thinking == "" {
		return p.Text
	}
	var b strings.Builder
	b.Grow(size(&p.Turn) + len(p.Tool) + 4)
	for _, s := range []string{p.Text, p.Thinking, p.Tool, p.Input, p.Output} {
		if s != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

// joiner makes turns of pieces, which come in order. A turn's texts are joined
// once, when all of it is there: a long one has thousands of pieces.
type joiner struct {
	turns []session.Turn
	parts [4][]string // of the last turn's texts
}

func (j *joiner) add(p piece) {
	last := len(j.turns) - 1
	if p.K == 0 || last < 0 || j.turns[last].N != p.N {
		j.close()
		j.turns = append(j.turns, p.Turn)
	}
	for i, s := range texts(&p.Turn) {
		if *s != "" {
			j.parts[i] = append(j.parts[i], *s)
		}
	}
}

// close completes the last turn.
func (j *joiner) close() {
	if len(j.turns) == 0 {
		return
	}
	for i, s := range texts(&j.turns[len(j.turns)-1]) {
		*s = strings.Join(j.parts[i], "")
		clear(j.parts[i])
		j.parts[i] = j.parts[i][:0]
	}
}

// The stored form of a block is the pieces' encodings one after the other,
// compressed with zstd. A piece is
//
//	uvarint N, uvarint K, one byte of flags, varint Unix nanoseconds (where flagTime)
//	strings: role, ref, text, thinking, tool, input, output, branch
//	lists of strings: edits, reads
//
// where a string is its length and its bytes, and a list its length and its strings.
const (
	flagFailed = 1 << iota
	flagUndone
	flagTime
)

var (
	blockEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false), zstd.WithWindowSize(64<<10))
	blockDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(64<<20))
)

func appendPiece(b []byte, p piece) []byte {
	b = binary.AppendUvarint(b, uint64(p.N))
	b = binary.AppendUvarint(b, uint64(p.K))
	flags := byte(0)
	if p.Failed {
		flags |= flagFailed
	}
	if p.Undone {
		flags |= flagUndone
	}
	if !p.Time.IsZero() {
		flags |= flagTime
	}
	b = append(b, flags)
	if flags&flagTime != 0 {
		b = binary.AppendVarint(b, p.Time.UnixNano())
	}
	for _, s := range []string{string(p.Role), p.Ref, p.Text, p.Thinking, p.Tool, p.Input, p.Output, p.Branch} {
		b = appendString(b, s)
	}
	for _, l := range [][]string{p.Edits, p.Reads} {
		b = binary.AppendUvarint(b, uint64(len(l)))
		for _, s := range l {
			b = appendString(b, s)
		}
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errBlock = errors.New("stored turns cannot be decoded")

// decodeBlock calls yield for each piece of a stored block until it returns false.
func decodeBlock(stored []byte, yield func(piece) bool) error {
	raw, err := blockDecoder.DecodeAll(stored, nil)
	if err != nil {
		return fmt.Errorf("%w: %v", errBlock, err)
	}
	d := decoder{b: string(raw)}
	for len(d.b) > 0 {
		p := d.piece()
		if d.bad {
			return errBlock
		}
		if !yield(p) {
			return nil
		}
	}
	return nil
}

// decoder reads pieces; bad is set, for good, by the first thing that is not one.
type decoder struct {
	b   string
	bad bool
}

func (d *decoder) piece() (p piece) {
	p.N, p.K = int(d.uvarint()), int(d.uvarint())
	flags := byte(0)
	if len(d.b) > 0 {
		flags, d.b = d.b[0], d.b[1:]
	} else {
		d.bad = true
	}
	p.Failed, p.Undone = flags&flagFailed != 0, flags&flagUndone != 0
	if flags&flagTime != 0 {
		u := d.uvarint() // zigzag, as binary.AppendVarint writes it
		p.Time = time.Unix(0, int64(u>>1)^-int64(u&1)).UTC()
	}
	p.Role = session.Role(d.string())
	for _, s := range []*string{&p.Ref, &p.Text, &p.Thinking, &p.Tool, &p.Input, &p.Output, &p.Branch} {
		*s = d.string()
	}
	for _, l := range []*[]string{&p.Edits, &p.Reads} {
		n := d.uvarint()
		if n > uint64(len(d.b)) {
			d.bad = true
			return p
		}
		for range n {
			*l = append(*l, d.string())
		}
	}
	return p
}

func (d *decoder) uvarint() uint64 {
	var v uint64
	for i := 0; i < len(d.b) && i < binary.MaxVarintLen64; i++ {
		v |= uint64(d.b[i]&0x7f) << (7 * i)
		if d.b[i] < 0x80 {
			d.b = d.b[i+1:]
			return v
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) string() string {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.bad = true
		return ""
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}
