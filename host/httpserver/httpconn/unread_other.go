//go:build !linux

package httpconn

import "net"

// acknowledged returns ok false. A blocked write is the only sign that a client
// does not read. Only the goroutine of closeUnread calls it, through unread.check.
func acknowledged(net.Conn) (acked uint64, waiting, ok bool) { return 0, false, false }
