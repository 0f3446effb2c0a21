// Package terminal has the parts of a verb that a person sees: text, tables and JSON on standard
// output, messages and questions on standard error, and the spinner. It knows no configuration.
//
// Files, from the top: question.go, spinner.go, messages.go, jsonoutput.go, table.go, text.go,
// terminal.go, screen.go, colour.go, output.go, safe.go, remarks.go.
//
// messages.go prints errors, warnings and notes; question.go and spinner.go share the screen
// (screen.go) with them. jsonoutput.go, table.go and text.go make results; output.go is standard
// output. safe.go removes control characters from texts of others, colour.go paints, and remarks.go
// remembers what was printed.
//
// All packages of cmd/host print through the [Terminal] of the invocation. Messages, spinners and
// questions may come from any goroutine, because the screen orders them. Results, [Remarks] and
// fields belong to the goroutine of the verb.
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

// A Terminal is what the verbs print to and read from. Standard output carries only results. There is
// one in a process; the fields other than Interrupted are set before goroutines print.
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
