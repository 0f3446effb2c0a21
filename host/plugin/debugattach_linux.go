package plugin

import (
	"fmt"
	"net"
	"os"
	"syscall"
)

// samePeer returns the process at the other end of a socket. It fails if the process
// belongs to another user. attach calls it, with a connection that it keeps. It keeps no state.
func samePeer(conn net.Conn) (pid int, err error) {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, failed
	case int(cred.Uid) != os.Getuid():
		return 0, fmt.Errorf("the process %d at the socket belongs to user %d", cred.Pid, cred.Uid)
	}
	return int(cred.Pid), nil
}
