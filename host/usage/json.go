package usage

import (
	"encoding/json"
	"fmt"
	"time"
)

// MarshalJSON returns a list of pairs: the upper bound of a count in milliseconds, and the
// count. Counts of zero are left out.
func (d Durations) MarshalJSON() ([]byte, error) {
	pairs := [][2]float64{}
	for i, n := range d {
		if n > 0 {
			pairs = append(pairs, [2]float64{float64(boundOf(i).Microseconds()) / 1000, float64(n)})
		}
	}
	if last := len(d) - 1; d[last] > 0 { // it has no bound: more than that of the count before
		pairs[len(pairs)-1][0]++
	}
	return json.Marshal(pairs)
}

// UnmarshalJSON reads what MarshalJSON returns. It fails for other numbers.
func (d *Durations) UnmarshalJSON(text []byte) error {
	var pairs [][2]float64
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	*d = Durations{}
	for _, p := range pairs {
		if p[0] < 0 || p[0] > float64(24*time.Hour.Milliseconds()) || p[1] < 0 || p[1] > 1<<32-1 {
			return fmt.Errorf("%g requests of at most %g ms", p[1], p[0])
		}
		bound := time.Duration(p[0]*1000+0.5) * time.Microsecond // rounded, because of its form
		d[durationIndex(bound-time.Microsecond)] += uint32(p[1])
	}
	return nil
}
