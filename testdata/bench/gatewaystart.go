package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	listRuns = 15
	coldRuns = 5
)

// gatewayStarts measures the time until the first list of tools, and the memory
// of an idle gateway.
func (b *bench) gatewayStarts() error {
	if err := b.warmLists(); err != nil {
		return err
	}
	if err := b.hungStart(); err != nil {
		return err
	}
	for _, m := range []struct {
		servers int
		bar     float64
	}{{1, 20}, {50, 45}} {
		if err := b.gatewayMemory(m.servers, m.bar); err != nil {
			return err
		}
	}
	return nil
}

// listing starts a gateway and lists its tools, with or without a session. It
// returns the time since the start, and that of the list alone.
func (b *bench) listing(config, home string, session bool, want int) (since, alone time.Duration, err error) {
	p, e, err := b.junctorAt(b.junctor, config, home)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	if err := p.reachable(e.address); err != nil {
		return 0, 0, err
	}
	if !session {
		e = e.stateless()
	}
	if err := e.open(); err != nil {
		return 0, 0, err
	}
	asked := time.Now()
	names, err := e.list()
	since, alone = time.Since(p.at), time.Since(asked)
	if err == nil && len(names) != want {
		err = fmt.Errorf("%d tools were listed, want %d", len(names), want)
	}
	return since, alone, err
}

// warmLists measures starts with a catalog on disk.
func (b *bench) warmLists() error {
	fmt.Printf("\n## First list over HTTP\n\nFrom starting the process to the answer to tools/list, handshake included, catalog on disk; %d runs in turns.\n",
		listRuns)
	fmt.Print("\n| | least | median |\n|---|---|---|\n")
	sizes := []int{1, 10, 50}
	took := make([][]time.Duration, len(sizes)+1)
	for run := range listRuns + 1 {
		floor, err := b.directList()
		if err != nil {
			return err
		}
		if run > 0 { // the first run fills the caches
			took[0] = append(took[0], floor)
		}
		for i, n := range sizes {
			config, err := b.gatewayConfig(fmt.Sprintf("list-%d", n), b.stdioServers(n, "echo"), "")
			if err != nil {
				return err
			}
			if run == 0 {
				if err := b.fill(config, "home", n*toolsEach); err != nil {
					return err
				}
			}
			since, _, err := b.listing(config, "home", true, n*toolsEach)
			if err != nil {
				return fmt.Errorf("%d servers: %w", n, err)
			}
			if run > 0 {
				took[i+1] = append(took[i+1], since)
			}
		}
	}
	fmt.Printf("| echo server | %s | %s |\n", milli(slices.Min(took[0])), milli(median(took[0])))
	for i, n := range sizes {
		fmt.Printf("| junctor, servers: %d | %s | %s |\n", n, milli(slices.Min(took[i+1])), milli(median(took[i+1])))
		b.bars = append(b.bars, bar{
			name: fmt.Sprintf("`tools/list` after a start with a catalog on disk, servers: %d", n), bar: 40,
			format:   "%.0f ms",
			measured: median(took[i+1]).Seconds() * 1000,
		})
	}
	return nil
}

// directList starts the echo server alone and lists its tools.
func (b *bench) directList() (time.Duration, error) {
	p, e, err := b.direct()
	if err != nil {
		return 0, err
	}
	defer p.stop()
	if err := e.open(); err != nil {
		return 0, err
	}
	_, err = e.list()
	return time.Since(p.at), err
}

// fill waits until the catalog of all servers is on disk.
func (b *bench) fill(config, home string, tools int) error {
	p, e, err := b.junctorAt(b.junctor, config, home)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.reachable(e.address); err != nil {
		return err
	}
	if err := e.open(); err != nil {
		return err
	}
	for {
		names, err := e.list()
		switch {
		case err != nil:
			return err
		case len(names) == tools:
			return nil
		case time.Since(p.at) > startTime:
			return fmt.Errorf("%d of %d tools after %s", len(names), tools, startTime)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// hungStart measures starts with an empty disk and one of ten servers that
// never answers. The first list of a session would wait for it.
func (b *bench) hungStart() error {
	config, err := b.gatewayConfig("hung", b.stdioServers(9, "echo")+b.stdioServer("mute", "", "mute"), "")
	if err != nil {
		return err
	}
	var since, alone []time.Duration
	for run := range coldRuns {
		home := fmt.Sprintf("cold-%d", run)
		s, a, err := b.listing(config, home, false, 9*toolsEach)
		if err != nil {
			return err
		}
		since, alone = append(since, s), append(alone, a)
		if err := os.RemoveAll(filepath.Join(b.dir, home)); err != nil {
			return err
		}
	}
	fmt.Printf("\nNothing on disk, and one server of ten never answers: the tools of the other nine come %s after the start and %s after they were asked for, the median of %d starts; at most %s.\n",
		milli(median(since)), milli(median(alone)), coldRuns, milli(slices.Max(alone)))
	return nil
}

// gatewayMemory measures an idle gateway with all servers connected.
func (b *bench) gatewayMemory(servers int, limit float64) error {
	config, err := b.gatewayConfig(fmt.Sprintf("memory-%d", servers), b.stdioServers(servers, "echo"), "")
	if err != nil {
		return err
	}
	p, e, err := b.junctorAt(b.junctor, config, "home")
	if err != nil {
		return err
	}
	defer p.stop()
	if err := p.reachable(e.address); err != nil {
		return err
	}
	if err := e.open(); err != nil {
		return err
	}
	for i := range servers {
		if err := e.once(e.echo(fmt.Sprintf("s%d__echo", i), 200)); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second) // until the processes are idle
	all := mebibytes(treePSS(p.pid))
	fmt.Printf("\nIdle, %d servers connected, shared pages counted once: %.1f MiB, of which the host has %.1f, in %d processes.\n",
		servers, all, mebibytes(onePSS(p.pid)), len(tree(p.pid)))
	b.bars = append(b.bars,
		bar{name: fmt.Sprintf("memory of an idle host and plugin (PSS), servers connected: %d", servers), bar: limit,
			format: "%.1f MiB", measured: all})
	return nil
}

func mebibytes(kib int) float64 { return float64(kib) / 1024 }
