package harness

import (
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

func TestAnyTime(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	half := want.Add(500 * time.Millisecond)
	for _, c := range []struct {
		in   string
		want time.Time
	}{
		{`"2026-01-02T03:04:05Z"`, want},
		{`"2026-01-02T05:04:05+02:00"`, want},
		{`1767323045`, want},
		{`1767323045.5`, half},
		{`1767323045000`, want},
		{`"1767323045500"`, half},
		{`0`, time.Time{}},
		{`7`, time.Time{}}, // counts something else
		{`-1767323045`, time.Time{}},
		{`1e300`, time.Time{}},
		{`"soon"`, time.Time{}},
		{`"NaN"`, time.Time{}},
		{`null`, time.Time{}},
		{`true`, time.Time{}},
		{`{}`, time.Time{}},
	} {
		if got := anyTime(gjson.Parse(c.in)); !got.Equal(c.want) {
			t.Errorf("%s: %v", c.in, got)
		}
	}
}
