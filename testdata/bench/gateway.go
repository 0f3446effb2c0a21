package main

import (
	"fmt"
	"time"
)

// gateway measures Junctor over HTTP with authentication and checked arguments.
func (b *bench) gateway() error {
	routes, stop, err := b.routes()
	defer stop()
	if err != nil {
		return err
	}
	if err := b.gatewayCalls(routes); err != nil {
		return err
	}
	if err := b.neighbours(routes); err != nil {
		return err
	}
	stop()
	return b.gatewayStarts()
}

// gatewayPhases are in order of duration.
var gatewayPhases = []phase{
	{"200 B, one at a time", 200, 1}, {"200 B, 16 in flight", 200, 16}, {"200 B, 64 in flight", 200, 64},
	{"16 KiB, 16 in flight", 16 << 10, 16}, {"1 MiB, 16 in flight", 1 << 20, 16},
}

// gatewayCalls measures calls on each route, in alternating phases.
func (b *bench) gatewayCalls(routes []*route) error {
	for _, d := range routes { // warms up
		for _, p := range gatewayPhases {
			if _, err := b.through(d, p, 200*time.Millisecond); err != nil {
				return fmt.Errorf("%s: %s: %w", d.name, p.name, err)
			}
		}
	}
	taken := samples{}
	for round := range b.rounds {
		for _, p := range gatewayPhases {
			for i := range routes {
				d := routes[(i+round)%len(routes)]
				s, err := b.through(d, p, b.time)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", d.name, p.name, err)
				}
				taken.add(d.name, p, s)
			}
		}
	}
	b.callBars(taken)
	b.gatewayReport(routes, taken)
	return nil
}

// through measures one phase with its own connections.
func (b *bench) through(d *route, p phase, long time.Duration) (sample, error) {
	lanes := make([]func() (time.Duration, error), p.lanes)
	r := d.echo(d.tool+"echo", p.bytes)
	for i := range lanes {
		l, err := d.lane()
		if err != nil {
			return sample{}, err
		}
		defer l.close()
		lanes[i] = func() (time.Duration, error) { return l.do(r) }
		if _, err := l.do(r); err != nil {
			return sample{}, err
		}
	}
	return drive(d.pid, long, lanes)
}
