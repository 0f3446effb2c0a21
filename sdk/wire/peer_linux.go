package wire

import (
	"net"
	"syscall"
)

// isPeer reports whether a process made the connection.
func isPeer(c *net.UnixConn, process int) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	var peer *syscall.Ucred
	if raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}) != nil || err != nil {
		return false
	}
	return int(peer.Pid) == process
}
