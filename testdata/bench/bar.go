package main

import (
	"fmt"
	"strings"
	"time"
)

// A bar is a number that was set before measuring, and what was measured.
type bar struct {
	name     string
	bar      float64
	least    bool // the measured number must be at least the bar; else at most
	format   string
	measured float64
	compared [2]string // the same of the references, without and with a plugin
}

func (r bar) held() bool {
	if r.least {
		return r.measured >= r.bar
	}
	return r.measured <= r.bar
}

// A route's bars for calls, in the order of gatewayPhases.
type callBar struct {
	route, to string
	added     float64    // p50 added to a call alone, relative to a direct call
	perSecond [4]float64 // the other phases, of direct
	p99       float64    // of the second phase, in µs; 0: none
}

var callBars = []callBar{
	{session, "stdio server", 2.4, [4]float64{0.50, 0.52, 0.50, 0.38}, 2000},
	{overHTTP, "server over HTTP", 3.5, [4]float64{0.26, 0.26, 0.26, 0.30}, 0},
}

// callBars compares calls with their bars.
func (b *bench) callBars(taken samples) {
	for _, c := range callBars {
		row := func(name, format string, limit float64, least bool, p phase, compare func(a, b sample) float64) {
			value := func(route string) float64 { return pairs(taken.of(route, p), taken.of(direct, p), compare) }
			b.bars = append(b.bars, bar{name: fmt.Sprintf("%s: %s, %s", c.to, name, p.name), bar: limit, least: least,
				format: format, measured: value(c.route),
				compared: [2]string{fmt.Sprintf(format, value(reference)), fmt.Sprintf(format, value(hop))}})
		}
		row("p50 added, of a direct call", "%.1f×", c.added, false, gatewayPhases[0], relativeMedian)
		for i, limit := range c.perSecond {
			row("calls per second of direct", "%.2f", limit, true, gatewayPhases[i+1], perSecond)
		}
		if c.p99 > 0 {
			row("p99", "%.0f µs", c.p99, false, gatewayPhases[1],
				func(a, _ sample) float64 { return float64(a.p99) / float64(time.Microsecond) })
		}
	}
}

// barReport shows all bars of the run.
func (b *bench) barReport() {
	if len(b.bars) == 0 {
		return
	}
	var text strings.Builder
	text.WriteString(
		"| measurement | bar | Junctor | result | reference | reference with a plugin |\n|---|---|---|---|---|---|\n",
	)
	for _, r := range b.bars {
		sign, result := "≤", "missed"
		if r.least {
			sign = "≥"
		}
		if r.held() {
			result = "held"
		}
		fmt.Fprintf(&text, "| %s | %s "+r.format+" | "+r.format+" | %s | %s | %s |\n",
			r.name, sign, r.bar, r.measured, result, r.compared[0], r.compared[1])
	}
	b.page.add("bars", "Targets", text.String())
}
