package main

import (
	"net"
	"net/url"
	"strconv"

	"github.com/junctor-mcp/junctor/host/config"
)

// reached says, for the log, where clients find what listens at an address. Every
// address of a machine is no address that a client could use.
func reached(at net.Addr, h config.HTTP) []any {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return nil // the path of a socket says it all
	}
	endpoint := url.URL{Scheme: "http", Host: tcp.String(), Path: mcpPath}
	if h.TLS != nil {
		endpoint.Scheme = "https"
	}
	if !tcp.IP.IsUnspecified() {
		return []any{"endpoint", endpoint.String()}
	}
	endpoint.Host = net.JoinHostPort("ADDRESS", strconv.Itoa(tcp.Port))
	which := "any address of this machine"
	if tcp.IP.To4() != nil {
		which = "any IPv4 address of this machine"
	}
	if len(h.Hosts) > 0 {
		which += ", or one of hosts"
	}
	return []any{"endpoint", endpoint.String(), "at", which}
}
