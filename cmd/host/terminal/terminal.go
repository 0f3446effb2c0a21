// Package terminal has the parts of a verb that a person sees: text, tables and JSON on standard
// output, messages and questions on standard error, and the spinner. It knows no configuration.
//
// Files, from the top: question.go, spinner.go, messages.go, jsonoutput.go, table.go, text.go,
// terminal.go, screen.go, colour.go, output.go, safe.go, remarks.go.
package terminal

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/junctor-mcp/junctor/host/login"
)

func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Machine reports whether to print JSON.
func (t *Terminal) Machine() bool { return t.JSON || !t.OutTTY && !t.Text }

// Get returns an environment variable, or "".
func (t *Terminal) Get(name string) string {
	v, _ := t.Lookup(name)
	return v
}

// IsSet reports whether an environment variable is set.
func (t *Terminal) IsSet(name string) bool {
	_, ok := t.Lookup(name)
	return ok
}

// Interruptible calls read and returns early with the cause when ctx ends. Reads of standard
// input and opening a named pipe cannot be interrupted, so the goroutine may stay until the
// process ends.
func Interruptible(ctx context.Context, read func() ([]byte, error)) ([]byte, error) {
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
	Stdin          *os.File
	Stdout         *Output
	Stderr         io.Writer
	OutTTY, ErrTTY bool
	Lookup         func(string) (string, bool)

	JSON, Text bool // the flags
	Remarks    Remarks

	Naming Naming              // may be nil
	Mask   func(string) string // masks secrets in messages; may be nil

	Screen      *screen         // what stderr writes to
	Keys        *login.Terminal // what the user types; nil: not asked yet. The holder of the screen's turn uses it.
	Interrupted atomic.Bool     // a question for the password was interrupted
}

// New returns the terminal of this process.
func New() *Terminal {
	shown := newScreen(os.Stderr)
	t := &Terminal{
		Stdin:  os.Stdin,
		Stdout: &Output{File: os.Stdout},
		Stderr: shown,
		Screen: shown,
		Lookup: os.LookupEnv,
		OutTTY: IsTerminal(os.Stdout),
		ErrTTY: IsTerminal(os.Stderr),
	}
	shown.colours = t.Coloured(t.ErrTTY)
	return t
}
