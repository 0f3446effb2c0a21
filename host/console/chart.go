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

// A chart is a drawing of samples.
type chart struct {
	ID, Title string
	Text      string // what the drawing shows, for people who do not see it
	Top       string // the value at its upper edge
	Shapes    []shape
	Keys      []shape // with a name
}

// A shape is a path of a chart.
type shape struct {
	Class string // of the style sheet
	Path  string
	Name  string
	Line  bool // it is not filled
}

// charts returns the drawings of samples.
func charts(samples []sample) []chart {
	return []chart{callsChart(samples), latencyChart(samples)}
}

const perMinute = int(time.Minute / sampleEvery)

func callsChart(samples []sample) chart {
	most, calls, errors := uint32(0), 0, 0
	for _, s := range samples {
		most, calls, errors = max(most, s.Calls, s.Errors), calls+int(s.Calls), errors+int(s.Errors)
	}
	c := chart{ID: "calls", Title: "Calls and errors", Top: fmt.Sprintf("%d calls a minute", int(most)*perMinute)}
	c.Text = fmt.Sprintf("%d calls in the last hour, %d of them with errors; at most %s.", calls, errors, c.Top)
	good := bars(samples, func(s sample) (float64, float64) { return float64(s.Errors), float64(max(s.Calls, s.Errors)) }, float64(most))
	bad := bars(samples, func(s sample) (float64, float64) { return 0, float64(s.Errors) }, float64(most))
	c.Shapes = []shape{{Class: "series-a", Path: good, Name: "calls"}, {Class: "series-bad", Path: bad, Name: "calls with errors"}}
	c.Keys = c.Shapes
	return c
}

func latencyChart(samples []sample) chart {
	var most time.Duration
	for _, s := range samples {
		most = max(most, s.Most)
	}
	c := chart{ID: "latency", Title: "Latency", Top: shortDuration(most)}
	c.Text = fmt.Sprintf("99 of 100 calls took at most %s at any time in the last hour.", c.Top)
	c.Shapes = []shape{
		{Class: "series-b", Line: true, Name: "99 of 100 calls", Path: line(samples, func(s sample) float64 { return float64(s.Most) }, float64(most))},
		{Class: "series-a", Line: true, Name: "half of the calls", Path: line(samples, func(s sample) float64 { return float64(s.Half) }, float64(most))},
	}
	c.Keys = c.Shapes
	return c
}

// column returns the left edge of the sample i of n. The newest sample is at the right.
func column(i, n int) float64 {
	return float64(maxSamples-n+i) * chartWidth / maxSamples
}

func height(value, most float64) float64 {
	if most == 0 {
		return chartHeight
	}
	return chartHeight - value/most*(chartHeight-2)
}

// bars returns a path with a bar for each sample, between two values.
func bars(samples []sample, values func(sample) (from, to float64), most float64) string {
	var b strings.Builder
	for i, s := range samples {
		from, to := values(s)
		if to <= from {
			continue
		}
		x := column(i, len(samples))
		fmt.Fprintf(&b, "M%.1f %.1fV%.1fH%.1fV%.1fZ", x, height(from, most), height(to, most), x+1.6, height(from, most))
	}
	return b.String()
}

// line returns a path through the values of samples with calls. It has a gap where there
// are none.
func line(samples []sample, value func(sample) float64, most float64) string {
	var b strings.Builder
	drawing := false
	for i, s := range samples {
		if s.Half == 0 {
			drawing = false
			continue
		}
		x, y := column(i, len(samples))+1, height(value(s), most)
		if !drawing {
			fmt.Fprintf(&b, "M%.1f %.1fh.1", x, y) // a dot, if nothing follows
		} else {
			fmt.Fprintf(&b, "L%.1f %.1f", x, y)
		}
		drawing = true
	}
	return b.String()
}

// A period sums samples up, for the table of a chart.
type period struct {
	Ago           int // minutes
	Calls, Errors uint32
	Half, Most    time.Duration // the largest
}

const periodSamples = 5 * 60 / 10 // five minutes

// periods sums the samples up in periods of five minutes, the newest first.
func periods(samples []sample) (all []period) {
	for end := len(samples); end > 0; end -= periodSamples {
		p := period{Ago: (len(samples) - end) / perMinute}
		for _, s := range samples[max(0, end-periodSamples):end] {
			p.Calls, p.Errors = p.Calls+s.Calls, p.Errors+s.Errors
			p.Half, p.Most = max(p.Half, s.Half), max(p.Most, s.Most)
		}
		all = append(all, p)
	}
	return all
}
