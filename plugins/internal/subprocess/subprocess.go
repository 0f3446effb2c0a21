// Package subprocess starts a program with package process and connects its
// standard streams to readers and writers.
//
// The caller decides when to end the program. Every caller works in this order:
//
//  1. Start starts the program and copies its output in the background.
//  2. The caller waits for Done, or calls Terminate or Kill and then waits.
//  3. Drain copies the rest of the output. Only then may the caller read what the
//     writers hold.
package subprocess

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
	"github.com/junctor-mcp/junctor/sdk/sandbox/launch"
)

const (
	// orphanWait bounds how long Drain reads from a pipe that an unrelated
	// process inherited and keeps open after the program has ended.
	orphanWait = 300 * time.Millisecond
	// bufferSize is the size of one read from a pipe, in bytes.
	bufferSize = 32 << 10
)

// A Process is a running program whose standard streams are pipes. The goroutine that started it ends
// and drains it.
type Process struct {
	*process.Process
	pipes  []*os.File // the ends of this side; nil where there is no pipe
	copies sync.WaitGroup
}

// Start starts the program of c behind the rules; nil is no rules. It sets the three streams of c: a pipe that
// holds input, or the null device if input is nil, and two pipes that are copied
// to stdout and stderr until Drain returns. A writer that fails stops the copy of
// its stream. Start fails if the program cannot be started.
func Start(c process.Command, rules *sandbox.Rules, input *string, stdout, stderr io.Writer) (*Process, error) {
	var err error
	pipe := func() (read, write *os.File) {
		if err == nil {
			read, write, err = os.Pipe()
		}
		return read, write
	}
	var inRead, inWrite *os.File
	if input != nil {
		inRead, inWrite = pipe()
	}
	outRead, outWrite := pipe()
	errRead, errWrite := pipe()
	p := &Process{pipes: []*os.File{inWrite, outRead, errRead}}
	c.Stdin, c.Stdout, c.Stderr = inRead, outWrite, errWrite
	if err == nil {
		p.Process, err = launch.Start(rules, c)
	}
	closeFiles([]*os.File{inRead, outWrite, errWrite})
	if err != nil {
		closeFiles(p.pipes)
		return nil, err
	}
	if inWrite != nil {
		p.copies.Go(func() {
			_, _ = io.Copy(inWrite, strings.NewReader(*input)) // a program may end without reading all of its input
			_ = inWrite.Close()
		})
	}
	p.copies.Go(func() { copyOutput(stdout, outRead) })
	p.copies.Go(func() { copyOutput(stderr, errRead) })
	return p, nil
}

// Drain copies the rest of the output and closes the pipes. Call it once, after
// Done is closed. It returns within 300 ms even if an unrelated process keeps a
// pipe open, unless there is still output of the program to copy.
func (p *Process) Drain() {
	for _, pipe := range p.pipes {
		if pipe != nil {
			_ = pipe.SetDeadline(time.Now()) // process.LastWords takes this for the end of the program
		}
	}
	p.copies.Wait()
	closeFiles(p.pipes)
}

func copyOutput(w io.Writer, pipe *os.File) {
	_, _ = io.CopyBuffer(w, process.LastWords(pipe, orphanWait), make([]byte, bufferSize))
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
