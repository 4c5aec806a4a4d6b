package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// An openCodeStore is where the records of one session are kept: rows of a database,
// the files of a tree, or several of these taken together.
type openCodeStore interface {
	// messages lists the session's messages, oldest first.
	messages() ([]openCodeRef, error)

	// message gives a message's own record; one that does not exist is io.EOF.
	message(id string) ([]byte, error)

	// parts gives a message's parts in order of their ids.
	parts(message string) iter.Seq2[openCodePart, error]

	// session gives the session's own record in the shape of an export's, or io.EOF.
	session() ([]byte, error)

	// unchanged is asked after the last record: an error means that what was read
	// may not belong together.
	unchanged() error

	io.Closer
}

// An openCodeRef names a message: messages are in order of (created, id), since ids
// alone begin anew every two years.
type openCodeRef struct {
	id      string
	created int64 // ms since 1970
}

func (r openCodeRef) compare(o openCodeRef) int {
	return cmp.Or(cmp.Compare(r.created, o.created), strings.Compare(r.id, o.id))
}

// An openCodePart is one part as it is stored, JSON with or without ids.
type openCodePart struct {
	id   string
	data []byte
}

// openCodeUnreadable is the member of a canonical document's line that names a
// record which held no JSON.
const openCodeUnreadable = "unreadable"

// openCodePiece is the length in bytes at which a line of the canonical document is
// ended and the message's next parts go on a line of their own.
const openCodePiece = 8 << 20

// openCodeLines writes the canonical document of a session, line by line. The bytes
// are valid until the next step. Keys are sorted, so equal records give equal bytes
// wherever they were kept.
func openCodeLines(id string, store openCodeStore) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		refs, err := store.messages()
		if err != nil {
			yield(nil, err)
			return
		}
		w := openCodeWriter{session: id}
		for _, ref := range refs {
			for line, err := range w.message(ref.id, store) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
		line, err := w.head(store)
		if err == nil || !errors.Is(err, io.EOF) {
			yield(line, err)
		}
	}
}

// openCodeWriter makes the lines of one canonical document.
type openCodeWriter struct {
	session string
	buf     bytes.Buffer
}

func (w *openCodeWriter) message(id string, store openCodeStore) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		raw, err := store.message(id)
		if errors.Is(err, io.EOF) {
			return // deleted since it was listed
		}
		if err != nil {
			yield(nil, err)
			return
		}
		info, err := openCodeCanonical(raw, map[string]string{"id": id, "sessionID": w.session})
		if err != nil {
			yield(w.unreadable(id), nil)
			return
		}
		first := true
		begin := func() {
			w.buf.Reset()
			w.buf.WriteString(`{"info":`)
			w.buf.Write(info)
			w.buf.WriteString(`,"parts":[`)
			first = true
		}
		begin()
		var lost []string
		for part, err := range store.parts(id) {
			if err != nil {
				yield(nil, err)
				return
			}
			data, err := openCodeCanonical(part.data, map[string]string{"id": part.id, "sessionID": w.session, "messageID": id})
			if err != nil {
				lost = append(lost, part.id)
				continue
			}
			if !first && w.buf.Len()+len(data) > openCodePiece {
				w.buf.WriteString("]}\n")
				if !yield(w.buf.Bytes(), nil) {
					return
				}
				begin()
			}
			if !first {
				w.buf.WriteByte(',')
			}
			first = false
			w.buf.Write(data)
		}
		w.buf.WriteString("]}\n")
		if !yield(w.buf.Bytes(), nil) {
			return
		}
		for _, id := range lost {
			if !yield(w.unreadable(id), nil) {
				return
			}
		}
	}
}

// unreadable is the line that stands for a record which held no JSON.
func (w *openCodeWriter) unreadable(id string) []byte {
	line, _ := json.Marshal(map[string]string{openCodeUnreadable: id}) // strings always marshal
	return append(line, '\n')
}

// head is the line about the session.
func (w *openCodeWriter) head(store openCodeStore) ([]byte, error) {
	raw, err := store.session()
	if err != nil {
		return nil, err
	}
	info, err := openCodeHead(raw, w.session)
	if err != nil {
		return w.unreadable(w.session), nil
	}
	w.buf.Reset()
	w.buf.WriteString(`{"info":`)
	w.buf.Write(info)
	w.buf.WriteString("}\n")
	return w.buf.Bytes(), nil
}

// openCodeCanonical writes a JSON object compactly, its keys sorted, with members
// that the place of the record tells added. Only a call's arguments stay in the order
// in which the model gave them.
func openCodeCanonical(raw []byte, add map[string]string) ([]byte, error) {
	var v map[string]any
	if err := openCodeDecode(raw, &v); err != nil {
		return nil, err
	}
	for k, s := range add {
		v[k] = s
	}
	for outer, inner := range map[string]string{"state": "input", "toolInvocation": "args"} {
		if call, ok := v[outer].(map[string]any); ok && call[inner] != nil {
			call[inner] = json.RawMessage(gjson.GetBytes(raw, outer+"."+inner).Raw)
		}
	}
	return openCodeEncode(v)
}

// openCodeHeadMembers are the members of a session's record that are kept. Links and
// secrets of shared sessions are none of them, nor what messages say already.
var openCodeHeadMembers = []string{"slug", "projectID", "parentID", "directory", "path", "worktree", "title", "version", "agent", "model", "fork"}

// openCodeHead makes a session's record canonical: the same from every kind of store.
func openCodeHead(raw []byte, id string) ([]byte, error) {
	var v map[string]any
	if err := openCodeDecode(raw, &v); err != nil {
		return nil, err
	}
	out := map[string]any{"id": id}
	for _, k := range openCodeHeadMembers {
		if value := v[k]; value != nil && value != "" {
			out[k] = value
		}
	}
	for k, members := range map[string][]string{
		"time":    {"created", "updated", "archived"},
		"revert":  {"messageID", "partID"},
		"summary": {"additions", "deletions", "files"},
	} {
		from, ok := v[k].(map[string]any)
		if !ok {
			continue
		}
		some := map[string]any{}
		for _, m := range members {
			if value := from[m]; value != nil && value != "" {
				some[m] = value
			}
		}
		if len(some) > 0 {
			out[k] = some
		}
	}
	return openCodeEncode(out)
}

// errNoObject means that a record is JSON, and no object.
var errNoObject = errors.New("not a JSON object")

func openCodeDecode(raw []byte, v *map[string]any) error {
	if openCodeCrowded(raw) {
		return errCrowded
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // as written: large numbers keep their digits
	if err := d.Decode(v); err != nil {
		return err
	}
	if *v == nil {
		return errNoObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errNoObject
	}
	return nil
}

func openCodeEncode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// openCodeReader reads the canonical document of a session. Closing it closes the
// store.
type openCodeReader struct {
	next  func() ([]byte, error, bool)
	stop  func()
	store openCodeStore
	rest  []byte
	err   error
}

func newOpenCodeReader(id string, store openCodeStore) *openCodeReader {
	next, stop := iter.Pull2(openCodeLines(id, store))
	return &openCodeReader{next: next, stop: stop, store: store}
}

// Read implements [io.Reader].
func (r *openCodeReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		line, err, ok := r.next()
		switch {
		case !ok:
			if r.err = r.store.unchanged(); r.err == nil {
				r.err = io.EOF
			}
		case err != nil:
			r.err = err
		default:
			r.rest = line
		}
	}
	if len(r.rest) == 0 {
		return 0, r.err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements [io.Closer].
func (r *openCodeReader) Close() error {
	r.stop()
	return r.store.Close()
}

// openCodeUnion is a session that is kept in several stores, since the move from one
// to the next was often incomplete. A record that is in several is the first one's.
type openCodeUnion []openCodeStore

func (u openCodeUnion) messages() ([]openCodeRef, error) {
	seen := map[string]bool{}
	var all []openCodeRef
	for _, s := range u {
		refs, err := s.messages()
		if err != nil {
			return nil, err
		}
		for _, r := range refs {
			if !seen[r.id] {
				seen[r.id] = true
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, openCodeRef.compare)
	return all, nil
}

func (u openCodeUnion) message(id string) ([]byte, error) {
	for _, s := range u {
		if raw, err := s.message(id); !errors.Is(err, io.EOF) {
			return raw, err
		}
	}
	return nil, io.EOF
}

func (u openCodeUnion) session() ([]byte, error) {
	for _, s := range u {
		if raw, err := s.session(); !errors.Is(err, io.EOF) {
			return raw, err
		}
	}
	return nil, io.EOF
}

// parts merges what the stores hold, each in order.
func (u openCodeUnion) parts(message string) iter.Seq2[openCodePart, error] {
	return func(yield func(openCodePart, error) bool) {
		type head struct {
			next func() (openCodePart, error, bool)
			part openCodePart
			err  error
			ok   bool
		}
		heads := make([]*head, len(u))
		for i, s := range u {
			next, stop := iter.Pull2(s.parts(message))
			defer stop()
			heads[i] = &head{next: next}
			heads[i].part, heads[i].err, heads[i].ok = next()
		}
		for {
			var least *head
			for _, h := range heads {
				switch {
				case !h.ok:
				case h.err != nil:
					yield(openCodePart{}, h.err)
					return
				case least == nil || h.part.id < least.part.id:
					least = h
				}
			}
			if least == nil {
				return
			}
			part := least.part
			if !yield(part, nil) {
				return
			}
			for _, h := range heads {
				if h.ok && h.part.id == part.id {
					h.part, h.err, h.ok = h.next()
				}
			}
		}
	}
}

func (u openCodeUnion) unchanged() error {
	var all error
	for _, s := range u {
		all = errors.Join(all, s.unchanged())
	}
	return all
}

func (u openCodeUnion) Close() error {
	var all error
	for _, s := range u {
		all = errors.Join(all, s.Close())
	}
	return all
}
