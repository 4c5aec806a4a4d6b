package search

import (
	"slices"
	"strings"
	"time"
)

// dateForms are the absolute dates, with the length of the span that each names.
var dateForms = []struct {
	layout              string
	years, months, days int
}{
	{time.DateOnly, 0, 0, 1},
	{"2006-1-2", 0, 0, 1},
	{"2006-01", 0, 1, 0},
	{"2006-1", 0, 1, 0},
	{"2006", 1, 0, 0},
}

// ParseDate reads a date as people write it and gives the span it names: its
// beginning and the moment after its end, in now's time zone. It knows 2026-01-31,
// 2026-01, 2026, RFC 3339 times, today, yesterday, "this week", "last week", and the
// same of month and year (weeks begin on Monday), and ages: 12h, 7d, 2w, 3m (months),
// 1y, whose span is that moment. "last 7 days" is 7d.
func ParseDate(s string, now time.Time) (from, to time.Time, ok bool) {
	s = strings.ToLower(oneSpace(strings.ReplaceAll(s, "_", " ")))
	for _, f := range dateForms {
		if t, err := time.ParseInLocation(f.layout, s, now.Location()); err == nil {
			return t, t.AddDate(f.years, f.months, f.days), true
		}
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(s)); err == nil {
		return t, t, true
	}
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	week := day.AddDate(0, 0, -(int(now.Weekday())+6)%7)
	month := day.AddDate(0, 0, 1-day.Day())
	year := month.AddDate(0, 1-int(month.Month()), 0)
	switch s {
	case "now":
		return now, now, true
	case "today":
		return day, day.AddDate(0, 0, 1), true
	case "yesterday":
		return day.AddDate(0, 0, -1), day, true
	case "this week", "week":
		return week, week.AddDate(0, 0, 7), true
	case "last week":
		return week.AddDate(0, 0, -7), week, true
	case "this month", "month":
		return month, month.AddDate(0, 1, 0), true
	case "last month":
		return month.AddDate(0, -1, 0), month, true
	case "this year", "year":
		return year, year.AddDate(1, 0, 0), true
	case "last year":
		return year.AddDate(-1, 0, 0), year, true
	}
	t, ok := age(s, now)
	return t, t, ok
}

// age reads "7d", "7 days", "last 7 days", "7 days ago".
func age(s string, now time.Time) (time.Time, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(s, "last "), "past "), " ago")
	digits := 0
	n := 0
	for digits < len(s) && digits < 5 && '0' <= s[digits] && s[digits] <= '9' {
		n = 10*n + int(s[digits]-'0')
		digits++
	}
	if digits == 0 {
		return time.Time{}, false
	}
	unit := strings.TrimSpace(s[digits:])
	if len(unit) > 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	is := func(names ...string) bool { return slices.Contains(names, unit) }
	switch {
	case is("h", "hour"):
		return now.Add(-time.Duration(n) * time.Hour), true
	case is("d", "day"):
		return now.AddDate(0, 0, -n), true
	case is("w", "week"):
		return now.AddDate(0, 0, -7*n), true
	case is("m", "mo", "month"):
		return now.AddDate(0, -n, 0), true
	case is("y", "year"):
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
