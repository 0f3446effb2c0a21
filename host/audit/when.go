package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxAgo bounds a time in the past. The verbs that read the log parse their flags with this
// file. Its functions are pure.
const maxAgo = 100 * 365 * 24 * time.Hour

// ParseWhen parses a moment: a duration before now such as "30m", "12h", "7d" or "2w", a
// date, or a time as in RFC 3339. A date is its beginning in the zone of now. The forms are
// words of the command line.
func ParseWhen(text string, now time.Time) (time.Time, error) {
	if ago, err := ParseAge(text); err == nil {
		return now.Add(-ago), nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04",
		time.DateTime} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.50q is not a time: write 30m, 12h or 7d for a time before now, a date such as 2026-11-01, or a time as in RFC 3339",
		text)
}

// ParseAge parses a duration of more than zero. Beyond Go's units it takes d for 24 hours
// and w for seven days, as the only unit.
func ParseAge(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, numberErr := strconv.ParseUint(number, 10, 16)
			d, err = time.Duration(n)*length, numberErr
		}
	}
	if err != nil || d <= 0 || d > maxAgo {
		return 0, fmt.Errorf("%.50q is not a duration such as 30m, 12h or 7d", text)
	}
	return d, nil
}
