package main

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// A series measures costs at several sizes of one thing.
type series struct {
	title string
	base  int // size that the costs are compared with
	sizes [4]int

	// run starts a gateway for a size and returns its costs, always the same
	// ones in the same order.
	run func(b *bench, size int) ([]cost, error)
}

// A cost is one measured number.
type cost struct {
	name  string
	value float64
	unit  string
}

const (
	manyRounds = 2 // the least cost of the rounds counts: other programs only add
	manyPhase  = 700 * time.Millisecond
	manyIdle   = 700 * time.Millisecond // before memory is read
	manyNoise  = 0.05                   // of the base: an increase up to it is none
	exponent   = 1.1                    // bar
)

// many measures costs against sizes.
func (b *bench) many() error {
	began := time.Now()
	var text strings.Builder
	text.WriteString("| | cost | base | | | | | exponent |\n|---|---|---|---|---|---|---|---|\n")
	for _, s := range manySeries {
		least, err := b.measureSeries(s)
		if err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
		text.WriteString(s.rows(least))
	}
	b.page.add("many", "Cost by size", text.String())
	fmt.Printf("\nThis took %.0f s.\n", time.Since(began).Seconds())
	return nil
}

// measureSeries returns the costs of the base and of each size.
func (b *bench) measureSeries(s series) (least [5][]cost, err error) {
	for range manyRounds {
		for i, size := range append([]int{s.base}, s.sizes[:]...) {
			costs, err := s.run(b, size)
			if err != nil {
				return least, fmt.Errorf("%d: %w", size, err)
			}
			if least[i] == nil {
				least[i] = costs
			}
			for k := range costs {
				least[i][k].value = min(least[i][k].value, costs[k].value)
			}
		}
	}
	return least, nil
}

// rows returns the rows of a series.
func (s series) rows(least [5][]cost) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| **%s** | | %s |", s.title, thousands(s.base))
	for _, size := range s.sizes {
		fmt.Fprintf(&text, " %s |", thousands(size))
	}
	text.WriteString(" |\n")
	for k, c := range least[0] {
		fmt.Fprintf(&text, "| | %s |", c.name)
		var increase [4]float64
		for i := range least {
			value := least[i][k].value
			fmt.Fprintf(&text, " %s %s |", number(value), c.unit)
			if i > 0 {
				increase[i-1] = value - c.value
			}
		}
		fmt.Fprintf(&text, " %s |\n", s.fit(increase, c.value*manyNoise))
	}
	return text.String()
}

// fit returns the exponent of the increase with the size: the slope of the line
// through the logarithms, by least squares. Sizes whose increase is not above
// the noise are left out.
func (s series) fit(increase [4]float64, noise float64) string {
	var x, y []float64
	for i, more := range increase {
		if size := s.sizes[i] - s.base; size > 0 && more > noise {
			x, y = append(x, math.Log(float64(size))), append(y, math.Log(more))
		}
	}
	switch len(x) {
	case 0, 1:
		return "none"
	}
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
	text := fmt.Sprintf("%.2f", slope)
	if slope > exponent {
		text += ", above " + fmt.Sprint(exponent)
	}
	return text
}

// number renders a cost with three digits.
func number(v float64) string {
	digits := 2 - int(math.Floor(math.Log10(max(math.Abs(v), 0.01))))
	return fmt.Sprintf("%.*f", min(max(digits, 0), 2), v)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d %03d", n/1000, n%1000)
}

// A running gateway is measured by its process tree.
type running struct {
	*program
	*endpoint
}

// manyLimits are above every size.
const manyLimits = `    max_in_flight = 3000
    sessions {
      max = 6000
    }
`

// runningWith starts a gateway whose catalog of so many tools is on disk.
func (b *bench) runningWith(name, servers string, tools int) (*running, error) {
	config, err := b.gatewayConfig(name, servers, manyLimits)
	if err != nil {
		return nil, err
	}
	if err := b.filled(config, tools); err != nil {
		return nil, err
	}
	p, e, err := b.junctorAt(b.junctor, config, "many")
	if err != nil {
		return nil, err
	}
	r := &running{p, e}
	if err := cmp.Or(p.reachable(e.address), e.open()); err != nil {
		p.stop()
		return nil, err
	}
	return r, nil
}

// memory returns the cost in memory once the gateway is idle.
func (r *running) memory() cost {
	time.Sleep(manyIdle)
	return cost{"memory of host and plugin", mebibytes(treePSS(r.pid)), "MiB"}
}

// smallCalls returns the cost of small calls, 16 in flight. tools are called in
// turn.
func (r *running) smallCalls(tools ...string) (cost, error) {
	d := &route{program: r.program, endpoint: r.endpoint}
	lanes := make([]func() (time.Duration, error), 16)
	requests := make([]*request, len(tools))
	for i, tool := range tools {
		requests[i] = d.echo(tool, 200)
	}
	for i := range lanes {
		l, err := d.lane()
		if err != nil {
			return cost{}, err
		}
		defer l.close()
		next := i
		lanes[i] = func() (time.Duration, error) { next++; return l.do(requests[next%len(requests)]) }
		if _, err := lanes[i](); err != nil {
			return cost{}, err
		}
	}
	s, err := drive(r.pid, manyPhase, lanes)
	return cost{"CPU of a small call, 16 in flight", float64(s.cpu) / float64(time.Microsecond), "µs"}, err
}

// used returns the CPU cost of doing something.
func (r *running) used(name string, do func() error) (cost, error) {
	before := treeCPU(r.pid)
	err := do()
	return cost{name, (treeCPU(r.pid) - before).Seconds() * 1000, "ms"}, err
}
