package main

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/junctor-mcp/junctor/host/fault"
)

// An output is standard output. It remembers the first write that failed, which
// most of those who print do not look at: what was asked for is not lost in
// silence.
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

// fault is what goes wrong when output is lost; nil when nothing was. Whoever
// closed a pipe has read enough, and is told nothing.
func (o *output) fault() error {
	switch {
	case o.err == nil:
		return nil
	case errors.Is(o.err, syscall.EPIPE):
		return reported(unwritten("standard output", o.err))
	}
	return unwritten("standard output", o.err)
}

// unwritten is the fault of output that could not be written to a place.
func unwritten(place string, err error) *fault.Error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return fault.New(fault.Output, "writing %s: %s", place, err).WithHint("make room, or write it somewhere else")
}
