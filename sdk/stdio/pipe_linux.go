package stdio

import (
	"os"
	"syscall"
)

// pipeSize is the capacity of the pipe of a server's standard output in bytes:
// the output that the server can write before it blocks. With the default of
// 64 KiB a large result is handed over sixteen times as often.
const pipeSize = 256 << 10

const fSetPipeSize = 1031

// widen enlarges a pipe for speed. It ignores an error: the system limits the
// total size of a user's pipes.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, pipeSize)
	})
}
