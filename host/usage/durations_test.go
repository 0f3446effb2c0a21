package usage

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestDurationsAreWithinTheirBounds finds the count of durations from nothing to an hour.
func TestDurationsAreWithinTheirBounds(t *testing.T) {
	last := -1
	for d := time.Duration(0); d < time.Hour; d += d/20 + time.Microsecond {
		i := durationIndex(d)
		if i < last {
			t.Fatalf("%s has the count %d, a shorter one %d", d, i, last)
		}
		last = i
		if i < len(Durations{})-1 && (d >= boundOf(i) || i > 0 && d < boundOf(i-1)) {
			t.Errorf("%s is counted between %s and %s", d, boundOf(i-1), boundOf(i))
		}
	}
	if last != len(Durations{})-1 {
		t.Errorf("an hour has the count %d", last)
	}
	if i := durationIndex(-time.Second); i != 0 {
		t.Errorf("a negative duration has the count %d", i)
	}
}

// TestQuantile compares quantiles with those of a sorted list.
func TestQuantile(t *testing.T) {
	if got := (Durations{}).Quantile(0.5); got != 0 {
		t.Errorf("without requests: %s", got)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var d Durations
	var all []time.Duration
	for range 5000 {
		one := time.Duration(random.ExpFloat64() * float64(50*time.Millisecond))
		all = append(all, one)
		d[durationIndex(one)]++
	}
	slices.Sort(all)
	for _, q := range []float64{0, 0.5, 0.9, 0.99, 1} {
		exact, got := all[int(q*float64(len(all)-1))], d.Quantile(q)
		if got < exact || got > exact*5/4+128*time.Microsecond {
			t.Errorf("quantile %g: %s, exactly %s", q, got, exact)
		}
	}
	if got := d.Sub(d); got != (Durations{}) {
		t.Errorf("%v", got)
	}
	if got := d.Add(d).Sub(d); got != d {
		t.Errorf("%v", got)
	}
}
