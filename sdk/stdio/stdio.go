// Package stdio connects to an MCP server on the standard streams of a process.
// It starts the process, frames messages and keeps the last lines of standard
// error for error messages. It ends the process, with all its descendants, in
// the steps that the MCP specification demands.
//
// The bundled stdio transport uses this package. It is also for authors whose
// transport runs a program, for example ssh.
//
// stdio.go is the connection, tail.go reads standard error, command.go finds the program and its
// environment, and hint.go words hints for programs that did not start.
package stdio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/ndjson"
	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	afterEOF  = 2 * time.Second        // from the end of input to SIGTERM
	afterTERM = 2 * time.Second        // from SIGTERM to SIGKILL
	afterStop = 30 * time.Second       // the same for a server that is still starting
	afterOut  = 2 * time.Second        // for the server to end after it closed its output
	afterExit = 300 * time.Millisecond // to read the rest of its output
)

// Options describe the server to start.
type Options struct {
	Command    []string // program and arguments
	Env        []string // whole environment, as NAME=value
	Dir        string   // working directory; empty: that of this process
	MaxMessage int      // maximum message in bytes; 0: ndjson.DefaultLimit
	Log        hclog.Logger
}

// A Conn is a connection to a server process. It is an [sdk.Conn],
// [sdk.Flusher], [sdk.Waiter], [sdk.Statuser] and [sdk.Piped]. One goroutine calls
// Recv and one calls Send and Flush. The rest may be called from any goroutine. Close
// ends the process and waits for the goroutines that read its output.
type Conn struct {
	proc  *process.Process
	log   hclog.Logger
	stdin *os.File
	out   *bufio.Writer // writes to stdin; made by the first Send; used by Send and Flush only
	lines *ndjson.Reader
	tail  *tail
	shown int // lines that are not messages and count toward junkShown; used by Recv only

	passed    bool          // the host reads and writes the standard streams; set before Recv
	outEnded  chan struct{} // closed when the host has read standard output to its end
	endOutput sync.Once

	dropped atomic.Uint64
	heard   atomic.Bool // the server has sent a message
	mute    atomic.Bool // it closed its output and kept running
	ended   atomic.Bool // Close was called
	close   sync.Once
	readers sync.WaitGroup // of readStderr and awaitEnd
	stdout  *os.File
	stderr  *os.File
}

// Start starts a server. It does not wait for output of the server.
func Start(o Options) (*Conn, error) {
	if len(o.Command) == 0 || o.Command[0] == "" {
		return nil, sdk.AttrErrorf("command", "names no program")
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	path, err := Resolve(o.Command[0], o.Dir, o.Env)
	if err != nil {
		return nil, err
	}
	var pipes [6]*os.File
	for i := 0; i < len(pipes); i += 2 {
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			closeAll(pipes[:])
			return nil, sdk.Errorf(sdk.Internal, "creating pipes: %v", err)
		}
	}
	inR, inW, outR, outW, errR, errW := pipes[0], pipes[1], pipes[2], pipes[3], pipes[4], pipes[5]
	widen(outR)
	proc, err := process.Start(process.Command{
		Path: path, Args: o.Command, Env: o.Env, Dir: o.Dir, Stdin: inR, Stdout: outW, Stderr: errW,
	})
	closeAll([]*os.File{inR, outW, errW})
	if err != nil {
		closeAll([]*os.File{inW, outR, errR})
		return nil, notStarted(path, err)
	}
	c := &Conn{
		proc: proc, log: o.Log, stdin: inW, stdout: outR, stderr: errR,
		lines: ndjson.NewReader(process.LastWords(outR, afterExit/2), o.MaxMessage), tail: new(tail),
		outEnded: make(chan struct{}),
	}
	c.readers.Go(c.readStderr)
	c.readers.Go(c.awaitEnd)
	return c, nil
}

// Recv returns the next message. It skips and counts lines that are not
// messages.
func (c *Conn) Recv() ([]byte, error) {
	if c.passed {
		select {
		case <-c.proc.Done():
		case <-c.outEnded:
		}
		return nil, c.ending()
	}
	for {
		line, err := c.lines.Next()
		if err != nil {
			if long, ok := errors.AsType[*ndjson.TooLongError](err); ok {
				return nil, &sdk.Dropped{Reason: "message_too_large", Size: long.Size, Limit: int64(long.Limit),
					Prefix: long.Prefix}
			}
			if endless := sdk.EndlessLine(err); endless != nil {
				return nil, endless
			}
			return nil, c.ending()
		}
		msg, err := ndjson.Message(line)
		if err == nil {
			c.heard.Store(true)
			c.shown = min(c.shown, junkShown-1)
			return msg, nil
		}
		c.dropped.Add(1)
		if c.shown++; c.shown <= junkShown {
			c.tail.add("(stdout) " + preview(line))
			c.log.Debug("line on standard output is not a message", "line", preview(line))
		}
	}
}

// Pipes returns the standard output and the standard input of the server.
func (c *Conn) Pipes() (from, to *os.File) { return c.stdout, c.stdin }

// PipesPassed makes Recv wait for the end of the server only.
func (c *Conn) PipesPassed() { c.passed = true }

// PipeEvent implements [sdk.Piped].
func (c *Conn) PipeEvent(e sdk.PipeEvent) {
	switch e {
	case sdk.FirstMessage:
		c.heard.Store(true)
	case sdk.EndOfOutput:
		c.endOutput.Do(func() { close(c.outEnded) })
	}
}

// ending returns the error for the end of standard output.
func (c *Conn) ending() error {
	if c.ended.Load() {
		return io.EOF
	}
	if !c.proc.Wait(afterOut) {
		c.mute.Store(true)
		return &sdk.Error{
			Code: sdk.Unavailable, Reason: "closed_output",
			Message: "the server closed its standard output but keeps running",
			Hint:    "a server must answer on standard output until its standard input ends; a wrapper script must not redirect it",
			Output:  c.tail.lines(),
		}
	}
	c.awaitReaders()
	e := &sdk.Error{Code: sdk.Unavailable, Reason: "exited", Message: "the server " + c.proc.Ended(),
		Output: c.tail.lines()}
	e.Hint = registryHint(e.Output)
	switch {
	case e.Hint != "":
	case c.proc.ExitCode() == 127:
		e.Hint = "status 127 means that a shell did not find a command"
	case c.proc.ExitCode() == 126:
		e.Hint = "status 126 means that a command was found but may not be executed"
	case process.SignalOf(c.proc.ExitCode()) != "":
		e.Hint = fmt.Sprintf("status %d is what a shell says of a command that was killed by %s",
			c.proc.ExitCode(), process.SignalOf(c.proc.ExitCode()))
	case c.dropped.Load() > 0:
		e.Hint = "it wrote lines to standard output that are not messages; a server must log to standard error"
	}
	return e
}

// BeforeWait makes Recv call f before it blocks.
func (c *Conn) BeforeWait(f func()) { c.lines.BeforeRead = f }

// Send buffers one message, which reaches the server with Flush at the latest.
// It blocks while the buffer is full and the server does not read.
func (c *Conn) Send(msg []byte) error {
	if c.out == nil { // never for a connection whose streams the host has taken over
		c.out = bufio.NewWriterSize(c.stdin, 64<<10)
	}
	_, err := c.out.Write(msg)
	if err == nil {
		err = c.out.WriteByte('\n')
	}
	if err != nil {
		return notRead(err)
	}
	return nil
}

// Flush writes the buffered messages.
func (c *Conn) Flush() error {
	if c.out == nil {
		return nil
	}
	if err := c.out.Flush(); err != nil {
		return notRead(err)
	}
	return nil
}

func notRead(err error) error {
	return &sdk.Error{Code: sdk.Unavailable, Message: "the server no longer reads its standard input", Err: err}
}

// Close ends the server in steps: it closes the server's input, sends SIGTERM
// to the process group after two seconds, and SIGKILL after two more. When ctx
// is done, Close sends SIGKILL at once.
//
// A server that has not sent a message is still starting, and may be a launcher
// that installs a package. It receives SIGTERM at once and has half a minute to
// clean up.
func (c *Conn) Close(ctx context.Context) error {
	c.close.Do(func() {
		c.ended.Store(true)
		_ = c.stdin.Close()
		polite, afterSignal := afterEOF, afterTERM
		switch {
		case !c.heard.Load():
			polite, afterSignal = 0, afterStop
		case c.mute.Load():
			polite = 0
		}
		if ctx.Err() == nil && !c.endsWithin(ctx, polite) && ctx.Err() == nil {
			c.proc.Terminate()
			c.endsWithin(ctx, afterSignal)
		}
		c.proc.Kill()
		<-c.proc.Done()
		_ = c.stdout.Close() // unblocks Recv if an orphan keeps the pipe open
	})
	c.awaitReaders()
	return nil
}

// endsWithin waits for the end of the process until d has passed or ctx is
// done.
func (c *Conn) endsWithin(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.proc.Done():
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return false
}

// Status returns the status of the server.
func (c *Conn) Status() sdk.ConnStatus {
	s := sdk.ConnStatus{State: "running", PID: c.proc.PID(), Stderr: c.tail.lines(), Dropped: c.dropped.Load()}
	if e := c.proc.Ended(); e != "" {
		s.State = e
	}
	return s
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
