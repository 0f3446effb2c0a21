package stdio

import (
	"os"
	"syscall"
)

// pipeSize is what a server's standard output may hold before the server must
// wait for us to read. The system's own 64 KiB make a large result change hands
// sixteen times as often.
const pipeSize = 256 << 10

const fSetPipeSize = 1031

// widen enlarges a pipe. The system may refuse, having a limit for all pipes of
// a user, which changes nothing but speed.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, pipeSize)
	})
}
