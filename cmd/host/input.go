package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

const (
	maxArguments = 16 << 20
	// inputWait is how long something may take to come on standard input that
	// nobody said would. It is for a pipeline whose first program thinks for a
	// moment; under a supervisor whose pipe is open and silent, it is what a
	// call costs that lacks an argument.
	inputWait = 3 * time.Second
	// optionalWait is the same for a tool that can be called without arguments,
	// where the wait buys nothing most of the time.
	optionalWait = 300 * time.Millisecond
)

// interruptible reads, and gives up when ctx ends, with its cause. Nothing
// interrupts a read of standard input or the opening of a named pipe: the
// goroutine that is at it is left behind, and ends with the process.
func interruptible(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
	type outcome struct {
		b   []byte
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		b, err := read()
		done <- outcome{b, err}
	}()
	select {
	case o := <-done:
		return o.b, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readStdin reads arguments that were said to be on standard input.
func (e *env) readStdin(ctx context.Context) ([]byte, error) {
	if isTerminal(e.stdin) {
		fmt.Fprintln(e.stderr, "reading arguments from standard input")
	}
	return readObject(ctx, "standard input", func() (io.ReadCloser, error) { return io.NopCloser(e.stdin), nil })
}

// errSilent is standard input on which nothing comes.
var errSilent = fmt.Errorf("nothing came on standard input within %s", inputWait)

// offered reads arguments that somebody may have put on standard input without
// saying so: into a file or a pipe.
func (e *env) offered(ctx context.Context, wait time.Duration) ([]byte, error) {
	info, err := e.stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 || e.readBefore(info) {
		return []byte("{}"), nil
	}
	brief, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	first, err := interruptible(brief, func() ([]byte, error) {
		b := make([]byte, 1)
		n, err := e.stdin.Read(b)
		return b[:n], err
	})
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, context.Cause(ctx)
	case brief.Err() != nil:
		return nil, errSilent
	case err != nil: // most often its end
		return []byte("{}"), nil
	}
	return readObject(ctx, "standard input", func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(first), e.stdin)), nil
	})
}

// readBefore reports whether standard input is a file of which another program has
// read a part, such as the loop of a shell that calls a tool for each line. The rest
// belongs to that program.
func (e *env) readBefore(info os.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	at, err := e.stdin.Seek(0, io.SeekCurrent)
	return err == nil && at > 0
}

// readObject opens something and reads the one JSON object in it.
func readObject(ctx context.Context, from string, open func() (io.ReadCloser, error)) ([]byte, error) {
	b, err := interruptible(ctx, func() ([]byte, error) {
		r, err := open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return io.ReadAll(io.LimitReader(r, maxArguments+1))
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fault.New(fault.Usage, "reading arguments from %s: %s", from, err)
	}
	return object(b, from)
}

// byteOrderMark is what some editors and shells put before a text.
var byteOrderMark = []byte("\uFEFF")

// object checks that a text is one JSON object. No text at all is an empty one.
func object(b []byte, from string) ([]byte, error) {
	if b = bytes.TrimPrefix(b, byteOrderMark); len(bytes.TrimSpace(b)) == 0 {
		return []byte("{}"), nil
	}
	if len(b) > maxArguments {
		return nil, fault.New(fault.Usage, "the arguments from %s are longer than %d bytes", from, maxArguments)
	}
	if err := mcp.Scan(b); err != nil {
		f := fault.New(fault.Usage, "what %s holds %s", from, err)
		if syntax := json.Unmarshal(b, new(any)); syntax != nil {
			f.Message += ": " + syntax.Error()
		}
		return nil, f
	}
	if b = bytes.TrimSpace(b); b[0] != '{' {
		return nil, fault.New(fault.Usage, "arguments are a JSON object, which %s does not hold", from)
	}
	return b, nil
}
