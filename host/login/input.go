package login

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/junctor-mcp/junctor/sdk"
)

// These keys edit a line.
const (
	keyInterrupt = 3 // Ctrl-C
	keyEnd       = 4 // Ctrl-D
	keyBackspace = 8
	keyKill      = 21 // Ctrl-U
	keyEscape    = 27
	keyDelete    = 127
)

// An input reads lines from a terminal or a pipe. At a terminal it does the editing
// itself, so that lines may be longer than the system's line editor allows and a read
// can be cancelled. Several goroutines may ask for a line: they read one after the other.
type input struct {
	file     *os.File
	terminal bool
	token    chan struct{} // holds one token; its holder reads
	buffered []byte        // bytes read beyond the last line; guarded by token
	wait     waiter
}

func newInput(f *os.File) *input {
	if f == nil {
		return nil
	}
	in := &input{file: f, token: make(chan struct{}, 1), wait: newWaiter(f)}
	in.terminal = term.IsTerminal(in.wait.number())
	in.token <- struct{}{}
	return in
}

// readLine shows a prompt and reads a line. It returns io.EOF at the end of the input.
func (in *input) readLine(ctx context.Context, out io.Writer, prompt string, echo bool) (string, error) {
	select {
	case <-in.token:
		defer func() { in.token <- struct{}{} }()
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
	e := &lineEditor{out: out, echo: echo}
	for {
		if rest, done, err := e.take(in.buffered); done || err != nil {
			in.buffered = rest
			return string(e.text), err
		}
		if in.buffered, err = in.more(ctx); err != nil {
			return "", err
		}
	}
}

// piped reads a line from a pipe.
func (in *input) piped(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(in.buffered, '\n'); i >= 0 {
			line := string(in.buffered[:i])
			in.buffered = in.buffered[i+1:]
			return line, nil
		}
		if len(in.buffered) > maxLine {
			return "", tooLong()
		}
		b, err := in.more(ctx)
		in.buffered = append(in.buffered, b...)
		if errors.Is(err, io.EOF) && len(in.buffered) > 0 {
			line := string(in.buffered)
			in.buffered = nil
			return line, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// more waits for input and reads what is available.
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

// A lineEditor edits the line that is being typed.
type lineEditor struct {
	out    io.Writer
	echo   bool
	text   []byte
	escape int // position in an escape sequence that is skipped; 0: none
}

// take processes typed bytes until the line is complete and returns the remaining ones.
func (e *lineEditor) take(b []byte) (rest []byte, done bool, err error) {
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
			e.escape = 1
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

// skipped reports whether c belongs to an escape sequence, for example of an arrow key:
// ESC and one character, or ESC, "[" or "O", and everything up to a letter or "~".
func (e *lineEditor) skipped(c byte) bool {
	switch {
	case e.escape == 0:
		return false
	case c < ' ': // not a sequence
		e.escape = 0
		return false
	case e.escape == 1 && (c == '[' || c == 'O'):
		e.escape = 2
	case e.escape == 1 || c >= 0x40:
		e.escape = 0
	}
	return true
}

// erase removes n characters from the end.
func (e *lineEditor) erase(n int) {
	for ; n > 0 && len(e.text) > 0; n-- {
		last := len(e.text) - 1
		for last > 0 && e.text[last]&0xc0 == 0x80 { // a continuation byte of UTF-8
			last--
		}
		e.text = e.text[:last]
		if e.echo {
			_, _ = io.WriteString(e.out, "\b \b")
		}
	}
}
