package harness

// A recordTree knows, for transcripts whose records name the one before, which turns
// stand on branches that the person left: all that do not lead to the last record.
type recordTree struct {
	parent map[string]string
	owner  []string // turn → the record that began it, "" for none
	last   string   // the record that was read last
}

// enter notes a record before its turns are made. One without a parent, or with one
// that is lost, follows the record before it, except that root begins anew.
func (t *recordTree) enter(id, parent string, root bool) {
	if id == "" {
		return
	}
	if t.parent == nil {
		t.parent = map[string]string{}
	}
	if _, known := t.parent[parent]; !known && !root {
		parent = t.last
	}
	id = keep(id)
	if _, again := t.parent[id]; !again {
		t.parent[id] = keep(parent)
	}
	t.last = id
}

// own gives the turns made since to the record that was entered last.
func (t *recordTree) own(turns int) {
	for len(t.owner) < turns {
		t.owner = append(t.owner, t.last)
	}
}

// left lists, in order, the turns on branches that were left.
func (t *recordTree) left() []int {
	kept := map[string]bool{"": true}
	for id := t.last; id != "" && !kept[id]; id = t.parent[id] {
		kept[id] = true
	}
	var out []int
	for i, id := range t.owner {
		if !kept[id] {
			out = append(out, i)
		}
	}
	return out
}
