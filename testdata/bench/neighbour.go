package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A neighbour is a load beside small calls. begin returns when the load has
// started. end waits for its end and returns its error.
type neighbour struct {
	title string
	can   func(d *route) bool
	calls int // number of small calls; 0: as many as fit into a phase
	begin func(b *bench, d *route) (end func() error, err error)
	bar   time.Duration // of p99 with a stdio server; 0: none
}

const (
	turns    = 5 // with and without the load; the medians are printed
	settle   = 100 * time.Millisecond
	sleepers = 100
	hungFor  = 3 * time.Second
	hungWith = 16 // calls that wait for the hanging server
)

var neighbours = []neighbour{
	{title: "100 calls sleep on the same server", begin: asleep,
		can: func(d *route) bool { return d.name != overHTTP }},
	{title: "2 lanes fetch 1 MiB from the same server", begin: fetching, bar: 5 * time.Millisecond},
	{title: "1000 calls while another server hangs", calls: 1000, begin: hung,
		can: func(d *route) bool { return d.next != "" }},
}

// neighbours compares small calls beside a load with small calls alone,
// alternately.
func (b *bench) neighbours(routes []*route) error {
	var text strings.Builder
	text.WriteString(
		"| beside | path | alone p50 | p50 | alone p99 | p99 | p99 to alone |\n|---|---|---|---|---|---|---|\n",
	)
	for _, n := range neighbours {
		p99 := map[string]time.Duration{}
		for _, d := range routes {
			if n.can != nil && !n.can(d) {
				continue
			}
			row, beside, err := b.neighbour(n, d)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", d.name, n.title, err)
			}
			text.WriteString(row)
			p99[d.name] = beside
		}
		if n.bar > 0 {
			b.bars = append(b.bars,
				bar{name: "p99 of small calls while " + n.title, bar: n.bar.Seconds() * 1000, format: "%.1f ms",
					measured: p99[session].Seconds() * 1000,
					compared: [2]string{milli(p99[reference]), milli(p99[hop])}})
		}
	}
	b.page.add("neighbours", fmt.Sprintf("Small calls beside other work, medians of %d turns", turns), text.String())
	return nil
}

// neighbour returns a row of the table, and p99 of the calls beside the load.
func (b *bench) neighbour(n neighbour, d *route) (row string, p99 time.Duration, err error) {
	var alone, beside, alone50, beside50 []time.Duration
	var ratios []float64
	for range turns {
		quiet, err := b.small(n, d)
		if err != nil {
			return "", 0, err
		}
		end, err := n.begin(b, d)
		if err != nil {
			return "", 0, err
		}
		time.Sleep(settle)
		busy, err := b.small(n, d)
		if ended := end(); err == nil {
			err = ended
		}
		if err != nil {
			return "", 0, err
		}
		alone, beside = append(alone, percentile(quiet, 99)), append(beside, percentile(busy, 99))
		alone50, beside50 = append(alone50, percentile(quiet, 50)), append(beside50, percentile(busy, 50))
		ratios = append(ratios, float64(percentile(busy, 99))/float64(percentile(quiet, 99)))
	}
	p99 = median(beside)
	row = fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %.2f |\n",
		n.title, d.name, micro(median(alone50)), micro(median(beside50)),
		micro(median(alone)), micro(p99), median(ratios))
	return row, p99, nil
}

// small makes small calls and returns their durations, sorted.
func (b *bench) small(n neighbour, d *route) ([]time.Duration, error) {
	l, err := d.lane()
	if err != nil {
		return nil, err
	}
	defer l.close()
	r := d.echo(d.tool+"echo", 200)
	var took []time.Duration
	most := n.calls
	if most == 0 {
		most = math.MaxInt
	}
	for begin := time.Now(); len(took) < most && (n.calls > 0 || time.Since(begin) < b.time); {
		t, err := l.do(r)
		if err != nil {
			return nil, err
		}
		took = append(took, t)
	}
	slices.Sort(took)
	return took, nil
}

// A background is a group of calls beside the measured ones.
type background struct {
	calls sync.WaitGroup
	size  int
	ended atomic.Int32

	mu  sync.Mutex
	err error // guarded by mu; first error
}

// add makes calls on a new connection until enough returns true.
func (c *background) add(d *route, r *request, enough func() bool) {
	c.size++
	c.calls.Go(func() {
		err := repeat(d, r, enough)
		c.ended.Add(1)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = cmp.Or(c.err, err)
	})
}

func repeat(d *route, r *request, enough func() bool) error {
	l, err := d.lane()
	if err != nil {
		return err
	}
	defer l.close()
	for {
		if _, err := l.do(r); err != nil || enough() {
			return err
		}
	}
}

func (c *background) wait() error {
	c.calls.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// during is wait for calls that must last longer than the measured ones.
// Otherwise the measurement is invalid.
func (c *background) during() error {
	early := c.ended.Load()
	if err := c.wait(); err != nil {
		return err
	}
	if early > 0 {
		return fmt.Errorf("%d of %d background calls ended before the measured ones: the machine is too slow",
			early, c.size)
	}
	return nil
}

func one() bool { return true }

func asleep(b *bench, d *route) (func() error, error) {
	c := &background{}
	r := d.call(d.tool+"sleep", fmt.Sprintf(`{"ms":%d}`, (b.time+time.Second).Milliseconds()))
	for range sleepers {
		c.add(d, r, one)
	}
	return c.during, nil
}

func fetching(_ *bench, d *route) (func() error, error) {
	c := &background{}
	var over atomic.Bool
	r := d.echo(d.tool+"echo", 1<<20)
	for range 2 {
		c.add(d, r, over.Load)
	}
	return func() error { over.Store(true); return c.wait() }, nil
}

func hung(_ *bench, d *route) (func() error, error) {
	c := &background{}
	if err := d.once(d.echo(d.next+"echo", 200)); err != nil { // starts the server
		return nil, err
	}
	c.add(d, d.call(d.next+"stall", fmt.Sprintf(`{"ms":%d}`, hungFor.Milliseconds())), one)
	time.Sleep(settle) // until the server reads nothing any more
	for range hungWith {
		c.add(d, d.echo(d.next+"echo", 200), one)
	}
	return c.during, nil
}
