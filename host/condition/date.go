package condition

import (
	"cmp"
	"time"
)

// maxDate bounds the length of a date.
const maxDate = 64

func instantOf(t time.Time) Value {
	return Value{kind: instant, num: float64(t.Unix()), nanos: int32(t.Nanosecond())}
}

// dateOf returns the time of a text: a day such as 2026-12-31, which begins at midnight in
// UTC, or a time of RFC 3339.
func dateOf(v Value) Value {
	if v.size() <= maxDate {
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if t, err := time.Parse(layout, v.String()); err == nil {
				return instantOf(t)
			}
		}
	}
	return failOfFirst(`is no date such as "2026-12-31" or "2026-12-31T18:00:00+01:00"`)
}

func compareInstants(a, b Value) int {
	return cmp.Or(cmp.Compare(a.num, b.num), cmp.Compare(a.nanos, b.nanos))
}
