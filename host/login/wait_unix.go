//go:build unix

package login

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is the time between two checks whether a read was cancelled.
const pollInterval = 50 * time.Millisecond

// A waiter reads from a file only when input is available, so that no goroutine blocks in
// a read.
type waiter struct {
	file *os.File
	fd   int
}

func newWaiter(f *os.File) waiter {
	w := waiter{file: f, fd: -1}
	// File.Fd would set the file to blocking mode.
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { w.fd = int(fd) })
	}
	return w
}

func (w waiter) number() int { return w.fd }

func (w waiter) read(ctx context.Context) ([]byte, error) {
	b := make([]byte, 4<<10)
	for ctx.Err() == nil {
		ready := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ready, int(pollInterval.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && n == 0:
			continue
		case err != nil:
			return nil, err
		case ready[0].Revents&unix.POLLNVAL != 0:
			return nil, io.EOF
		}
		n, err = w.file.Read(b)
		return b[:n], err
	}
	return nil, ctx.Err()
}
