package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/junctor-mcp/junctor/host/fault"
)

// An output is standard output. It records the first error of a write, because most callers
// ignore it.
type output struct {
	file *os.File
	err  error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// fault returns the fault for lost output, or nil. After EPIPE it prints nothing, because
// the reader has closed the pipe.
func (o *output) fault() error {
	switch {
	case o.err == nil:
		return nil
	case errors.Is(o.err, syscall.EPIPE):
		return reported(writeFault("standard output", o.err))
	}
	return writeFault("standard output", o.err)
}

// writeFault returns the fault for output that could not be written.
func writeFault(place string, err error) *fault.Error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fault.New(fault.Output, "writing %s: %s", place, err).WithHint("free space, or write it somewhere else")
}
