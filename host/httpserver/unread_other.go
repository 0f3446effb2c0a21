//go:build !linux

package httpserver

import "net"

// takenBy returns ok false: a write that waits shows that a client does not read.
func takenBy(net.Conn) (taken uint64, waits, ok bool) { return 0, false, false }
