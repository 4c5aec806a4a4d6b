package harness

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// grokParent is the session that started the one in dir as a sub-agent, or "". A
// sub-agent's summary names its parent only where it was given its conversation;
// else only the parent's folder knows, by subagents/<id>/.
func grokParent(dir string) string {
	root := filepath.Dir(filepath.Dir(dir))
	if filepath.Base(root) != "sessions" {
		return ""
	}
	s := gjson.Parse(headOf(filepath.Join(dir, grokSummary)))
	if !strings.HasPrefix(s.Get("session_kind").Str, "subagent") || s.Get("parent_session_id").Str != "" {
		return ""
	}
	return grokParents.of(root, filepath.Base(dir))
}

// grokKin remembers for a moment who started whom below a root: an import asks for
// every sub-agent in turn, and each answer means looking into every session's folder.
type grokKin struct {
	mu      sync.Mutex
	root    string
	read    time.Time
	parents map[string]string // child's id → parent's
}

var grokParents grokKin

// grokKinLasts is for how long an answer may be old. A parent that is missed is found
// by the next import, since the source's stamp holds it.
const grokKinLasts = 5 * time.Second

// of is safe for concurrent use.
func (k *grokKin) of(root, child string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.root != root || time.Since(k.read) > grokKinLasts {
		k.root, k.parents = root, grokReadKin(root)
		k.read = time.Now()
	}
	return k.parents[child]
}

// grokReadKin looks into <root>/<folder>/<parent>/subagents/ for the names of children.
func grokReadKin(root string) map[string]string {
	kin := map[string]string{}
	groups, _ := os.ReadDir(root)
	for _, group := range groups {
		parents, _ := os.ReadDir(filepath.Join(root, group.Name()))
		for _, parent := range parents {
			if !parent.IsDir() {
				continue
			}
			children, _ := os.ReadDir(filepath.Join(root, group.Name(), parent.Name(), "subagents"))
			for _, child := range children {
				kin[child.Name()] = parent.Name()
			}
		}
	}
	return kin
}
