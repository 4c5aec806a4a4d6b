package serve

import (
	"fmt"
	"slices"
	"strings"

	"sessdex/session"
)

// How much a summary shows, in items and runes.
const (
	maxOutline  = 60
	maxList     = 30
	maxLastText = 3000
)

// summaryText is a session at a glance for a model. The facts are ours; titles,
// requests, answers, commands and paths are the session's and stand in a frame.
func summaryText(sum *Summary) string {
	c := sum.Card
	var b strings.Builder
	fmt.Fprintf(&b, "Session %s, version %s.\n", c.ID, c.Version)
	b.WriteString(quoted(summaryBody(sum)))
	fmt.Fprintf(&b, "Read on: fetch_session_context id=%s, or get_session id=%s mode=full.\n", c.ID, c.ID)
	if sum.Resume != "" {
		fmt.Fprintf(&b, "Resume: %s\n", oneLine(sum.Resume, 500))
	}
	return b.String()
}

func summaryBody(sum *Summary) string {
	c := sum.Card
	var b strings.Builder
	fact := func(name string, values ...string) {
		values = slices.Clone(values)
		for i, v := range values {
			values[i] = oneLine(v, 300)
		}
		values = slices.DeleteFunc(values, func(v string) bool { return v == "" })
		if len(values) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(values, ", "))
		}
	}
	fmt.Fprintf(&b, "title: \"%s\"\n", oneLine(c.ShownTitle(), maxTitle))
	fact("harness", strings.TrimSpace(c.Harness+" "+c.Meta.Version))
	fact("harness's id", c.NativeID)
	fact("owner", c.Owner)
	fact("repo", place(c.Repo, c.Branch))
	fact("other branches", slices.DeleteFunc(slices.Clone(c.Branches), func(name string) bool { return name == c.Branch })...)
	fact("folder", c.Dir)
	fact("commit", c.Commit)
	fact("pull requests", few(c.PRs, maxList)...)
	fact("models", c.Models...)
	fact("time", span(c))
	fact("turns", turnsText(c.Turns.Less(c.Inherited)))
	if sum.Errors > 0 {
		fact("tool calls that failed", fmt.Sprint(sum.Errors))
	}
	fact("tags", few(c.AllTags(), maxList)...)
	fact("label", c.Label)
	fact("started by session", c.Parent)
	fact("forked from", forkText(c))
	fact("sub-agent sessions", few(sum.Children, maxList)...)
	fact("older versions", olderText(c)...)
	fact("secrets removed", ruleCounts(c.Secrets)...)
	fact("files edited", few(Within(c.Dir, c.Files), maxList)...)
	fact("files read", few(Within(c.Dir, c.Reads), maxList)...)

	if len(sum.Outline) > 0 {
		b.WriteString("\nAsked, in order:\n")
		outlineText(&b, sum.Outline)
	}
	if len(sum.Commands) > 0 {
		b.WriteString("\nCommands, newest last:\n")
		for _, command := range sum.Commands {
			fmt.Fprintf(&b, "- %s\n", oneLine(command, 200))
		}
	}
	if last := session.Plain(sum.Last); strings.TrimSpace(last) != "" {
		fmt.Fprintf(&b, "\nLast answer:\n%s\n", cut(strings.TrimSpace(last), maxLastText))
	}
	return b.String()
}

// outlineText lists what was asked; of a long list the beginning and the end.
func outlineText(b *strings.Builder, items []OutlineItem) {
	for i, item := range items {
		if over := len(items) - maxOutline; over > 0 && i >= maxOutline/3 && i < maxOutline/3+over {
			if i == maxOutline/3 {
				fmt.Fprintf(b, "[… %s left out]\n", count(over, "request"))
			}
			continue
		}
		when := minute(item.Time)
		if when != "" {
			when += " "
		}
		fmt.Fprintf(b, "#%d %s%s\n", item.Turn, when, oneLine(item.Text, 200))
	}
}

func span(c *session.Card) string {
	from, to := minute(c.Start), minute(c.LastActive)
	switch {
	case from == "" && to == "":
		return ""
	case from == "" || from == to:
		return to + " UTC"
	case to == "":
		return from + " UTC"
	}
	return from + " to " + to + " UTC"
}

func turnsText(n session.Counts) string {
	text := fmt.Sprintf("%d (%d user, %d assistant, %d tool", n.Total(), n.User, n.Assistant, n.Tool)
	if n.Summary > 0 {
		text += fmt.Sprintf(", %d compaction", n.Summary)
	}
	return text + ")"
}

// forkText says which session this one continues, and how much of it comes first.
func forkText(c *session.Card) string {
	if n := c.Inherited.Total(); n > 0 {
		return fmt.Sprintf("%s (its %s come first, not counted here)", c.ForkedFrom, count(n, "turn"))
	}
	return c.ForkedFrom
}

func olderText(c *session.Card) []string {
	var out []string
	for _, v := range c.Older {
		out = append(out, v.Version)
	}
	return few(out, maxList)
}
