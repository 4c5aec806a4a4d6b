package harness

import (
	"strings"

	"sessdex/session"
)

// thoughts are what a model thought since its last turn, where a harness records them
// apart from the turns: they belong to the next one.
type thoughts []string

func (th *thoughts) add(text string) {
	if text = strings.TrimSpace(text); text != "" {
		*th = append(*th, keep(text))
	}
}

// led puts them with the turn that they led to.
func (th *thoughts) led(t *session.Turn) {
	if len(*th) > 0 {
		t.Thinking = strings.Join(*th, "\n\n")
		*th = nil
	}
}

// after puts those that led to no word and no call, since the person cut in, with what
// the model did just before. Where that is nothing they are left, for a turn of their own.
func (th *thoughts) after(turns []session.Turn) {
	last := len(turns) - 1
	if len(*th) == 0 || last < 0 || turns[last].Role != session.Assistant && turns[last].Role != session.Tool {
		return
	}
	was := turns[last].Thinking
	th.led(&turns[last])
	if was != "" {
		turns[last].Thinking = was + "\n\n" + turns[last].Thinking
	}
}
