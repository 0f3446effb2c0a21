package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
)

const (
	maxArguments = 16 << 20
	// inputWait is how long to see whether something comes on standard input
	// that nobody said would.
	inputWait = 100 * time.Millisecond
)

// arguments makes the arguments of a call from the words of the command line.
func (e *env) arguments(input []byte, words []string) ([]byte, error) {
	if len(words) == 1 {
		switch word := words[0]; {
		case word == "-":
			return e.readObject(e.stdin, "standard input")
		case strings.HasPrefix(word, "@"):
			f, err := os.Open(word[1:])
			if err != nil {
				return nil, fault.New(fault.Usage, "reading arguments: %s", err)
			}
			defer f.Close()
			return e.readObject(f, word[1:])
		case strings.HasPrefix(strings.TrimSpace(word), "{"):
			return e.readObject(strings.NewReader(word), "the command line")
		}
	}
	if len(words) == 0 {
		if f := e.offered(input); f != nil {
			return e.readObject(f, "standard input")
		}
		return []byte("{}"), nil
	}
	if input == nil {
		input = []byte("{}")
	}
	args, problems := schema.Arguments(input, words)
	if len(problems) > 0 {
		f := fault.New(fault.CallArguments, "the arguments do not fit")
		for _, p := range problems {
			f.Message += "\n  " + strings.TrimSpace(p.Path+" "+p.Message)
		}
		return nil, f.WithHint("write key=value, key:=JSON, or one JSON object")
	}
	return args, nil
}

// readObject reads one JSON object.
func (e *env) readObject(r io.Reader, from string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxArguments+1))
	if err != nil {
		return nil, fault.New(fault.Usage, "reading arguments from %s: %s", from, err)
	}
	if len(bytes.TrimSpace(b)) == 0 {
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

// offered returns standard input when there is something on it that was meant
// as arguments: a file, or a pipe that somebody writes to. A pipe that is
// merely open, as under a supervisor, must not stop a tool that needs nothing.
func (e *env) offered(input []byte) io.Reader {
	info, err := e.stdin.Stat()
	if err != nil || isTerminal(e.stdin) || info.Mode()&os.ModeCharDevice != 0 {
		return nil
	}
	if info.Mode().IsRegular() || needsArguments(input) {
		return e.stdin
	}
	first := make(chan []byte, 1)
	go func() {
		b := make([]byte, 1)
		n, _ := e.stdin.Read(b)
		first <- b[:n]
	}()
	select {
	case b := <-first:
		return io.MultiReader(bytes.NewReader(b), e.stdin)
	case <-time.After(inputWait):
		return nil
	}
}

func needsArguments(input []byte) bool {
	for _, p := range schema.Properties(input) {
		if p.Required {
			return true
		}
	}
	return false
}
