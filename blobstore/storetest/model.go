package storetest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sessdex/blobstore"
)

// testModel runs random operations on a store and on a map, which must agree on
// every result. It draws from few keys and few texts, so that conditions hold
// about as often as not.
func testModel(t *testing.T, open func(t *testing.T) blobstore.Store) {
	s := open(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++ // a store takes long to make: each run has a folder of one instead
		m := &model{t: t, s: s, dir: fmt.Sprintf("run%d/", run), objects: map[string]object{}}
		rt.Repeat(map[string]func(*rapid.T){
			"put": m.put, "get": m.get, "stat": m.stat, "list": m.list, "delete": m.delete,
		})
	})
}

type object struct{ text, version string }

type model struct {
	t       *testing.T
	s       blobstore.Store
	dir     string
	objects map[string]object // by key without dir
	old     []string          // every version so far
}

func (m *model) key(rt *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "a-b", "b/c", "b/d", "b.c"}).Draw(rt, "key")
}

func (m *model) put(rt *rapid.T) {
	key, text := m.key(rt), rapid.SampledFrom([]string{"", "x", "yy", "zz"}).Draw(rt, "text")
	was, exists := m.objects[key]
	cond, holds := blobstore.Cond{}, true
	switch rapid.IntRange(0, 3).Draw(rt, "condition") {
	case 1:
		cond, holds = blobstore.IfAbsent(), !exists
	case 2:
		cond, holds = blobstore.IfVersion(was.version), exists
	case 3:
		v := rapid.SampledFrom(append(m.old, "no-version")).Draw(rt, "version")
		cond, holds = blobstore.IfVersion(v), exists && v == was.version
	}
	info, err := m.s.Put(m.t.Context(), m.dir+key, strings.NewReader(text), int64(len(text)), cond)
	if !holds {
		if !errors.Is(err, blobstore.ErrLostRace) {
			rt.Fatalf("Put: %v, want ErrLostRace", err)
		}
		return
	}
	if err != nil {
		rt.Fatalf("Put: %v", err)
	}
	for k, o := range m.objects {
		if k == key && o.version == info.Version && o.text != text {
			rt.Fatalf("version %q is that of %q and of %q", info.Version, o.text, text)
		}
	}
	m.objects[key] = object{text, info.Version}
	m.old = append(m.old, info.Version)
}

func (m *model) get(rt *rapid.T) {
	key := m.key(rt)
	text, info, err := read(m.t, m.s, m.dir+key)
	m.check(rt, key, info, err)
	if want := m.objects[key].text; err == nil && text != want {
		rt.Fatalf("Get(%s) = %q, want %q", key, text, want)
	}
}

func (m *model) stat(rt *rapid.T) {
	key := m.key(rt)
	info, err := m.s.Stat(m.t.Context(), m.dir+key)
	m.check(rt, key, info, err)
}

func (m *model) check(rt *rapid.T, key string, info blobstore.Info, err error) {
	want, exists := m.objects[key]
	switch {
	case !exists && !errors.Is(err, fs.ErrNotExist):
		rt.Fatalf("%s: %v, want fs.ErrNotExist", key, err)
	case exists && err != nil:
		rt.Fatalf("%s: %v", key, err)
	case exists && (info.Version != want.version || info.Size != int64(len(want.text))):
		rt.Fatalf("%s: %+v, want %+v", key, info, want)
	}
}

func (m *model) list(rt *rapid.T) {
	prefix := rapid.SampledFrom([]string{"", "a", "b", "b/", "b/c", "c"}).Draw(rt, "prefix")
	var want, got []string
	for key, o := range m.objects {
		if strings.HasPrefix(key, prefix) {
			want = append(want, m.dir+key+" "+o.version)
		}
	}
	slices.SortFunc(want, func(a, b string) int {
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	for info, err := range m.s.List(m.t.Context(), m.dir+prefix) {
		if err != nil {
			rt.Fatalf("List(%s): %v", prefix, err)
		}
		got = append(got, info.Key+" "+info.Version)
	}
	if !slices.Equal(got, want) {
		rt.Fatalf("List(%s) = %q, want %q", prefix, got, want)
	}
}

func (m *model) delete(rt *rapid.T) {
	key := m.key(rt)
	if err := m.s.Delete(m.t.Context(), m.dir+key); err != nil {
		rt.Fatalf("Delete(%s): %v", key, err)
	}
	delete(m.objects, key)
}
