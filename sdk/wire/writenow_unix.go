//go:build linux || darwin

package wire

import (
	"errors"
	"os"
	"syscall"
)

// A nowWriter writes small messages to a pipe without waiting. Only pipes promise that a
// small write is not split.
type nowWriter struct {
	raw syscall.RawConn // nil: not a pipe
	out []byte          // the message being written
	err error           // of the last write
	try func(fd uintptr) bool
}

func newNowWriter(f *os.File) *nowWriter {
	w := new(nowWriter)
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return w
	}
	if w.raw, err = f.SyscallConn(); err != nil {
		w.raw = nil
	}
	w.try = func(fd uintptr) bool {
		_, w.err = syscall.Write(int(fd), w.out)
		return true // do not wait
	}
	return w
}

// write writes a line, given in parts without its line feed. It reports false if nothing
// was written. As in [pipes.send], a server that does not read any longer is no failure.
func (w *nowWriter) write(parts [][]byte) bool {
	size := 1
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
	w.out = append(w.out, '\n')
	if err := w.raw.Write(w.try); err != nil {
		return false
	}
	return w.err == nil || errors.Is(w.err, syscall.EPIPE)
}
