package run

import (
	"testing"
	"time"
)

func TestPercentOf(t *testing.T) {
	for line, want := range map[string]float64{
		"Receiving objects:  45% (9/20), 1 MiB": 45,
		"[download]  45.3% of 10MiB":            45.3,
		"12,5 %":                                12.5,
		"100%":                                  100,
		"0% done":                               0,
		"(7%)":                                  7,
		"1,234,567  45%  1.2MB/s":               45,
		"":                                      -1,
		"%":                                     -1,
		"101%":                                  -1,
		"5%20name":                              -1,
		"a5%":                                   -1,
		"100%%":                                 -1,
		"-5%":                                   -1,
		"1.5.45%":                               -1,
		"frame=  100 fps= 25":                   -1,
		"1234%":                                 -1,
	} {
		if got := percentOf(line); got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
}

// TestProgressOfStreams checks which line counts, also behind a carriage return.
func TestProgressOfStreams(t *testing.T) {
	for _, c := range []struct {
		name, stdout, stderr, last string
		percent                    float64
	}{
		{"stderr", "", "a\rjob 5%\rjob 25%", "job 25%", 25},
		{"stdout", "job 5%\rjob 25%\r", "", "job 25%", 25},
		{"stdout beside messages", "job 25%\n", "warning", "job 25%", 25},
		{"both", "job 25%\n", "phase 3%", "phase 3%", 3},
		{"none", "data", "warning", "warning", -1},
		{"an earlier line", "job 25%\ndone\n", "", "", -1},
	} {
		r := &running{stdout: newCapture(100, stdoutHead), stderr: newCapture(100, stderrHead)}
		_, _ = r.stdout.Write([]byte(c.stdout))
		_, _ = r.stderr.Write([]byte(c.stderr))
		if p := r.progress(time.Now()); p.Last != c.last || p.Percent != c.percent {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// TestMeterAlwaysIncreases checks values for percentages that rise, fall, stay and vanish.
func TestMeterAlwaysIncreases(t *testing.T) {
	var m Meter
	last := 0.0
	for i, c := range []struct{ percent, least, most, total float64 }{
		{-1, 1, 1, 0}, {-1, 2, 2, 0}, {1, 2, 2.2, 100}, {30, 30, 30, 100}, {10, 30, 30.2, 100}, {-1, 30, 30.3, 100},
		{30, 30, 30.4, 100},
		{100, 99.9, 99.9, 100}, {100, 99.9, 99.99, 100}, {0, 99.9, 99.99, 100}, {-1, 99.9, 99.99, 100},
	} {
		value, total := m.Next(Progress{Elapsed: time.Duration(i+1) * time.Second, Percent: c.percent})
		if value <= last || value < c.least || value > c.most || total != c.total {
			t.Errorf("%d: %v of %v after %v", i, value, total, last)
		}
		last = value
	}
	late := Meter{}
	for _, c := range []struct {
		seconds        int
		percent, total float64
	}{{99, -1, 0}, {120, -1, 0}, {121, 5, 0}, {121, 6, 0}} {
		value, total := late.Next(Progress{Elapsed: time.Duration(c.seconds) * time.Second, Percent: c.percent})
		if total != c.total || value < float64(c.seconds) {
			t.Errorf("%d s: %v of %v", c.seconds, value, total)
		}
	}
}
