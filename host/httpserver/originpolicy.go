package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// A originPolicy keeps web pages out that a browser of the user shows: by the Origin
// they come from, and by the Host they asked for, which is another one when a
// name was pointed at this address after the page was loaded.
type originPolicy struct {
	origins []string
	hosts   []string // from the configuration, in lower case; with a port or without
	own     []string // the names of the address itself
	port    string   // of the listener
	any     bool     // listens on every address: any that is written as one will do
	unix    bool     // a socket that no browser reaches: Host means nothing
}

// at completes the guard for the address that is listened at.
func (g originPolicy) at(addr net.Addr) originPolicy {
	if addr.Network() == "unix" {
		g.unix = true
		return g
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return g
	}
	g.port = port
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
	case ip.IsUnspecified():
		g.any, g.own = true, []string{"localhost"}
	case ip.IsLoopback():
		g.own = []string{"localhost", "127.0.0.1", "[::1]"}
	}
	g.own = append(g.own, hostOf(host))
	return g
}

// hostOf is an address as the Host header has it.
func hostOf(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// check says why a request is not let in.
func (g *originPolicy) check(r *http.Request) *httpError {
	if !g.unix && !g.mine(r.Host) {
		return errHost
	}
	origins := r.Header["Origin"]
	switch {
	case len(origins) == 0:
		// Only browsers send it, but not with every request.
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return errOrigin
		}
		return nil
	case len(origins) > 1 || !slices.Contains(g.origins, origins[0]) && !g.same(r, origins[0]):
		return errOrigin
	}
	return nil
}

// same reports whether a page comes from where the request goes.
func (g *originPolicy) same(r *http.Request, origin string) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	host, ok := strings.CutPrefix(origin, scheme)
	return ok && !g.unix && strings.EqualFold(host, r.Host)
}

// mine reports whether the Host header may say this: what the configuration has,
// or the address itself with its port.
func (g *originPolicy) mine(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(g.hosts, host) {
		return true
	}
	name, found := strings.CutSuffix(host, ":"+g.port)
	if !found && g.port != "80" && g.port != "443" {
		return false
	}
	if slices.Contains(g.own, name) || slices.Contains(g.hosts, name) {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return g.any && err == nil
}

// longestNamed is how much of a name the log repeats.
const longestNamed = 100

// short is what a client says of itself, for the log: who set up a proxy has to
// see which name arrived. A name has no other characters than those of ASCII.
func short(name string) string {
	if len(name) > longestNamed {
		name = name[:longestNamed] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
