package clientconfig

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// The maxima of times here.
const (
	longestCall = 10 * time.Minute
	longestIdle = 24 * time.Hour
)

// units are the units of the member timeout, by client.
var units = map[string]time.Duration{
	"claude-code": time.Millisecond, "gemini": time.Millisecond, "kiro": time.Millisecond,
	"opencode": time.Millisecond, "librechat": time.Millisecond,
	"continue": time.Millisecond, "goose": time.Second, "cline": time.Second, "roo": time.Second, "crush": time.Second,
	"zed": time.Second,
}

// leastMilliseconds is the least number that is taken as milliseconds if the client is not known.
const leastMilliseconds = 10_000

// times reads how long a start and a call may take, and when an unused connection is closed.
func (r *entryReader) times() {
	r.s.Start = max(r.duration(time.Second, "startup_timeout_sec"), r.duration(time.Millisecond, "startup_timeout_ms"),
		r.duration(time.Millisecond, "initTimeout"))
	r.s.Call = cmp.Or(r.duration(time.Second, "tool_timeout_sec"), r.duration(time.Millisecond, "connectionTimeout"))
	var unit time.Duration
	if r.client != nil {
		unit = units[r.client.Name]
	}
	if d := r.duration(unit, "timeout"); d > 0 {
		r.s.Call = d
	}
	r.s.Idle = r.idle()
}

// duration returns a number of units, or a text such as 30s, as a duration of at most ten
// minutes. A unit of 0 is not known. Any other value is noted.
func (r *entryReader) duration(unit time.Duration, name string) time.Duration {
	v, _ := r.take(name)
	if v == nil {
		return 0
	}
	text, _ := plainText(v)
	d, err := time.ParseDuration(strings.TrimSpace(text))
	var n json.Number
	if json.Unmarshal([]byte(strings.TrimSpace(text)), &n) == nil && n != "" {
		d, err = r.units(n, unit, name), nil
	}
	if d = d.Round(time.Millisecond); err != nil || d <= 0 {
		r.s.Ignored = append(r.s.Ignored, name)
		return 0
	}
	if d > longestCall {
		r.remark("%s is longer than %s, the maximum here", name, "10m")
		d = longestCall
	}
	return d
}

// units returns a number of units as a duration; more than an hour is an hour.
func (r *entryReader) units(n json.Number, unit time.Duration, name string) time.Duration {
	number, err := n.Float64()
	if unit == 0 {
		word := "seconds"
		if unit = time.Second; number >= leastMilliseconds {
			unit, word = time.Millisecond, "milliseconds"
		}
		r.remark("%s is taken as %s, because the client is not known", name, word)
	}
	if err != nil || number <= 0 {
		return 0
	}
	return time.Duration(min(number, float64(time.Hour/unit)) * float64(unit))
}

// idle reads when a connection that is not used is closed.
func (r *entryReader) idle() string {
	v, _ := r.take("idle_timeout")
	if v == nil {
		return ""
	}
	text, _ := plainText(v)
	if text == "never" || text == "adaptive" {
		return text
	}
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.fail("idle_timeout is neither \"adaptive\", \"never\" nor a duration of at most a day")
	}
	if d > longestIdle {
		r.remark("idle_timeout is longer than %s, the maximum here", "24h")
		d = longestIdle
	}
	return d.String()
}
