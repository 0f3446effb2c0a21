package usage

import (
	"sync"
	"testing"
	"time"
)

func TestCounter(t *testing.T) {
	var c Counter
	if got := c.Of("a"); got != (Totals{}) {
		t.Errorf("before a request: %+v", got)
	}
	var work sync.WaitGroup
	for n := range 100 {
		work.Go(func() { c.Begin("a")(n%4 == 0) })
	}
	work.Wait()
	end := c.Begin("a")
	got := c.Of("a")
	if got.Requests != 101 || got.Errors != 25 || got.InFlight != 1 || time.Since(got.Last) > time.Minute {
		t.Errorf("%+v", got)
	}
	end(true)
	if got := c.Of("a"); got.InFlight != 0 || got.Errors != 26 {
		t.Errorf("%+v", got)
	}
	c.Begin("b")(false)
	c.Keep(func(server string) bool { return server == "b" })
	if c.Of("a").Requests != 0 || c.Of("b").Requests != 1 {
		t.Errorf("after Keep: %+v, %+v", c.Of("a"), c.Of("b"))
	}
}
