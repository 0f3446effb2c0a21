package usage

import (
	"math/bits"
	"time"
)

// Durations counts requests by their duration. The bounds of the counts grow by an eighth
// to a quarter from one to the next, from 128 µs to three minutes.
type Durations [84]uint32

const (
	firstBound = 7 // the power of two of the first bound, in microseconds
	steps      = 4 // between two powers of two
)

// durationIndex returns the index of the count for a duration.
func durationIndex(d time.Duration) int {
	us := uint64(max(d.Microseconds(), 0))
	power := bits.Len64(us) - 1
	if power < firstBound {
		return 0
	}
	step := int(us>>(power-2)) & (steps - 1) // the two bits below the highest one
	return min(1+(power-firstBound)*steps+step, len(Durations{})-1)
}

// boundOf returns the upper bound of a count. The last count has none; its lower bound is
// returned.
func boundOf(index int) time.Duration {
	if index == len(Durations{})-1 {
		index--
	}
	power, step := firstBound+index/steps, index%steps
	return time.Duration((steps+step)<<(power-2)) * time.Microsecond
}

// Sub returns the requests that ended after those of before.
func (d Durations) Sub(before Durations) Durations {
	for i := range d {
		d[i] -= before[i]
	}
	return d
}

// Add returns the sum of two.
func (d Durations) Add(o Durations) Durations {
	for i := range d {
		d[i] += o[i]
	}
	return d
}

// Quantile returns a duration that the share q of the requests did not exceed; zero
// without requests.
func (d Durations) Quantile(q float64) time.Duration {
	var total uint64
	for _, n := range d {
		total += uint64(n)
	}
	if total == 0 {
		return 0
	}
	rank, seen := uint64(q*float64(total-1)), uint64(0)
	for i, n := range d {
		if seen += uint64(n); seen > rank {
			return boundOf(i)
		}
	}
	return boundOf(len(d) - 1)
}
