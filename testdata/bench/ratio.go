package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// samples are the results of a phase on a route, one for each round.
type samples map[string][]sample

func (s samples) add(route string, p phase, one sample) {
	s[route+"/"+p.name] = append(s[route+"/"+p.name], one)
}

func (s samples) of(route string, p phase) []sample { return s[route+"/"+p.name] }

// gatewayReport shows medians over the rounds. Ratios of two routes are computed
// within each round, because the machine changes between rounds.
func (b *bench) gatewayReport(routes []*route, taken samples) {
	var text strings.Builder
	text.WriteString("| calls | path | calls/s | of direct | p50 | added p50 | p99 | CPU | CPU of reference |\n|---|---|---|---|---|---|---|---|---|\n")
	var others []float64
	for _, p := range gatewayPhases {
		base, ref := taken.of(direct, p), taken.of(reference, p)
		for _, d := range routes {
			mine := taken.of(d.name, p)
			m := middle(mine)
			others = append(others, m.others)
			cpu, against := micro(m.cpu), fmt.Sprintf("%.2f×",
				pairs(mine, ref, func(a, b sample) float64 { return float64(a.cpu) / float64(max(b.cpu, 1)) }))
			if d.name == direct { // the echo server is never counted
				cpu, against = "–", "–"
			}
			fmt.Fprintf(&text, "| %s | %s | %.0f | %.2f | %s | %.0f µs | %s | %s | %s |\n", p.name, d.name, m.perSecond,
				pairs(mine, base, perSecond), micro(m.median), pairs(mine, base, addedMedian), micro(m.p99),
				cpu, against)
		}
	}
	b.page.add("ratios", "All calls over HTTP", text.String())
	b.page.conditions(b.rounds, middle(taken.of(direct, gatewayPhases[0])).median, median(others))
}

// Comparisons of a route with the direct connection.
func perSecond(a, b sample) float64 { return a.perSecond / b.perSecond }

func addedMedian(a, b sample) float64 { return float64(a.median-b.median) / float64(time.Microsecond) }

func relativeMedian(a, b sample) float64 { return float64(a.median-b.median) / float64(b.median) }

// pairs returns the median of a comparison of two routes in each round.
func pairs(a, b []sample, compare func(a, b sample) float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	each := make([]float64, len(a))
	for i := range a {
		each[i] = compare(a[i], b[i])
	}
	return median(each)
}

func median[T int | float64 | time.Duration](of []T) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
