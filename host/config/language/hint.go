package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
	"github.com/junctor-mcp/junctor/host/suggest"
)

// NearHint returns a hint that names the nearest candidate, or "" if no candidate
// is near.
func NearHint(name string, candidates []string) string {
	if near := suggest.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// DidYouMean returns NearHint or, if no candidate is near, a list of at most 16
// candidates.
func DidYouMean(name string, candidates []string) string {
	if hint := NearHint(name, candidates); hint != "" {
		return hint
	}
	if len(candidates) == 0 || len(candidates) > 16 {
		return ""
	}
	return "known here: " + strings.Join(slices.Sorted(slices.Values(candidates)), ", ")
}

// Quoted returns the words in quotes, separated by commas.
func Quoted(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", w)
	}
	return b.String()
}

// UnlessSecret returns a hint that repeats a value, or "" if the value is secret.
func UnlessSecret(marks cty.ValueMarks, hint string) string {
	if len(marks) > 0 {
		return ""
	}
	return hint
}

// GotText returns the end of a message, `, not "VALUE"`. It returns "" for a
// secret and for a value of more than 64 bytes.
func GotText(value string, secret bool) string {
	if secret || len(value) > 64 {
		return ""
	}
	return fmt.Sprintf(", not %q", value)
}

// numberRule matches a duration or a size with a unit that Junctor does not have, or
// without a unit.
var numberRule = lazyregexp.New(`^([0-9]{1,9}) ?([A-Za-z]{0,8})$`)

// durationUnits are foreign names of units of durations.
var durationUnits = map[string]time.Duration{
	"sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"msec": time.Millisecond, "millis": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, // after a space
}

// DurationHint returns what to write for a number without a unit, or with one that
// durations do not have, and "" for other texts. Numbers of 1000 and more are taken for
// milliseconds.
func DurationHint(name, text string) string {
	m := numberRule.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(m[1]) // at most nine digits
	unit, known := durationUnits[strings.ToLower(m[2])]
	switch {
	case n == 0:
	case m[2] == "" && n >= 1000:
		return fmt.Sprintf(`write %s = %q for %d milliseconds`,
			name, ShortDuration(time.Duration(n)*time.Millisecond), n)
	case m[2] == "":
		return fmt.Sprintf(`write %s = %q for %d seconds`, name, ShortDuration(time.Duration(n)*time.Second), n)
	case known:
		return fmt.Sprintf(`write %s = %q`, name, ShortDuration(time.Duration(n)*unit))
	}
	return ""
}

// sizeUnits are foreign names of units of sizes, in KiB.
var sizeUnits = map[string]int{
	"k": 1, "kb": 1, "kib": 1, "m": 1 << 10, "mb": 1 << 10, "mib": 1 << 10, "g": 1 << 20, "gb": 1 << 20, "gib": 1 << 20,
}

// SizeHint returns what to write for a size without a unit, or with one that sizes do
// not have, and "" for other texts. The units of 1000 are taken for those of 1024, and
// numbers of less than 1024 for MiB.
func SizeHint(name, text string) string {
	m := numberRule.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(m[1]) // at most nine digits
	unit := sizeUnits[strings.ToLower(m[2])]
	switch {
	case m[2] == "" && n >= 1<<10:
		return fmt.Sprintf("write %s = %q for %d bytes", name, SizeText(n>>10<<10), n)
	case m[2] == "" && n > 0:
		return fmt.Sprintf(`write %s = "%dMiB"`, name, n)
	case unit > 0 && 0 < n && n < 1<<10:
		return fmt.Sprintf("write %s = %q", name, SizeText(n*unit<<10))
	}
	return ""
}

// WordsInBrackets returns a command line as a list. It leaves out the words from the first
// one that may be a secret.
func WordsInBrackets(line string) string {
	var words []string
	for i, w := range strings.Fields(line) {
		if i == 0 && !plainProgram.MatchString(w) || i > 0 && !plainArgument.MatchString(w) {
			words = append(words, `"..."`)
			break
		}
		words = append(words, fmt.Sprintf("%q", w))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

var (
	plainProgram = lazyregexp.New(`^[A-Za-z0-9._/-]+$`)
	// plainArgument matches arguments that cannot be secrets.
	plainArgument = lazyregexp.New(`^(-[a-zA-Z]|--?[a-z][a-z-]{1,20}|run|exec|@[a-z0-9-]+/[a-z0-9._-]+)$`)
)
