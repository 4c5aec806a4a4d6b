package harness

import "strings"

// Harnesses tell a model what they add to a person's words by putting it into elements
// as XML has them, <name>…</name>, without escaping what is inside.

// leadingElement splits s after the XML-like element it begins with. An element
// that is never closed reaches to the end.
func leadingElement(s string) (name, inner, rest string, ok bool) {
	if len(s) < 3 || s[0] != '<' || s[1] < 'a' || s[1] > 'z' {
		return "", "", "", false
	}
	end := 1
	for end < len(s) && (s[end] >= 'a' && s[end] <= 'z' || s[end] >= '0' && s[end] <= '9' || s[end] == '-' || s[end] == '_') {
		end++
	}
	open := strings.IndexByte(s, '>')
	if open < end || s[end] != '>' && s[end] != ' ' {
		return "", "", "", false
	}
	name = s[1:end]
	inner, rest, _ = strings.Cut(s[open+1:], "</"+name+">")
	return name, inner, strings.TrimSpace(rest), true
}

// element is the text of the first element of that name as it stands, or "". One that
// is never closed reaches to the end.
func element(s, name string) string {
	_, s, ok := strings.Cut(s, "<"+name+">")
	if !ok {
		return ""
	}
	inner, _, _ := strings.Cut(s, "</"+name+">")
	return inner
}

// withoutElement cuts the elements of that name out of text.
func withoutElement(text, name string) string {
	for {
		before, rest, ok := strings.Cut(text, "<"+name+">")
		if !ok {
			return text
		}
		_, after, _ := strings.Cut(rest, "</"+name+">")
		text = before + after
	}
}

// isOnlyElement reports whether text is nothing but one element with a name as
// harnesses make them: a kind of context of a later version. People paste elements
// too, so this only counts where nothing else tells who wrote the text.
func isOnlyElement(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "<") {
		return false
	}
	end := strings.IndexAny(text, " >\n")
	if end < 0 {
		return false
	}
	name := text[1:end]
	return strings.ContainsAny(name, "_-") && strings.HasSuffix(text, "</"+name+">")
}

// cutTrailingReminders drops reminders glued behind a text.
func cutTrailingReminders(s string) string {
	for {
		s = strings.TrimRight(s, " \t\r\n")
		if !strings.HasSuffix(s, "</system-reminder>") {
			return s
		}
		at := strings.LastIndex(s, "<system-reminder>")
		if at < 0 {
			return s
		}
		s = s[:at]
	}
}
