package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/junctor-mcp/junctor/sdk"
)

// The keys that a line is edited with.
const (
	keyInterrupt = 3 // Ctrl-C
	keyEnd       = 4 // Ctrl-D
	keyBackspace = 8
	keyKill      = 21 // Ctrl-U
	keyEscape    = 27
	keyDelete    = 127
)

// An input reads lines: from a terminal, where it does the editing itself, so
// that a line may be longer than the system's own editing allows and a wait
// for one can be given up, or from a pipe.
type input struct {
	file     *os.File
	terminal bool
	turn     chan struct{} // holds one token: who has it reads
	early    []byte        // belongs to who has the turn; read, but behind the line that was wanted
	wait     waiter
}

func newInput(f *os.File) *input {
	if f == nil {
		return nil
	}
	in := &input{file: f, turn: make(chan struct{}, 1), wait: newWaiter(f)}
	in.terminal = term.IsTerminal(in.wait.number())
	in.turn <- struct{}{}
	return in
}

// line shows a prompt and reads a line. It returns io.EOF when there is none
// any more.
func (in *input) line(ctx context.Context, out io.Writer, prompt string, echo bool) (string, error) {
	select {
	case <-in.turn:
		defer func() { in.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if !in.terminal {
		return in.piped(ctx)
	}
	if out == nil {
		out = io.Discard
	}
	before, err := term.MakeRaw(in.wait.number())
	if err != nil {
		return "", fmt.Errorf("reading from the terminal: %w", err)
	}
	defer func() {
		_ = term.Restore(in.wait.number(), before)
		_, _ = io.WriteString(out, "\n")
	}()
	_, _ = io.WriteString(out, prompt)
	e := &edit{out: out, echo: echo}
	for {
		if rest, done, err := e.take(in.early); done || err != nil {
			in.early = rest
			return string(e.text), err
		}
		if in.early, err = in.more(ctx); err != nil {
			return "", err
		}
	}
}

// piped reads a line that nobody types.
func (in *input) piped(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(in.early, '\n'); i >= 0 {
			line := string(in.early[:i])
			in.early = in.early[i+1:]
			return line, nil
		}
		if len(in.early) > maxLine {
			return "", tooLong()
		}
		b, err := in.more(ctx)
		in.early = append(in.early, b...)
		if errors.Is(err, io.EOF) && len(in.early) > 0 {
			line := string(in.early)
			in.early = nil
			return line, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// more reads what there is, once there is something.
func (in *input) more(ctx context.Context) ([]byte, error) {
	b, err := in.wait.read(ctx)
	switch {
	case ctx.Err() != nil:
		return b, ctx.Err()
	case len(b) == 0 && err == nil:
		err = io.EOF
	case len(b) > 0:
		err = nil
	}
	return b, err
}

func tooLong() error {
	return sdk.Errorf(sdk.Invalid, "a line on the terminal has at most %d bytes", maxLine)
}

// An edit is a line that is being typed.
type edit struct {
	out  io.Writer
	echo bool
	text []byte
	keys int // of an escape sequence that is being skipped
}

// take takes typed bytes until the line is complete, and returns those behind.
func (e *edit) take(b []byte) (rest []byte, done bool, err error) {
	for i, c := range b {
		if e.skipped(c) {
			continue
		}
		switch c {
		case '\r', '\n':
			return b[i+1:], true, nil
		case keyInterrupt:
			return nil, false, errInterrupted()
		case keyEnd:
			if len(e.text) == 0 {
				return nil, false, io.EOF
			}
		case keyBackspace, keyDelete:
			e.erase(1)
		case keyKill:
			e.erase(len(e.text))
		case keyEscape:
			e.keys = 1
		default:
			if c < ' ' {
				continue
			}
			if len(e.text) == maxLine {
				return nil, false, tooLong()
			}
			e.text = append(e.text, c)
			if e.echo {
				_, _ = e.out.Write([]byte{c})
			}
		}
	}
	return nil, false, nil
}

// skipped takes the keys that are sequences, arrows for example, out: ESC, then
// one character, or "[" or "O" and everything up to a letter or "~".
func (e *edit) skipped(c byte) bool {
	switch {
	case e.keys == 0:
		return false
	case c < ' ': // no sequence after all
		e.keys = 0
		return false
	case e.keys == 1 && (c == '[' || c == 'O'):
		e.keys = 2
	case e.keys == 1 || c >= 0x40:
		e.keys = 0
	}
	return true
}

// erase takes characters off the end.
func (e *edit) erase(n int) {
	for ; n > 0 && len(e.text) > 0; n-- {
		last := len(e.text) - 1
		for last > 0 && e.text[last]&0xc0 == 0x80 { // inside a character of several bytes
			last--
		}
		e.text = e.text[:last]
		if e.echo {
			_, _ = io.WriteString(e.out, "\b \b")
		}
	}
}

// glance is how often a wait looks whether it was given up.
const glance = 50 * time.Millisecond
