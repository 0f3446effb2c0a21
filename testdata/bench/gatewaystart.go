package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	listRuns  = 15
	coldRuns  = 5
	manyTools = 50 // number of servers
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
	return b.gatewayMemory()
}

// listing starts a gateway and lists its tools, in a session after a handshake.
// It returns the time since the start, and that of the list alone.
func (b *bench) listing(config, home string, want int) (since, alone time.Duration, err error) {
	p, e, err := b.junctorAt(config, home)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	if err := p.reachable(e.address); err != nil {
		return 0, 0, err
	}
	if err := e.open(); err != nil {
		return 0, 0, err
	}
	asked := time.Now()
	n, err := e.list()
	since, alone = time.Since(p.at), time.Since(asked)
	if err == nil && n != want {
		err = fmt.Errorf("%d tools were listed, want %d", n, want)
	}
	return since, alone, err
}

// warmLists measures starts with a catalog on disk.
func (b *bench) warmLists() error {
	fmt.Printf("\n## First list over HTTP\n\nFrom starting the process to the answer to tools/list, handshake included, catalog on disk; %d runs in turns.\n", listRuns)
	fmt.Print("\n| | least | median |\n|---|---|---|\n")
	sizes := []int{1, 10, manyTools}
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
			config, err := b.gatewayConfig(n, "")
			if err != nil {
				return err
			}
			if run == 0 {
				if err := b.fill(config, n); err != nil {
					return err
				}
			}
			since, _, err := b.listing(config, "home", n*toolsEach)
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

// fill waits until the tools of all servers are on disk.
func (b *bench) fill(config string, servers int) error {
	p, e, err := b.junctorAt(config, "home")
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
		n, err := e.list()
		switch {
		case err != nil:
			return err
		case n == servers*toolsEach:
			return nil
		case time.Since(p.at) > startTime:
			return fmt.Errorf("%d tools of %d servers after %s", n, servers, startTime)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// hungStart measures starts with an empty disk and one of ten servers that
// never answers.
func (b *bench) hungStart() error {
	config, err := b.gatewayConfig(10, "mute")
	if err != nil {
		return err
	}
	var since, alone []time.Duration
	for run := range coldRuns {
		home := fmt.Sprintf("cold-%d", run)
		s, a, err := b.listing(config, home, 9*toolsEach)
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
func (b *bench) gatewayMemory() error {
	config, err := b.gatewayConfig(manyTools, "")
	if err != nil {
		return err
	}
	p, e, err := b.junctorAt(config, "home")
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
	for i := range manyTools {
		if err := e.once(e.echo(fmt.Sprintf("s%d__echo", i), 200)); err != nil {
			return err
		}
	}
	time.Sleep(2 * time.Second) // until the processes are idle
	all := treePSS(p.pid)
	fmt.Printf("\nIdle, %d servers connected, shared pages counted once: %.1f MiB, of which the host has %.1f, in %d processes.\n",
		manyTools, float64(all)/1024, float64(onePSS(p.pid))/1024, len(tree(p.pid)))
	return nil
}
