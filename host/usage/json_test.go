package usage

import (
	"encoding/json"
	"testing"
	"time"
)

// TestDurationsInJSON encodes each count and reads it again.
func TestDurationsInJSON(t *testing.T) {
	for i := range len(Durations{}) {
		var d, got Durations
		d[i] = uint32(i + 1)
		d[0]++
		text, err := json.Marshal(d)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil || got != d {
			t.Errorf("count %d: %s, %v", i, text, err)
		}
	}
	if text, err := json.Marshal(Durations{}); err != nil || string(text) != "[]" {
		t.Errorf("%s, %v", text, err)
	}
}

// TestWrongDurationsAreRefused reads numbers that MarshalJSON does not write.
func TestWrongDurationsAreRefused(t *testing.T) {
	for _, text := range []string{`{}`, `[1]`, `[[-1,1]]`, `[[1,-1]]`, `[[1e300,1]]`, `[[1,1e300]]`, `[["1",1]]`} {
		if err := json.Unmarshal([]byte(text), &Durations{}); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// BenchmarkBegin counts a request.
func BenchmarkBegin(b *testing.B) {
	var c Counter
	b.ReportAllocs()
	for b.Loop() {
		c.Begin("files")(false)
	}
	if got := c.Of("files"); got.Requests == 0 || got.Durations.Quantile(1) > time.Second {
		b.Errorf("%+v", got)
	}
}
