package run

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A Progress reports the state of a run.
type Progress struct {
	Elapsed      time.Duration
	Bytes, Lines int64 // of standard output
	// last line of standard error, or of standard output if only that has a percentage; may be empty
	Last    string
	Percent float64 // from the last line; -1 if it has no percentage
}

// percentage matches a number before a percent sign that is not a part of a word.
var percentage = regexp.MustCompile(`(?:^|[^\w.,%-])(\d{1,3}(?:[.,]\d{1,6})?) ?%(?:[^\w%]|$)`)

// percentOf returns the first percentage in a line, or -1.
func percentOf(line string) float64 {
	m := percentage.FindStringSubmatch(line)
	if m == nil {
		return -1
	}
	p, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
	if err != nil || p > 100 {
		return -1
	}
	return p
}

// A Meter turns states of a run into values for progress notifications, which must
// increase. They are seconds until the first percentage, and then percent. The goroutine of the
// call uses it.
type Meter struct {
	last    float64
	percent bool
}

// Next returns the value after a state, and its total, which is 0 if it is not known.
func (m *Meter) Next(p Progress) (value, total float64) {
	if p.Percent >= 0 && m.last < 100 {
		m.percent = true
	}
	if !m.percent {
		m.last = max(p.Elapsed.Round(100*time.Millisecond).Seconds(), m.last+0.001)
		return m.last, 0
	}
	// Only the end of the run is 100. A value that does not grow still has to.
	const least = 0.001
	m.last = max(min(p.Percent, 99.9), m.last+(100-m.last)*least)
	return m.last, 100
}
