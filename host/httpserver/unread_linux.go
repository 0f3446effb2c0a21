package httpserver

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// takenBy returns how many bytes the system at the other end has taken, and
// whether others wait because it has no room for them. Bytes that are on their way
// do not wait: a network that loses them is not the client's fault.
func takenBy(conn net.Conn) (taken uint64, waits, ok bool) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, false
	}
	var info *unix.TCPInfo
	failed := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if failed != nil || err != nil {
		return 0, false, false
	}
	return info.Bytes_acked, info.Unacked == 0 && info.Notsent_bytes > 0, true
}
