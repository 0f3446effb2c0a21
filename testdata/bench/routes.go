package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// A route is one way over HTTP to the echo server.
type route struct {
	name string
	tool string // prefix of the server's tools
	next string // prefix of a second server's tools; empty: none
	*program
	*endpoint
}

// Names of the routes. The table of targets compares by them.
const (
	direct    = "direct"
	session   = "junctor, session"
	stateless = "junctor, stateless"
	overHTTP  = "junctor, server over HTTP"
	reference = "reference"
	hop       = "reference with a plugin"
	peer      = "peer"
)

// token is the token of the clients.
const token = "d2b1c6a4f0e94f7f8a53-bench"

// routes starts the programs and opens a session with each.
func (b *bench) routes() (routes []*route, stop func(), err error) {
	var running []*program
	stop = func() {
		for _, p := range running {
			p.stop()
		}
		running = nil
	}
	add := func(p *program, err error, over ...*route) error {
		if err != nil {
			return err
		}
		running = append(running, p)
		for _, d := range over {
			d.program = p
			if err := d.prepare(); err != nil {
				return fmt.Errorf("%s: %w", d.name, err)
			}
		}
		routes = append(routes, over...)
		return nil
	}
	p, e, err := b.direct()
	if err := add(p, err, &route{name: direct, endpoint: e}); err != nil {
		return nil, stop, err
	}
	config, err := b.gatewayConfig("routes", b.stdioServers(2, "echo")+httpServer("h", e.address), "")
	if err != nil {
		return nil, stop, err
	}
	ours, e, err := b.junctorAt(b.junctor, config, "home")
	err = add(ours, err,
		&route{name: session, tool: "s0__", next: "s1__", endpoint: e},
		&route{name: stateless, tool: "s0__", next: "s1__", endpoint: e.stateless()},
		&route{name: overHTTP, tool: "h__", next: "s1__", endpoint: e.another()})
	if err != nil {
		return nil, stop, err
	}
	others := []struct{ name, command string }{{reference, b.reference}, {hop, b.reference + " " + hopFlag}}
	for i, command := range b.peers {
		others = append(others,
			struct{ name, command string }{strings.TrimSuffix(fmt.Sprintf("%s %d", peer, i+1), " 1"), command})
	}
	for _, other := range others {
		p, e, err := b.another(other.command)
		if err := add(p, err, &route{name: other.name, endpoint: e}); err != nil {
			return nil, stop, err
		}
	}
	return routes, stop, nil
}

// another starts another gateway.
func (b *bench) another(command string) (*program, *endpoint, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, nil, err
	}
	p, _, err := launch(nil, strings.Fields(strings.ReplaceAll(command, "{addr}", address))...)
	return p, &endpoint{address: address}, err
}

// prepare opens a session and finds the name of the echo tool.
func (d *route) prepare() error {
	if err := errors.Join(d.reachable(d.address), d.open()); err != nil {
		return err
	}
	if d.tool != "" {
		return checkProtection(d)
	}
	names, err := d.list()
	if err != nil {
		return err
	}
	for _, name := range names {
		if before, found := strings.CutSuffix(name, "echo"); found {
			d.tool = before
			return nil
		}
	}
	return fmt.Errorf("no tool is called echo: %v", names)
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

// stdioServers returns the blocks of n servers, s0 and so on, that this program
// runs in a mode.
func (b *bench) stdioServers(n int, mode string) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(b.stdioServer(fmt.Sprintf("s%d", i), "", mode))
	}
	return text.String()
}

// stdioServer returns the block of one server. settings are more attributes of
// the block, each on a line.
func (b *bench) stdioServer(name, settings string, command ...string) string {
	quoted := []string{fmt.Sprintf("%q", b.self)}
	for _, word := range command {
		quoted = append(quoted, fmt.Sprintf("%q", word))
	}
	return fmt.Sprintf("server %q {\n%s  transport \"stdio\" {\n    command = [%s]\n  }\n}\n",
		name, settings, strings.Join(quoted, ", "))
}

func httpServer(name, address string) string {
	return fmt.Sprintf("server %q {\n  transport \"http\" {\n    url = \"http://%s/mcp\"\n  }\n}\n", name, address)
}

// gatewayConfig writes a configuration with servers and a token, and returns its
// path. limits are more attributes of the block http.
func (b *bench) gatewayConfig(name, servers, limits string) (string, error) {
	text := servers + `
gateway {
  http {
` + limits + `    auth "static_token" {
      token   = env("BENCH_TOKEN")
      subject = "bench"
    }
  }
}
`
	path := filepath.Join(b.dir, name+".hcl")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// junctorAt starts a gateway without waiting for it. home has its caches.
func (b *bench) junctorAt(junctor, config, home string) (*program, *endpoint, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, nil, err
	}
	p, _, err := launch([]string{"JUNCTOR_HOME=" + filepath.Join(b.dir, home), "BENCH_TOKEN=" + token},
		junctor, "-c", config, "serve", "--http="+address, "--log", "error")
	return p, &endpoint{address: address, token: token}, err
}
