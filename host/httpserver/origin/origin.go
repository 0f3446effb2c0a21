// Package origin refuses requests that a web page in the user's browser could send to a
// server on this machine. Packages httpserver and console use it. It keeps no state: values do
// not change once they are made and may be used concurrently.
package origin

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// The reasons why a request is refused.
var (
	ErrHost   = errors.New("the Host header names another server")
	ErrOrigin = errors.New("the request comes from a page of another origin")
)

// A Policy refuses requests of web pages in a browser of the user. It
// checks the Origin header, and the Host header against DNS rebinding, where a
// name is pointed at this address after the page was loaded.
type Policy struct {
	Address *Address
	Origins []string // other origins that are allowed, in the form of the Origin header
	Hosts   []string // from the configuration, in lower case, with or without a port
}

// An Address is the address of a listener, as clients name it.
type Address struct {
	own        []string // names of the address itself
	port       string
	anyAddress bool // listens on every address; any literal address is allowed
	unix       bool // unix socket, which browsers cannot reach; Host is ignored
}

// AddressOf returns the address of a listener.
func AddressOf(addr net.Addr) (a Address) {
	if addr.Network() == "unix" {
		a.unix = true
		return a
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return a
	}
	a.port = port
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
	case ip.IsUnspecified():
		a.anyAddress, a.own = true, []string{"localhost"}
	case ip.IsLoopback():
		a.own = []string{"localhost", "127.0.0.1", "[::1]"}
	}
	a.own = append(a.own, hostOf(host))
	return a
}

// hostOf returns an address in the form of the Host header.
func hostOf(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// Check returns [ErrHost] or [ErrOrigin] for a request that is not allowed, or nil.
func (p *Policy) Check(r *http.Request) error {
	if err := p.CheckHost(r); err != nil {
		return err
	}
	origins := r.Header["Origin"]
	switch {
	case len(origins) == 0:
		// Only browsers send Sec-Fetch-Site, and not all of them.
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return ErrOrigin
		}
		return nil
	case len(origins) > 1 || !slices.Contains(p.Origins, origins[0]) && !p.sameOrigin(r, origins[0]):
		return ErrOrigin
	}
	return nil
}

// CheckHost returns [ErrHost] for a request whose Host header names another server.
func (p *Policy) CheckHost(r *http.Request) error {
	if !p.Address.unix && !p.allowsHost(r.Host) {
		return ErrHost
	}
	return nil
}

// sameOrigin reports whether an origin is that of the request itself.
func (p *Policy) sameOrigin(r *http.Request, origin string) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	host, ok := strings.CutPrefix(origin, scheme)
	return ok && !p.Address.unix && strings.EqualFold(host, r.Host)
}

// allowsHost reports whether a Host header is configured, or names the address
// itself with its port.
func (p *Policy) allowsHost(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(p.Hosts, host) {
		return true
	}
	port := p.Address.port
	name, found := strings.CutSuffix(host, ":"+port)
	if !found && port != "80" && port != "443" {
		return false
	}
	if slices.Contains(p.Address.own, name) || slices.Contains(p.Hosts, name) {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return p.Address.anyAddress && err == nil
}
