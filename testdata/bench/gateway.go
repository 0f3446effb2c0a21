package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A route is one way over HTTP to the echo server.
type route struct {
	name string
	tool string // prefix of the first server's tools
	next string // prefix of a second server's tools; empty: none
	*program
	*endpoint
}

// token is the token of the clients.
const token = "d2b1c6a4f0e94f7f8a53-bench"

// gateway measures Junctor over HTTP with authentication and checked arguments.
func (b *bench) gateway() error {
	routes, stop, err := b.routes()
	defer stop()
	if err != nil {
		return err
	}
	for _, d := range routes {
		if d.token == "" {
			continue
		}
		if err := checkProtection(d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
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

// routes starts the programs and opens a session with each.
func (b *bench) routes() (routes []*route, stop func(), err error) {
	var running []*program
	stop = func() {
		for _, p := range running {
			p.stop()
		}
		running = nil
	}
	p, e, err := b.direct()
	if err != nil {
		return nil, stop, err
	}
	running = append(running, p)
	routes = append(routes, &route{name: "direct", program: p, endpoint: e})
	config, err := b.gatewayConfig(2, "")
	if err != nil {
		return nil, stop, err
	}
	p, e, err = b.junctorAt(config, "home")
	if err != nil {
		return nil, stop, err
	}
	running = append(running, p)
	stateless := &endpoint{address: e.address, token: e.token, modern: true}
	routes = append(routes,
		&route{name: "junctor, session", tool: "s0__", next: "s1__", program: p, endpoint: e},
		&route{name: "junctor, stateless", tool: "s0__", next: "s1__", program: p, endpoint: stateless})
	if b.refHTTP != "" {
		address, err := freeAddress()
		if err != nil {
			return nil, stop, err
		}
		p, _, err := launch(nil, strings.Fields(strings.ReplaceAll(b.refHTTP, "{addr}", address))...)
		if err != nil {
			return nil, stop, err
		}
		running = append(running, p)
		routes = append(routes, &route{name: "reference", tool: "s0__", program: p, endpoint: &endpoint{address: address}})
	}
	for _, d := range routes {
		if err := errors.Join(d.reachable(d.address), d.open()); err != nil {
			return nil, stop, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return routes, stop, nil
}

// gatewayConfig writes a configuration with n echo servers and a token. If last
// is not empty, the last server runs in that mode instead.
func (b *bench) gatewayConfig(n int, last string) (string, error) {
	plain, err := b.config(n)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(plain)
	if err != nil {
		return "", err
	}
	if last != "" {
		at := strings.LastIndex(string(text), `"echo"`)
		text = []byte(string(text[:at]) + fmt.Sprintf("%q", last) + string(text[at+len(`"echo"`):]))
	}
	text = append(text, `
gateway {
  http {
    auth "static_token" {
      token   = env("BENCH_TOKEN")
      subject = "bench"
    }
  }
}
`...)
	path := filepath.Join(b.dir, fmt.Sprintf("gateway-%d%s.hcl", n, last))
	return path, os.WriteFile(path, text, 0o600)
}

// junctorAt starts a gateway without waiting for it. home has its caches.
func (b *bench) junctorAt(config, home string) (*program, *endpoint, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, nil, err
	}
	p, _, err := launch([]string{"JUNCTOR_HOME=" + filepath.Join(b.dir, home), "BENCH_TOKEN=" + token},
		b.junctor, "-c", config, "serve", "--http="+address, "--log", "error")
	return p, &endpoint{address: address, token: token}, err
}

// checkProtection checks that a client without the token, and a call with
// invalid arguments, are refused.
func checkProtection(d *route) error {
	l, err := (&endpoint{address: d.address, modern: d.modern, session: d.session}).lane()
	if err != nil {
		return err
	}
	defer l.close()
	if _, err := l.do(l.to.echo(d.tool+"echo", 200)); err == nil || l.status != http.StatusUnauthorized {
		return fmt.Errorf("a client without a token got status %d", l.status)
	}
	if d.once(d.call(d.tool+"echo", `{"bytes":"many"}`)) == nil {
		return errors.New("invalid arguments were not refused")
	}
	return nil
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
	samples := map[string][]sample{}
	for round := range b.rounds {
		for _, p := range gatewayPhases {
			for i := range routes {
				d := routes[(i+round)%len(routes)]
				s, err := b.through(d, p, b.time)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", d.name, p.name, err)
				}
				samples[d.name+"/"+p.name] = append(samples[d.name+"/"+p.name], s)
			}
		}
	}
	b.gatewayReport(routes, samples)
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
