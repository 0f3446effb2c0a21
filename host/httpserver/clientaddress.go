package httpserver

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientAddress returns the address of a client without its port: the address that a
// proxy names, behind one that counts. It is "unknown" if that is malformed, and "local"
// over a unix socket. The functions of this file are pure.
func clientAddress(r *http.Request, settings *active) string {
	if isProxy(r.RemoteAddr, settings.Proxies) {
		if client, ok := forwardedFor(r.Header["X-Forwarded-For"], settings.Proxies); ok {
			return client.String()
		}
		return "unknown"
	}
	end := strings.LastIndexByte(r.RemoteAddr, ':')
	if end < 0 {
		return "local"
	}
	return strings.Trim(r.RemoteAddr[:end], "[]")
}

// isProxy reports whether a peer is one of the proxies.
func isProxy(remote string, proxies []netip.Prefix) bool {
	if len(proxies) == 0 {
		return false
	}
	from, err := netip.ParseAddrPort(remote)
	return err == nil && contains(proxies, from.Addr().Unmap().WithZone(""))
}

func contains(all []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(all, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// maxForwarded bounds the addresses that are looked at, from the nearest one.
const maxForwarded = 20

// forwardedFor returns the nearest address in X-Forwarded-For that is no proxy. What
// stands before it was written by that client and proves nothing. ok is false if there
// is no such address, or the nearest one is malformed.
func forwardedFor(headers []string, proxies []netip.Prefix) (client netip.Addr, ok bool) {
	looked := 0
	for _, header := range slices.Backward(headers) {
		parts := strings.Split(header, ",")
		for _, part := range slices.Backward(parts) {
			if looked++; looked > maxForwarded {
				return client, false
			}
			addr, err := parseForwarded(strings.TrimSpace(part))
			switch {
			case err != nil:
				return client, false
			case !contains(proxies, addr):
				return addr, true
			}
		}
	}
	return client, false
}

// parseForwarded parses an address, which some proxies write with a port.
func parseForwarded(text string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap().WithZone(""), nil
	}
	with, err := netip.ParseAddrPort(text)
	return with.Addr().Unmap().WithZone(""), err
}
