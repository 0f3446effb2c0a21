//go:build linux || darwin

package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
)

// A nowWriter writes small messages to a pipe or a unix socket without waiting.
type nowWriter struct {
	to  io.Writer
	raw syscall.RawConn // of to; nil: small writes to it may be split
	out []byte          // the message being written
	n   int             // bytes of it that the system took
	err error           // of the last write
	try func(fd uintptr) bool
}

// newNowWriter returns a nowWriter for a file or a connection.
func newNowWriter(to io.Writer) *nowWriter {
	w := &nowWriter{to: to}
	if c, ok := to.(syscall.Conn); ok && keepsSmallWrites(to) {
		w.raw, _ = c.SyscallConn()
	}
	w.try = func(fd uintptr) bool {
		w.n, w.err = syscall.Write(int(fd), w.out)
		return true // do not wait
	}
	return w
}

// keepsSmallWrites reports whether the system takes a write of up to pipeBuf bytes as a
// whole or not at all. POSIX promises that for pipes. Linux does it for unix sockets.
func keepsSmallWrites(to io.Writer) bool {
	switch to := to.(type) {
	case *net.UnixConn:
		return runtime.GOOS == "linux"
	case *os.File:
		info, err := to.Stat()
		return err == nil && info.Mode()&os.ModeNamedPipe != 0
	}
	return false
}

// write writes parts with last after them. It reports false if nothing was written. As in
// [pipes.send], it is no failure that the other side does not read any longer.
func (w *nowWriter) write(last string, parts ...[]byte) bool {
	size := len(last)
	for _, part := range parts {
		size += len(part)
	}
	if w.raw == nil || size > pipeBuf {
		return false
	}
	w.out = w.out[:0]
	for _, part := range parts {
		w.out = append(w.out, part...)
	}
	w.out = append(w.out, last...)
	if err := w.raw.Write(w.try); err != nil {
		return false
	}
	if w.err != nil {
		return errors.Is(w.err, syscall.EPIPE)
	}
	if w.n < len(w.out) { // not in order, but a part of a message must not stay alone
		_, _ = w.to.Write(w.out[w.n:])
	}
	return true
}
