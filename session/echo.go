package session

import "strings"

// The lines that open what we quote to an agent: a list of sessions, and a pack.
// Whatever follows one on its line is the frame's boundary.
const (
	QuoteOpen = "==== quoted "
	PackOpen  = "[quoted session "
	PackClose = "[end of quoted session " // ends a pack, followed by its boundary
	PackMore  = "[more: "                 // may follow it: how to get what was left out
)

// ownTools are the tools that this program serves, as an agent's harness names
// them: with the name of the server before them.
var ownTools = []string{"search_sessions", "list_sessions", "get_session_summary", "fetch_session_context", "get_session", "publish_session"}

// Echo reports whether the turn is a call of this program's own: its question
// repeats words that were looked for, and its answer those of other sessions, so
// neither is what the session is about. A harness that calls tools from a
// script shows only the frame around the answer.
func (t *Turn) Echo() bool {
	if t.Role != Tool {
		return false
	}
	for _, name := range ownTools {
		if strings.HasSuffix(t.Tool, name) && strings.Contains(t.Tool, "sessdex") {
			return true
		}
	}
	return opens(t.Output, QuoteOpen) || opens(t.Output, PackOpen)
}

// opens reports whether s holds the mark followed by a boundary of 16 hex digits.
func opens(s, mark string) bool {
	for {
		_, rest, ok := strings.Cut(s, mark)
		if !ok {
			return false
		}
		if len(rest) >= 16 && strings.Trim(rest[:16], "0123456789abcdef") == "" {
			return true
		}
		s = rest
	}
}
