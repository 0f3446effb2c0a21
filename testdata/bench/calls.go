package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A target is a way to reach the echo server.
type target struct {
	name    string
	tool    string
	command []string
}

type phase struct {
	name  string
	bytes int
	lanes int
}

var phases = []phase{
	{"200 B, one at a time", 200, 1}, {"200 B, 64 in flight", 200, 64},
	{"16 KiB, one at a time", 16 << 10, 1}, {"16 KiB, 64 in flight", 16 << 10, 64},
	{"1 MiB, one at a time", 1 << 20, 1}, {"1 MiB, 64 in flight", 1 << 20, 64},
}

// A sample is the result of one phase.
type sample struct {
	perSecond float64
	median    time.Duration
	p99       time.Duration
	cpu       time.Duration // per call, of the tree without the echo server
	others    float64       // processors that the rest of the machine used
}

// calls measures calls to each target, alternately.
func (b *bench) calls() error {
	config, err := b.config(1)
	if err != nil {
		return err
	}
	targets := []target{
		{"direct", "echo", []string{b.self, "echo"}},
		{"junctor", "s0__echo", []string{b.junctor, "-c", config, "serve", "--log", "error"}},
	}
	if b.ref != "" {
		targets = append(targets, target{"reference", "s0__echo", strings.Fields(b.ref)})
	}
	samples := map[string][]sample{}
	for round := range b.rounds {
		for i := range targets {
			t := targets[(i+round)%len(targets)]
			if err := b.measure(t, samples); err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	b.report(targets, samples)
	return nil
}

func (b *bench) measure(t target, into map[string][]sample) error {
	c, err := start([]string{"JUNCTOR_HOME=" + b.dir + "/home"}, t.command...)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.handshake(t.tool); err != nil {
		return err
	}
	for range 200 {
		if err := c.call(200); err != nil {
			return err
		}
	}
	for _, p := range phases {
		s, err := b.phase(c, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		key := t.name + "/" + p.name
		into[key] = append(into[key], s)
	}
	return nil
}

func (b *bench) phase(c *client, p phase) (sample, error) {
	one := func() (time.Duration, error) {
		at := time.Now()
		err := c.call(p.bytes)
		return time.Since(at), err
	}
	return drive(c.cmd.Process.Pid, b.time, slices.Repeat([]func() (time.Duration, error){one}, p.lanes))
}

// drive makes calls on every lane, one after the other, for a duration. The
// tree of pid answers them.
func drive(pid int, long time.Duration, lanes []func() (time.Duration, error)) (sample, error) {
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	cpu, busy, ours := treeCPU(pid), busyCPU(), familyCPU()
	begin := time.Now()
	var wg sync.WaitGroup
	for _, call := range lanes {
		wg.Go(func() {
			var mine []time.Duration
			for time.Since(begin) < long {
				d, err := call()
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				mine = append(mine, d)
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	wg.Wait()
	if failed != nil || len(took) == 0 {
		return sample{}, fmt.Errorf("calls failed: %v", failed)
	}
	all := time.Since(begin)
	slices.Sort(took)
	return sample{
		perSecond: float64(len(took)) / all.Seconds(), median: took[len(took)/2], p99: percentile(took, 99),
		cpu:    (treeCPU(pid) - cpu) / time.Duration(len(took)),
		others: max(0, (busyCPU()-busy-familyCPU()+ours).Seconds()/all.Seconds()),
	}, nil
}

// percentile returns a percentile of sorted durations.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// report prints medians over the rounds and their ratios.
func (b *bench) report(targets []target, samples map[string][]sample) {
	fmt.Printf("\n## Calls\n\nMedians of %d rounds. CPU is per call, of the whole process tree without the server.\n",
		b.rounds)
	fmt.Print("\n| phase | target | calls/s | of direct | median | added | CPU |")
	if b.ref != "" {
		fmt.Print(" CPU of reference |")
	}
	fmt.Print("\n|---|---|---|---|---|---|---|")
	if b.ref != "" {
		fmt.Print("---|")
	}
	fmt.Println()
	for _, p := range phases {
		direct := middle(samples["direct/"+p.name])
		ref := middle(samples["reference/"+p.name])
		for _, t := range targets {
			s := middle(samples[t.name+"/"+p.name])
			fmt.Printf("| %s | %s | %.0f | %.2f | %s | %s | %s |",
				p.name, t.name, s.perSecond, s.perSecond/direct.perSecond,
				micro(s.median), micro(s.median-direct.median), micro(s.cpu))
			if b.ref != "" && ref.cpu > 0 {
				fmt.Printf(" %.2f× |", float64(s.cpu)/float64(ref.cpu))
			}
			fmt.Println()
		}
	}
}

func middle(s []sample) sample {
	if len(s) == 0 {
		return sample{}
	}
	pick := func(less func(a, b sample) int) sample {
		sorted := slices.SortedFunc(slices.Values(s), less)
		return sorted[len(sorted)/2]
	}
	return sample{
		perSecond: pick(func(a, b sample) int { return int(a.perSecond - b.perSecond) }).perSecond,
		median:    pick(func(a, b sample) int { return int(a.median - b.median) }).median,
		p99:       pick(func(a, b sample) int { return int(a.p99 - b.p99) }).p99,
		cpu:       pick(func(a, b sample) int { return int(a.cpu - b.cpu) }).cpu,
		others:    pick(func(a, b sample) int { return cmp.Compare(a.others, b.others) }).others,
	}
}

func milli(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1000) }

func micro(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }
