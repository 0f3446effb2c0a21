package httpconn

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// acknowledged returns how many bytes the client's system has acknowledged, and
// whether others wait because that system has no space for them. Bytes in flight
// do not count as waiting, because a lossy network is not the client's fault. ok
// is false if the connection is not TCP. Only the goroutine of closeUnread calls it, through
// unread.check. It does not wait.
func acknowledged(conn net.Conn) (acked uint64, waiting, ok bool) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false, false
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, false
	}
	var info *unix.TCPInfo
	failed := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if failed != nil || err != nil {
		return 0, false, false
	}
	return info.Bytes_acked, info.Unacked == 0 && info.Notsent_bytes > 0, true
}
