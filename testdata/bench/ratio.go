package main

import (
	"fmt"
	"slices"
	"time"
)

// gatewayReport prints medians over the rounds. Ratios of two routes are
// computed within each round, because the machine changes between rounds.
func (b *bench) gatewayReport(routes []*route, samples map[string][]sample) {
	fmt.Printf("\n## Gateway\n\nMedians of %d rounds; CPU is per call, of host and plugin together; others is how many processors the rest of the machine used.\n", b.rounds)
	fmt.Print("\n| phase | way | calls/s | of direct | median | added | p99 | CPU | CPU of reference | others |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range gatewayPhases {
		direct, ref := samples["direct/"+p.name], samples["reference/"+p.name]
		for _, d := range routes {
			mine := samples[d.name+"/"+p.name]
			m := middle(mine)
			against := "–"
			if ref != nil && d.name != "direct" {
				against = fmt.Sprintf("%.2f×", pairs(mine, ref, func(a, b sample) float64 { return float64(a.cpu) / float64(max(b.cpu, 1)) }))
			}
			cpu := micro(m.cpu)
			if d.name == "direct" { // the echo server is never counted
				cpu = "–"
			}
			fmt.Printf("| %s | %s | %.0f | %.2f | %s | %.0f µs | %s | %s | %s | %.1f |\n", p.name, d.name, m.perSecond,
				pairs(mine, direct, func(a, b sample) float64 { return a.perSecond / b.perSecond }), micro(m.median),
				pairs(mine, direct, func(a, b sample) float64 { return float64(a.median-b.median) / float64(time.Microsecond) }),
				micro(m.p99), cpu, against, m.others)
		}
	}
}

// pairs returns the median of a comparison of two routes in each round.
func pairs(a, b []sample, compare func(a, b sample) float64) float64 {
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
