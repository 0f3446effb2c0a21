package httpserver

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// An originPolicy refuses requests of web pages in a browser of the user. It
// checks the Origin header, and the Host header against DNS rebinding, where a
// name is pointed at this address after the page was loaded.
type originPolicy struct {
	*listenAddress
	origins []string
	hosts   []string // from the configuration, in lower case, with or without a port
}

// A listenAddress is the address of a listener, as clients name it.
type listenAddress struct {
	own        []string // names of the address itself
	port       string
	anyAddress bool // listens on every address; any literal address is allowed
	unix       bool // unix socket, which browsers cannot reach; Host is ignored
}

func addressOf(addr net.Addr) (a listenAddress) {
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

// check returns the error for a request that is not allowed, or nil.
func (p *originPolicy) check(r *http.Request) *httpError {
	if !p.unix && !p.allowsHost(r.Host) {
		return errHost
	}
	origins := r.Header["Origin"]
	switch {
	case len(origins) == 0:
		// Only browsers send Sec-Fetch-Site, and not all of them.
		if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
			return errOrigin
		}
		return nil
	case len(origins) > 1 || !slices.Contains(p.origins, origins[0]) && !p.sameOrigin(r, origins[0]):
		return errOrigin
	}
	return nil
}

// sameOrigin reports whether an origin is that of the request itself.
func (p *originPolicy) sameOrigin(r *http.Request, origin string) bool {
	scheme := "http://"
	if r.TLS != nil {
		scheme = "https://"
	}
	host, ok := strings.CutPrefix(origin, scheme)
	return ok && !p.unix && strings.EqualFold(host, r.Host)
}

// allowsHost reports whether a Host header is configured, or names the address
// itself with its port.
func (p *originPolicy) allowsHost(host string) bool {
	host = strings.ToLower(host)
	if slices.Contains(p.hosts, host) {
		return true
	}
	name, found := strings.CutSuffix(host, ":"+p.port)
	if !found && p.port != "80" && p.port != "443" {
		return false
	}
	if slices.Contains(p.own, name) || slices.Contains(p.hosts, name) {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return p.anyAddress && err == nil
}

// maxLoggedName is the length in bytes of a name in the log.
const maxLoggedName = 100

// printable returns a client's header for the log, shortened and with all
// characters replaced that are not printable ASCII. It helps to configure a
// proxy.
func printable(name string) string {
	if len(name) > maxLoggedName {
		name = name[:maxLoggedName] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
