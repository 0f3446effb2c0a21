package arguments

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/junctor-mcp/junctor/cmd/host/invocation"
	"github.com/junctor-mcp/junctor/cmd/host/terminal"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
)

const (
	maxArguments = 16 << 20
	// inputWait is how long a call without arguments waits for standard input, if
	// the tool needs some. It suits a pipeline whose first program starts slowly.
	// Under a supervisor with a silent open pipe the call fails after it.
	inputWait = 3 * time.Second
	// optionalWait is the same for tools without required arguments, for which
	// input is unlikely.
	optionalWait = 300 * time.Millisecond
)

// readStdin reads arguments from standard input.
func readStdin(ctx context.Context, inv *invocation.Invocation) ([]byte, error) {
	if terminal.IsTerminal(inv.Stdin) {
		fmt.Fprintln(inv.Stderr, "reading arguments from standard input")
	}
	return readObject(ctx, "standard input", func() (io.ReadCloser, error) { return io.NopCloser(inv.Stdin), nil })
}

// readText reads all of standard input as a text.
func readText(ctx context.Context, inv *invocation.Invocation) (string, error) {
	if terminal.IsTerminal(inv.Stdin) {
		fmt.Fprintln(inv.Stderr, "reading the tool's standard input from standard input")
	}
	b, err := terminal.Interruptible(ctx,
		func() ([]byte, error) { return io.ReadAll(io.LimitReader(inv.Stdin, maxArguments+1)) })
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fault.New(fault.Usage, "reading standard input: %s", err)
	case len(b) > maxArguments:
		return "", fault.New(fault.Usage, "standard input is longer than %d bytes", maxArguments).
			WithHint("give the tool a file")
	case !utf8.Valid(b):
		return "", fault.New(fault.Usage, "standard input is not text in UTF-8").WithHint("give the tool a file")
	}
	return string(b), nil
}

// ErrSilent is the error for a standard input without data.
var ErrSilent = fmt.Errorf("nothing came on standard input within %s", inputWait)

// pipedArguments reads arguments from standard input if that is a file or a pipe, although the
// command line does not mention it.
func pipedArguments(ctx context.Context, inv *invocation.Invocation, wait time.Duration) ([]byte, error) {
	info, err := inv.Stdin.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice != 0 || readBefore(inv, info) {
		return []byte("{}"), nil
	}
	brief, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	first, err := terminal.Interruptible(brief, func() ([]byte, error) {
		b := make([]byte, 1)
		n, err := inv.Stdin.Read(b)
		return b[:n], err
	})
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, context.Cause(ctx)
	case brief.Err() != nil:
		return nil, ErrSilent
	case err != nil: // usually the end of the input
		return []byte("{}"), nil
	}
	return readObject(ctx, "standard input", func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(bytes.NewReader(first), inv.Stdin)), nil
	})
}

// readBefore reports whether standard input is a file that another program has read in part,
// such as a shell that calls a tool for each line. The rest belongs to that program.
func readBefore(inv *invocation.Invocation, info os.FileInfo) bool {
	if !info.Mode().IsRegular() {
		return false
	}
	at, err := inv.Stdin.Seek(0, io.SeekCurrent)
	return err == nil && at > 0
}

// readObject opens a source and reads one JSON object.
func readObject(ctx context.Context, from string, open func() (io.ReadCloser, error)) ([]byte, error) {
	b, err := terminal.Interruptible(ctx, func() ([]byte, error) {
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
	return Object(b, from)
}

// byteOrderMark precedes the text of some editors and shells.
var byteOrderMark = []byte("\uFEFF")

// Object checks that a text is one JSON object. An empty text is an empty object.
func Object(b []byte, from string) ([]byte, error) {
	if b = bytes.TrimPrefix(b, byteOrderMark); len(bytes.TrimSpace(b)) == 0 {
		return []byte("{}"), nil
	}
	if len(b) > maxArguments {
		return nil, fault.New(fault.Usage, "the arguments from %s are longer than %d bytes", from, maxArguments).
			WithHint("pass the path of a file to the tool instead of its content, if the tool takes one")
	}
	if err := mcp.Scan(b); err != nil {
		f := fault.New(fault.Usage, "the text from %s %s", from, err).
			WithHint("write key=value, key:=JSON, or one JSON object")
		if syntax := json.Unmarshal(b, new(any)); syntax != nil {
			f.Message += ": " + syntax.Error()
		}
		return nil, f
	}
	if b = bytes.TrimSpace(b); b[0] != '{' {
		return nil, fault.New(fault.Usage, "the arguments from %s are not a JSON object", from).
			WithHint("write {\"NAME\": VALUE}")
	}
	return b, nil
}
