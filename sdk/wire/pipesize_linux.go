package wire

import (
	"os"
	"syscall"
)

// pipeSize is the capacity of the pipe that a server writes to, in bytes. The usual 64 KiB
// make a server with a large message wait for the host, and wake it, every 64 KiB. The
// system limits the pipes of a user to 64 MiB together, so it is not more.
const pipeSize = 256 << 10

// pipeBuf is the size in bytes of the largest write to a pipe that is not split.
const pipeBuf = 4096

const setPipeSize = 1031 // F_SETPIPE_SZ of fcntl(2), which package syscall lacks

// enlarge gives a pipe more capacity, if the system allows that.
func enlarge(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, pipeSize) })
	}
}
