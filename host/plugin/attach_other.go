//go:build !linux

package plugin

import "net"

// samePeer does not look: the directory of the socket is the user's alone.
func samePeer(net.Conn) (pid int, err error) { return 0, nil }
