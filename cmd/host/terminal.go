package main

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/junctor-mcp/junctor/host/login"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// machine reports whether to print JSON.
func (t *Terminal) machine() bool { return t.json || !t.outTTY && !t.text }

// get returns an environment variable, or "".
func (t *Terminal) get(name string) string {
	v, _ := t.lookup(name)
	return v
}

// isSet reports whether an environment variable is set.
func (t *Terminal) isSet(name string) bool {
	_, ok := t.lookup(name)
	return ok
}

// interruptible calls read and returns early with the cause when ctx ends. Reads of standard
// input and opening a named pipe cannot be interrupted, so the goroutine may stay until the
// process ends.
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

// A Terminal is what the verbs print to and read from. Standard output carries only results.
type Terminal struct {
	stdin          *os.File
	stdout         *output
	stderr         io.Writer
	outTTY, errTTY bool
	lookup         func(string) (string, bool)

	json, text bool // the flags
	remarks    remarks

	naming naming              // may be nil
	mask   func(string) string // masks secrets in messages; may be nil

	screen      *screen         // what stderr writes to
	keys        *login.Terminal // what the user types; nil: not asked yet. The holder of the screen's turn uses it.
	interrupted atomic.Bool     // a question for the password was interrupted
}

// newTerminal returns the terminal of this process.
func newTerminal() *Terminal {
	shown := newScreen(os.Stderr)
	t := &Terminal{
		stdin:  os.Stdin,
		stdout: &output{file: os.Stdout},
		stderr: shown,
		screen: shown,
		lookup: os.LookupEnv,
		outTTY: isTerminal(os.Stdout),
		errTTY: isTerminal(os.Stderr),
	}
	shown.colours = t.coloured(t.errTTY)
	return t
}
