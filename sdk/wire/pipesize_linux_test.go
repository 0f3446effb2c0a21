package wire

import (
	"os"
	"syscall"
	"testing"
)

// TestEnlarge: a pipe gets the larger capacity, and a file that is no pipe is left alone.
func TestEnlarge(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	enlarge(r)
	raw, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var size uintptr
	var errno syscall.Errno
	const getPipeSize = setPipeSize + 1 // F_GETPIPE_SZ
	if err := raw.Control(func(fd uintptr) {
		size, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, getPipeSize, 0)
	}); err != nil ||
		errno != 0 {
		t.Fatal(err, errno)
	}
	if size != pipeSize {
		t.Errorf("the pipe has %d bytes, want %d", size, pipeSize)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	enlarge(file)
}
