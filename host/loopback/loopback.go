// Package loopback tells which hosts are this machine.
package loopback

import (
	"net/netip"
	"strings"
)

// Is reports whether a host, without a port and brackets, is this machine: localhost
// or a loopback address. Any other name may resolve to any address, so it is not.
func Is(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}
