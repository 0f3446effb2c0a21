package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const (
	diffMost   = 1.3 // of the other build's CPU a call
	diffRounds = 5
	diffTime   = 500 * time.Millisecond
)

// A diffCase is a kind of call that two builds are compared by.
type diffCase struct {
	tool string
	phase
}

var diffCases = []diffCase{
	{"s0__", phase{"200 B, one at a time", 200, 1}}, {"s0__", phase{"200 B, 16 in flight", 200, 16}},
	{"s0__", phase{"16 KiB, 16 in flight", 16 << 10, 16}}, {"s0__", phase{"1 MiB, 4 in flight", 1 << 20, 4}},
	{"h__", phase{"server over HTTP, 200 B, 16 in flight", 200, 16}},
}

// diff compares the CPU of calls of this build with that of another, in turns.
// It does not look at the time of calls, which depends on other programs. A case
// above diffMost is measured once more before it counts.
func (b *bench) diff(other string) error {
	servers, e, err := b.direct()
	if err != nil {
		return err
	}
	defer servers.stop()
	config, err := b.gatewayConfig("diff", b.stdioServers(1, "echo")+httpServer("h", e.address), "")
	if err != nil {
		return err
	}
	then, err := b.build(other, config)
	if err != nil {
		fmt.Printf("The other build cannot be compared, because it does not run with this configuration: %v\n", err)
		return nil
	}
	defer then.stop()
	now, err := b.build(b.junctor, config)
	if err != nil {
		return err
	}
	defer now.stop()
	fmt.Printf("CPU of host and plugin for a call, medians of %d rounds in turns.\n\n| calls | other build | this build | ratio |\n|---|---|---|---|\n",
		diffRounds)
	var slower []string
	for _, c := range diffCases {
		ratio, err := b.ratio(c, then, now)
		if err == nil && ratio > diffMost {
			fmt.Println("| *once more* | | | |")
			ratio, err = b.ratio(c, then, now)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if ratio > diffMost {
			slower = append(slower, fmt.Sprintf("%s: %.2f", c.name, ratio))
		}
	}
	if len(slower) > 0 {
		return errors.New("calls need more than " + fmt.Sprint(diffMost) + " times the CPU of the other build: " +
			strings.Join(slower, "; "))
	}
	return nil
}

// build starts a build of Junctor and warms it up.
func (b *bench) build(junctor, config string) (*route, error) {
	junctor, err := filepath.Abs(junctor)
	if err != nil {
		return nil, err
	}
	b.builds++
	p, e, err := b.junctorAt(junctor, config, fmt.Sprintf("build-%d", b.builds))
	if err != nil {
		return nil, err
	}
	d := &route{name: junctor, program: p, endpoint: e}
	err = d.reachable(d.address)
	if err == nil {
		err = d.open()
	}
	for _, c := range diffCases {
		d.tool = c.tool
		if err == nil {
			_, err = b.through(d, c.phase, diffTime)
		}
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return d, nil
}

// ratio returns the median ratio of the CPU of two builds.
func (b *bench) ratio(c diffCase, then, now *route) (float64, error) {
	then.tool, now.tool = c.tool, c.tool
	var before, after []sample
	for round := range diffRounds {
		order := []*route{then, now}
		if round%2 == 1 {
			order = []*route{now, then}
		}
		for _, d := range order {
			s, err := b.through(d, c.phase, diffTime)
			if err != nil {
				return 0, err
			}
			if d == then {
				before = append(before, s)
			} else {
				after = append(after, s)
			}
		}
	}
	ratio := pairs(after, before, func(a, b sample) float64 { return float64(a.cpu) / float64(max(b.cpu, 1)) })
	fmt.Printf("| %s | %s | %s | %.2f |\n", c.name, micro(middle(before).cpu), micro(middle(after).cpu), ratio)
	return ratio, nil
}
