package harness

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// isoTime reads a time as RFC 3339 has it, the form of nearly all harnesses; anything
// else is no time.
func isoTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// anyTime reads a time as an ISO string or as a number of milliseconds or seconds
// since 1970, also one in a string.
func anyTime(v gjson.Result) time.Time {
	n := v.Num
	switch v.Type {
	case gjson.String:
		if t := isoTime(v.Str); !t.IsZero() {
			return t
		}
		var err error
		if n, err = strconv.ParseFloat(v.Str, 64); err != nil {
			return time.Time{}
		}
	case gjson.Number:
	default:
		return time.Time{}
	}
	const secondsTo2286, firstYear = 1e10, 1e8 // 1973: what is smaller counts something else
	switch {
	case n > 1e13 || n < firstYear || n != n:
		return time.Time{}
	case n < secondsTo2286:
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC()
}

// milliTime reads milliseconds since 1970; anything else is no time.
func milliTime(v gjson.Result) time.Time {
	if v.Type != gjson.Number || v.Num <= 0 || v.Num > 253402300799999 { // year 9999
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Num)).UTC()
}

// uuidTime is the time in a version 7 UUID, or zero.
func uuidTime(id string) time.Time {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 {
		return time.Time{}
	}
	ms := int64(b[0])<<40 | int64(b[1])<<32 | int64(b[2])<<24 | int64(b[3])<<16 | int64(b[4])<<8 | int64(b[5])
	return time.UnixMilli(ms).UTC()
}
