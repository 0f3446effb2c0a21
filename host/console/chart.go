package console

import (
	"fmt"
	"strings"
	"time"
)

// The size of a chart in the units of its paths. The browser scales it.
const (
	chartWidth  = 720
	chartHeight = 120
)

// A chart is a drawing of minutes. The functions of this file are pure: they turn samples into
// paths of SVG.
type chart struct {
	ID, Title string
	Unit      string // of the scale; empty: the labels have it
	Text      string // what the drawing shows, for people who do not see it
	Scale     [3]string
	Shapes    []shape
	Keys      []shape // with a name
}

// A shape is a path of a chart.
type shape struct {
	Class string // of the style sheet
	Path  string
	Name  string
	Line  bool // it is not filled
	Dots  bool // its points are drawn as dots
}

const perMinute = int(time.Minute / sampleEvery)

// minutes sums samples up by the minute, the oldest first. The last one ends with the newest
// sample.
func minutes(samples []sample) (all []sample) {
	for from := len(samples) % perMinute; from <= len(samples); from += perMinute {
		if part := samples[max(0, from-perMinute):from]; len(part) > 0 {
			all = append(all, sum(part))
		}
	}
	return all
}

// sum returns the calls of samples together, and the largest of their quantiles.
func sum(samples []sample) (all sample) {
	for _, s := range samples {
		all.Calls, all.Errors = all.Calls+s.Calls, all.Errors+s.Errors
		all.P50, all.P99 = max(all.P50, s.P50), max(all.P99, s.P99)
	}
	return all
}

// charts returns the drawings of samples.
func charts(samples []sample) []chart {
	m := minutes(samples)
	return []chart{callsChart(m), latencyChart(m)}
}

func callsChart(minutes []sample) chart {
	most, calls, errors := uint32(0), 0, 0
	for _, s := range minutes {
		most, calls, errors = max(most, s.Calls, s.Errors), calls+int(s.Calls), errors+int(s.Errors)
	}
	top := roundUp(int64(most))
	c := chart{ID: "calls", Title: "Calls and errors", Unit: "calls a minute",
		Scale: [3]string{number(top), number(top / 2), "0"}}
	c.Text = fmt.Sprintf("%s in the last hour, %s; at most %s calls a minute.",
		plural(calls, "call"), plural(errors, "error"), number(int64(most)))
	good := bars(minutes,
		func(s sample) (float64, float64) { return float64(s.Errors), float64(max(s.Calls, s.Errors)) }, float64(top))
	bad := bars(minutes, func(s sample) (float64, float64) { return 0, float64(s.Errors) }, float64(top))
	c.Shapes = []shape{{Class: "series-a", Path: good, Name: "calls"}, {Class: "series-bad", Path: bad, Name: "errors"}}
	c.Keys = c.Shapes
	return c
}

func latencyChart(minutes []sample) chart {
	var half, most time.Duration
	for _, s := range minutes {
		half, most = max(half, s.P50), max(most, s.P99)
	}
	top := roundUpDuration(most)
	c := chart{ID: "latency", Title: "Latency", Scale: [3]string{shortDuration(top), shortDuration(top / 2), "0"}}
	c.Text = "There was no call in the last hour."
	if most > 0 {
		c.Text = fmt.Sprintf("In the last hour p50 was at most %s and p99 at most %s.",
			shortDuration(half), shortDuration(most))
	}
	for _, q := range []struct {
		name, class string
		value       func(sample) time.Duration
	}{{"p99", "series-b", func(s sample) time.Duration { return s.P99 }}, {"p50",
		"series-a", func(s sample) time.Duration { return s.P50 }}} {
		path, dots := line(minutes, q.value, top)
		key := shape{Class: q.class, Line: true, Name: q.name, Path: path}
		c.Shapes = append(c.Shapes, key, shape{Class: q.class, Dots: true, Path: dots})
		c.Keys = append(c.Keys, key)
	}
	return c
}

// roundUp returns the next of 2, 4, 10, 20, 40 and so on. Half of it is a whole number, too.
func roundUp(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, step := range [...]int64{2, 4, 10} {
			if n <= step*unit {
				return step * unit
			}
		}
	}
}

// roundUpDuration is roundUp for durations: below a minute in decimal units, above it in
// minutes and hours.
func roundUpDuration(d time.Duration) time.Duration {
	for _, unit := range [...]time.Duration{time.Hour, time.Minute} {
		if d > unit {
			return unit * time.Duration(roundUp(int64((d+unit-1)/unit)))
		}
	}
	if d > 40*time.Second {
		return time.Minute
	}
	return time.Duration(roundUp(int64(max(d, 200*time.Microsecond))))
}

// column returns the left edge of the minute i of n. The newest one is at the right.
func column(i, n int) float64 {
	return float64(shownMinutes-n+i) * columnWidth
}

const (
	shownMinutes = maxSamples / perMinute
	columnWidth  = float64(chartWidth) / float64(shownMinutes)
)

func height(value, most float64) float64 {
	if most == 0 {
		return chartHeight
	}
	return chartHeight - value/most*(chartHeight-2)
}

// bars returns a path with a bar for each minute, between two values.
func bars(minutes []sample, values func(sample) (from, to float64), most float64) string {
	var b strings.Builder
	for i, s := range minutes {
		from, to := values(s)
		if to <= from {
			continue
		}
		x := column(i, len(minutes))
		fmt.Fprintf(&b, "M%.1f %.1fV%.1fH%.1fV%.1fZ",
			x+1, height(from, most), height(to, most), x+columnWidth-1, height(from, most))
	}
	return b.String()
}

// line returns a path through the values of minutes with calls, with a gap where there are
// none, and a path with a dot at each value.
func line(minutes []sample, value func(sample) time.Duration, most time.Duration) (path, dots string) {
	var lines, points strings.Builder
	drawing := false
	for i, s := range minutes {
		if s.P50 == 0 {
			drawing = false
			continue
		}
		x, y := column(i, len(minutes))+columnWidth/2, height(float64(value(s)), float64(most))
		fmt.Fprintf(&points, "M%.1f %.1fh.1", x, y)
		command := "M"
		if drawing {
			command = "L"
		}
		fmt.Fprintf(&lines, "%s%.1f %.1f", command, x, y)
		drawing = true
	}
	return lines.String(), points.String()
}

// A period sums samples up, for the table of a chart.
type period struct {
	Ago int // minutes
	sample
}

const periodSamples = 5 * perMinute // five minutes

// periods sums the samples up in periods of five minutes, the newest first.
func periods(samples []sample) (all []period) {
	for end := len(samples); end > 0; end -= periodSamples {
		all = append(all, period{(len(samples) - end) / perMinute, sum(samples[max(0, end-periodSamples):end])})
	}
	return all
}
