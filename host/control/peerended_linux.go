package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerEnded reports whether the process that connected has ended. The kernel keeps a descriptor of
// it with the connection, so that a process which has the same id now is not taken for it.
// Before Linux 6.5 peerEnded returns false. checkPeer calls it, on the goroutine that accepts
// connections. It keeps no state.
func peerEnded(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	err = raw.Control(func(fd uintptr) {
		peer, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err != nil {
			gone = err != unix.ENOPROTOOPT
			return
		}
		defer unix.Close(peer)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(peer), Events: unix.POLLIN}}, 0)
		gone = err != nil || n > 0
	})
	return gone || err != nil
}
