package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/lazyregexp"
)

// This file recognizes durations, sizes and addresses as other programs write them.

// numberRule matches a duration or a size with a unit that Junctor does not have, or
// without a unit.
var numberRule = lazyregexp.New(`^([0-9]{1,9}) ?([A-Za-z]{0,8})$`)

// durationUnits are foreign names of units of durations.
var durationUnits = map[string]time.Duration{
	"sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
	"min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
	"hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour,
	"msec": time.Millisecond, "millis": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, // after a space
}

// durationHint returns what to write for a number without a unit, or with one that
// durations do not have, and "" for other texts. Numbers of 1000 and more are taken for
// milliseconds.
func durationHint(name, text string) string {
	m := numberRule.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(m[1]) // at most nine digits
	unit, known := durationUnits[strings.ToLower(m[2])]
	switch {
	case n == 0:
	case m[2] == "" && n >= 1000:
		return fmt.Sprintf(`write %s = %q for %d milliseconds`, name, shortDuration(time.Duration(n)*time.Millisecond), n)
	case m[2] == "":
		return fmt.Sprintf(`write %s = %q for %d seconds`, name, shortDuration(time.Duration(n)*time.Second), n)
	case known:
		return fmt.Sprintf(`write %s = %q`, name, shortDuration(time.Duration(n)*unit))
	}
	return ""
}

// sizeUnits are foreign names of units of sizes, in KiB.
var sizeUnits = map[string]int{"k": 1, "kb": 1, "kib": 1, "m": 1 << 10, "mb": 1 << 10, "mib": 1 << 10, "g": 1 << 20, "gb": 1 << 20, "gib": 1 << 20}

// sizeHint returns what to write for a size without a unit, or with one that sizes do
// not have, and "" for other texts. The units of 1000 are taken for those of 1024, and
// numbers of less than 1024 for MiB.
func sizeHint(name, text string) string {
	m := numberRule.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	n, _ := strconv.Atoi(m[1]) // at most nine digits
	unit := sizeUnits[strings.ToLower(m[2])]
	switch {
	case m[2] == "" && n >= 1<<10:
		return fmt.Sprintf("write %s = %q for %d bytes", name, sizeText(n>>10<<10), n)
	case m[2] == "" && n > 0:
		return fmt.Sprintf(`write %s = "%dMiB"`, name, n)
	case unit > 0 && 0 < n && n < 1<<10:
		return fmt.Sprintf("write %s = %q", name, sizeText(n*unit<<10))
	}
	return ""
}

// urlAddress matches the scheme of a URL.
var urlAddress = lazyregexp.New(`^https?://([^/]+)/?.*$`)

// listenHintFor returns what to write for an address that is wrong. format is how an
// address is set, such as listen = %q.
func listenHintFor(text, format string) string {
	if len(text) > maxShownAddress {
		return listenHint
	}
	if digits := strings.TrimPrefix(text, ":"); portRule.MatchString(digits) && isPort(digits) {
		return fmt.Sprintf("write "+format+" for clients on this machine", "127.0.0.1:"+digits)
	}
	if m := urlAddress.FindStringSubmatch(text); m != nil {
		if _, err := parseListen(m[1], ""); err == nil {
			return fmt.Sprintf("write "+format+", without a scheme and a path", m[1])
		}
	}
	if isHost(text) {
		return fmt.Sprintf("write "+format+", with a port", text+":7575")
	}
	return listenHint
}
