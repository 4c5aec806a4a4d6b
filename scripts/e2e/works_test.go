//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"strings"
)

// A piece of work is what one agent does in one session, so that another can
// look for it. No two share their telling words.
type work struct {
	by       *agent
	request  string // the person's words
	thought  string // the model's thinking
	command  string
	output   string // a word that only the command's output has
	file     string
	content  string
	answer   string // the model's last words
	question string // how another person asks for it, in other words
	query    string // what a model then searches for

	id string // sessdex's id of the session, once imported
}

// secret is a token as an agent's tools may print one. It is put together here,
// so that no scanner takes this file for a leak.
var secret = "gh" + "p_" + "a8Kd03mXq7Zt5RwLc2Vn9YbGf4HsJe6PuT1o"

func works() []*work {
	return []*work{
		{
			by:       claude,
			request:  "Please keep the marmot service from hammering its upstream with a quokkafroth limiter",
			thought:  "A leaky pail is simpler than a windowed ledger",
			command:  "printf 'upstream%s token %s\\n' _bramblewick " + secret,
			output:   "upstream_bramblewick",
			file:     "limits/quokkafroth.md",
			content:  "# Quokkafroth\n\nThe pail leaks.\n",
			answer:   "Done: a burst of seventeen, refilled every nine seconds, with jitter.",
			question: "How did we calm down the calls to the upstream? Please look it up.",
			query:    "quokkafroth limiter upstream",
		},
		{
			by:       codex,
			request:  "Add a zibblewharf retry queue to the marmot service so that no letter is lost",
			thought:  "Persisting beats counting here",
			command:  "printf 'letters%s token %s\\n' _tanglefoot " + secret,
			output:   "letters_tanglefoot",
			file:     "queue/zibblewharf.md",
			content:  "# Zibblewharf\n\nLetters wait in a ring.\n",
			answer:   "Done: letters wait in a ring of forty and are sent again after a frost delay.",
			question: "What do we do with letters that fail? Please look it up.",
			query:    "zibblewharf retry queue letters",
		},
		{
			by:       codexClassic,
			request:  "Make the mumblethorn export of the marmot service write one row for each burrow",
			thought:  "Grouping must come before sorting",
			command:  "printf 'burrows%s token %s\\n' _oxlipgate " + secret,
			output:   "burrows_oxlipgate",
			file:     "export/mumblethorn.md",
			content:  "# Mumblethorn\n\nOne row each.\n",
			answer:   "Done: rows are grouped by burrow and sorted by the day of first snow.",
			question: "In which order does the export write its rows? Please look it up.",
			query:    "mumblethorn export rows burrow",
		},
		{
			by:       gemini,
			request:  "Teach the marmot service to answer in fennimoss colours when a burrow is full",
			thought:  "A palette wants a legend first",
			command:  "printf 'palette%s token %s\\n' _wrenhollow " + secret,
			output:   "palette_wrenhollow",
			file:     "colours/fennimoss.md",
			content:  "# Fennimoss\n\nAmber is full.\n",
			answer:   "Done: amber from three quarters on, and crimson when nobody else fits in.",
			question: "When does a burrow turn red? Please look it up.",
			query:    "fennimoss colours burrow full",
		},
		{
			by:       opencode,
			request:  "Let the marmot service wake from hibernation by a dapplegorse alarm",
			thought:  "An alarm must outlive its clock",
			command:  "printf 'alarms%s token %s\\n' _mossbarrow " + secret,
			output:   "alarms_mossbarrow",
			file:     "alarm/dapplegorse.md",
			content:  "# Dapplegorse\n\nTwo bells.\n",
			answer:   "Done: the first bell rings at thaw, the second a fortnight later for sleepyheads.",
			question: "What wakes those who oversleep? Please look it up.",
			query:    "dapplegorse alarm hibernation",
		},
	}
}

// script is the work as the model does it: a look, a file, an answer, with words
// to each, so that the session has one turn of the person's, three of the model's
// and two of tools.
func (w *work) script(m *machine) Script {
	return Script{
		func(*Request) (Reply, error) {
			return Reply{Thinking: w.thought, Text: "First I look around.", Calls: []Call{w.by.shell(w.command)}}, nil
		},
		func(r *Request) (Reply, error) {
			if out, err := r.LastResult(); err != nil || !strings.Contains(out, w.output) {
				return Reply{}, errors.Join(err, fmt.Errorf("the command printed %q", out))
			}
			return Reply{Text: "Now I write it down.", Calls: []Call{w.by.write(m, w.file, w.content)}}, nil
		},
		Say(w.answer),
	}
}
