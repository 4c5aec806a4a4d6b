package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"

	"sessdex/serve"
	"sessdex/session"
)

// shown is text that is safe on a terminal and in a pipe.
func shown(s string) string { return session.Plain(s) }

// line is a text's safe form on one line of at most n runes.
func line(s string, n int) string { return session.OneLine(session.Plain(s), n) }

// printJSON writes v as the one JSON object of a command.
func (a *app) printJSON(v any) error {
	return serve.WriteJSON(a.out, v)
}

// terminal reports whether w is a terminal, and how wide it is.
func terminal(w io.Writer) (int, bool) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	return width, true
}

// style wraps text in terminal attributes where there is a terminal that wants
// them.
type style bool

func (a *app) style() style {
	_, tty := terminal(a.out)
	return style(tty && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb")
}

func (s style) wrap(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(t string) string { return s.wrap("1", t) }
func (s style) dim(t string) string  { return s.wrap("2", t) }
func (s style) mark(t string) string { return s.wrap("1;33", t) }

// ago is a time as people say it.
func ago(t, now time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return count(int(d.Hours()), "hour") + " ago"
	case d < 14*24*time.Hour:
		return count(int(d.Hours()/24), "day") + " ago"
	}
	return t.Local().Format("2006-01-02")
}

// count is "1 session", "2 sessions", "12,345 turns".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(n) + " " + noun
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// size is a number of bytes as people say it.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
