package install

import (
	"bytes"
	"fmt"

	"github.com/tailscale/hujson"
)

// A place of a handler: the group and the handler in it, by their indices.
type handlerPlace struct{ group, handler int }

// handlers goes down to hooks.<event> and finds our handlers there.
func (d *jsonFile) handlers(event, agent string) (steps []step, places []handlerPlace, err error) {
	path := []string{"hooks", event}
	steps, err = d.walk(path...)
	if err != nil || len(steps) <= len(path) {
		return steps, nil, err
	}
	list := steps[len(path)].value
	if _, ok := list.Value.(*hujson.Array); !ok {
		return nil, nil, shapeError(path, "a list")
	}
	for g, group := range itemsOf(list) {
		inner := handlersOf(group.value)
		if inner == nil {
			continue // not a group: none of ours
		}
		for h, handler := range itemsOf(inner) {
			raw, err := hujson.Standardize(bytes.Clone(d.text[handler.start:handler.end]))
			if err == nil && oursHandler(raw, agent) {
				places = append(places, handlerPlace{g, h})
			}
		}
	}
	return steps, places, nil
}

// handlersOf is the list of a group's handlers, or nil.
func handlersOf(group *hujson.Value) *hujson.Value {
	if _, ok := group.Value.(*hujson.Object); !ok {
		return nil
	}
	items := itemsOf(group)
	n := last(items, "hooks")
	if n < 0 {
		return nil
	}
	return items[n].value
}

// setHandler makes h the one handler of ours of an event. Other handlers stay, also
// where someone put one into a group with ours.
func (d *jsonFile) setHandler(event, agent string, h hookHandler) (Outcome, error) {
	steps, places, err := d.handlers(event, agent)
	switch {
	case err != nil:
		return "", err
	case len(places) > 0:
		group := itemsOf(steps[2].value)[places[0].group].value
		return d.replace(itemsOf(handlersOf(group))[places[0].handler].value, h), nil
	case len(steps) == 3:
		d.add(steps[2].value, hookGroup{[]hookHandler{h}})
	default:
		d.insert(steps, []string{"hooks", event}, []hookGroup{{[]hookHandler{h}}})
	}
	return Added, nil
}

// removeHandler takes our handlers of an event away.
func (d *jsonFile) removeHandler(event, agent string) (Outcome, error) {
	outcome := Kept
	for {
		steps, places, err := d.handlers(event, agent)
		if err != nil || len(places) == 0 {
			return outcome, err
		}
		p := places[0]
		group := itemsOf(steps[2].value)[p.group].value
		steps = append(steps, step{group, p.group})
		if inner := handlersOf(group); len(itemsOf(inner)) > 1 {
			n := last(itemsOf(group), "hooks")
			steps = append(steps, step{inner, n}, step{itemsOf(inner)[p.handler].value, p.handler})
		}
		d.drop(steps)
		outcome = Removed
		if err := d.parse(); err != nil {
			return "", fmt.Errorf("edit: %w", err)
		}
	}
}
