package terminal

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/junctor-mcp/junctor/host/fault"
)

// An Output is standard output. It records the first error of a write, because most callers
// ignore it. The verb writes on its goroutine only.
type Output struct {
	File *os.File
	Err  error
}

func (o *Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// Fault returns the fault for lost output, or nil. After EPIPE it prints nothing, because
// the reader has closed the pipe.
func (o *Output) Fault() error {
	switch {
	case o.Err == nil:
		return nil
	case errors.Is(o.Err, syscall.EPIPE):
		return Reported(WriteFault("standard output", o.Err))
	}
	return WriteFault("standard output", o.Err)
}

// WriteFault returns the fault for output that could not be written.
func WriteFault(place string, err error) *fault.Error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fault.New(fault.Output, "writing %s: %s", place, err).WithHint("free space, or write it somewhere else")
}
