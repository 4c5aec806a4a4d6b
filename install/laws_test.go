package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// made is what the tests install.
var made = Want{
	Server: Server{Command: []string{"/opt/bin/sessdex", "mcp"}},
	Hook:   []string{"/opt/bin/sessdex"},
}

// lawful checks what every edit of a text promises, for one part: installing twice is
// installing once, and uninstalling gives the text back where it held nothing of ours.
// It reports whether the text could be edited.
func lawful(t interface{ Fatalf(string, ...any) }, p part, text []byte) (installed []byte, ok bool) {
	before := bytes.Clone(text)
	installed, outcome, err := p.edit(text, made)
	if !bytes.Equal(before, text) {
		t.Fatalf("the text it was given changed from %q to %q", before, text)
	}
	if errors.Is(err, ErrUnreadable) || errors.Is(err, ErrShape) || errors.Is(err, ErrForeign) {
		return nil, false
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	again, twice, err := p.edit(installed, made)
	if err != nil || twice != Kept || !bytes.Equal(again, installed) {
		t.Fatalf("%q installed is\n%s\nand once more (%s, %v)\n%s", text, installed, twice, err, again)
	}
	removed, gone, err := p.edit(installed, Want{})
	if err != nil || outcome == Added && gone != Removed {
		t.Fatalf("%q installed is\n%s\nand cannot be uninstalled: %s, %v", text, installed, gone, err)
	}
	if outcome == Added && ((removed == nil) != (text == nil) || !bytes.Equal(removed, text)) {
		t.Fatalf("%q installed is\n%s\nand uninstalled %q", text, installed, removed)
	}
	if rest, never, err := p.edit(removed, Want{}); err != nil || never != Kept || !bytes.Equal(rest, removed) {
		t.Fatalf("%q uninstalled twice is %q (%s, %v)", text, rest, never, err)
	}
	return installed, true
}

// partsOf is each kind of edit there is.
func partsOf() map[string]part {
	return map[string]part{
		"server": jsonServer("", []string{"mcpServers", serverName}, claudeServer),
		"hook":   jsonHook("", "claude-code", nil),
		"table":  tomlServer("", []string{"mcp_servers", serverName}, codexServer),
		"plugin": {PartHook, "", openCodePlugin},
	}
}

func TestNoFileAndEmptyFileAreTwoThings(t *testing.T) {
	for name, p := range partsOf() {
		for _, text := range []string{"", "\n", "\r\n", " ", "\ufeff", "\ufeff\n", "\n\n"} {
			if _, ok := lawful(t, p, []byte(text)); !ok && name != "plugin" {
				t.Errorf("%s: %q cannot be edited", name, text)
			}
		}
		installed, ok := lawful(t, p, nil)
		if !ok || !bytes.HasSuffix(installed, []byte("\n")) {
			t.Errorf("%s: a new file is %q", name, installed)
		}
	}
}

// white is white space and comments between tokens. Comments come only with JSONC.
func white(t *rapid.T, comments bool, eol string) string {
	kinds := []string{"", "", " ", eol, eol + "  ", eol + "\t", "  "}
	if comments {
		kinds = append(kinds, " // note"+eol, "/* note */", " /* two"+eol+"lines */ ", eol+"// own line"+eol)
	}
	return rapid.SampledFrom(kinds).Draw(t, "white")
}

// jsonText draws a value with the names that our entry goes through among others.
func jsonText(t *rapid.T, depth int, comments bool, eol string) string {
	ws := func() string { return white(t, comments, eol) }
	kind := rapid.IntRange(0, 3).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	var items []string
	n := rapid.IntRange(0, 3).Draw(t, "items")
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{`1`, `"x"`, `null`, `"// no comment"`, `"a\"}"`, `{}`, `[]`, `{ }`}).Draw(t, "plain")
	case 1:
		for range n {
			items = append(items, ws()+jsonText(t, depth-1, comments, eol)+ws())
		}
	default:
		names := []string{"mcpServers", "hooks", "SessionEnd", "a", "b", "command", "ünï"}
		for range n {
			name := rapid.SampledFrom(names).Draw(t, "name")
			items = append(items, fmt.Sprintf("%s%q%s:%s%s%s", ws(), name, ws(), ws(), jsonText(t, depth-1, comments, eol), ws()))
		}
	}
	inner := strings.Join(items, ",")
	if n == 0 {
		inner = ws()
	} else if comments && rapid.Bool().Draw(t, "trailing comma") {
		inner += "," + ws()
	}
	if kind == 1 {
		return "[" + inner + "]"
	}
	return "{" + inner + "}"
}

func TestJSONLaws(t *testing.T) {
	edited := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol")
		comments := rapid.Bool().Draw(t, "comments")
		text := white(t, comments, eol) + jsonText(t, 4, comments, eol) + white(t, comments, eol)
		if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
			text = "\ufeff" + text
		}
		for _, name := range []string{"server", "hook"} {
			installed, ok := lawful(t, partsOf()[name], []byte(text))
			if !ok {
				continue
			}
			edited[name]++
			if err := onlyOurs([]byte(text), installed, name); err != nil {
				t.Fatalf("%q installed is\n%s\n%v", text, installed, err)
			}
			if !comments && !json.Valid(bytes.TrimPrefix(installed, bom)) {
				t.Fatalf("%q installed is no JSON:\n%s", text, installed)
			}
		}
	})
	if edited["server"] < 10 || edited["hook"] < 10 {
		t.Errorf("too few texts could be edited to show anything: %v", edited)
	}
}

// onlyOurs compares what two texts mean: the second is the first and our entry.
func onlyOurs(before, after []byte, name string) error {
	var x, y map[string]any
	for text, into := range map[*[]byte]*map[string]any{&before: &x, &after: &y} {
		std, err := hujson.Standardize(bytes.TrimPrefix(bytes.Clone(*text), bom))
		if err == nil {
			err = json.Unmarshal(std, into)
		}
		if err != nil {
			return err
		}
	}
	path := map[string][]string{"server": {"mcpServers", "sessdex"}, "hook": {"hooks", "SessionEnd"}}[name]
	outer, _ := y[path[0]].(map[string]any)
	ours, ok := outer[path[1]]
	if !ok {
		return fmt.Errorf("there is no %v", path)
	}
	was, had := x[path[0]].(map[string]any)
	if list, ok := ours.([]any); ok && len(list) > 1 {
		outer[path[1]] = list[:len(list)-1]
	} else if _, had := was[path[1]]; had {
		outer[path[1]] = []any{}
	} else {
		delete(outer, path[1])
	}
	if len(outer) == 0 && !had {
		delete(y, path[0])
	}
	if diff := cmp.Diff(x, y); diff != "" {
		return fmt.Errorf("and other things changed, -before +after:\n%s", diff)
	}
	return nil
}

func TestTOMLLaws(t *testing.T) {
	edited := 0
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "eol")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"model = \"m\"", "# note", "", "  ", "[a]", "  [b.c]  # note", "x = 1", "y = [", "  1, # one", "]",
			"text = '''", "[mcp_servers.sessdex]", "'''", "[mcp_servers]", "[mcp_servers.other]", "command = 'o'",
			"[[list]]", "mcp_servers = {}", "[mcp_servers.other.env]", "other.command = 'p'", "mcp_servers.dotted.url = 'u'",
		}), 0, 12).Draw(t, "lines")
		text := strings.Join(lines, eol) + rapid.SampledFrom([]string{"", eol, eol + eol}).Draw(t, "end")
		if rapid.IntRange(0, 9).Draw(t, "mark") == 0 {
			text = "\ufeff" + text
		}
		installed, ok := lawful(t, partsOf()["table"], []byte(text))
		if !ok {
			return
		}
		edited++
		var x, y map[string]any
		if err := toml.Unmarshal(bytes.TrimPrefix(installed, bom), &y); err != nil {
			t.Fatalf("%q installed is\n%s\n%v", text, installed, err)
		}
		if err := toml.Unmarshal(bytes.TrimPrefix([]byte(text), bom), &x); err != nil {
			t.Fatalf("%q cannot be read and was edited", text)
		}
		for _, m := range []map[string]any{x, y} {
			if servers, ok := m["mcp_servers"].(map[string]any); ok {
				if delete(servers, "sessdex"); len(servers) == 0 {
					delete(m, "mcp_servers")
				}
			}
		}
		if diff := cmp.Diff(x, y); diff != "" {
			t.Fatalf("%q installed is\n%s\nand other things changed, -before +after:\n%s", text, installed, diff)
		}
	})
	if edited < 10 {
		t.Errorf("only %d texts could be edited, too few to show anything", edited)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "{}", "{\"a\":1}\n", "{ // c\n}", `{"mcpServers":{"sessdex":{}},}`,
		`{"hooks":{"SessionEnd":[{"hooks":[]}]}}`, "\ufeff{\r\n\t\"a\": [1, /* c */],\r\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lawful(t, partsOf()["server"], text)
		lawful(t, partsOf()["hook"], text)
	})
}

func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "a = 1", "[mcp_servers.sessdex]\ncommand = 'x'\n\n[b]\n", "mcp_servers = {}",
		"[mcp_servers]\r\nsessdex.command = 'x'\r\nother.url = 'u' # c\r\n", "a = '''\n[mcp_servers.sessdex]\n'''"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { lawful(t, partsOf()["table"], text) })
}
