//go:build !linux

package httpconn

import "net"

// acknowledged returns ok false. A blocked write is the only sign that a client
// does not read.
func acknowledged(net.Conn) (acked uint64, waiting, ok bool) { return 0, false, false }
