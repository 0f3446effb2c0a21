package run

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk/process"
)

const (
	afterTERM = 2 * time.Second        // for a group to end once it was asked to
	afterExit = 300 * time.Millisecond // for output that a stranger may hold open
	tick      = time.Second            // between reports of progress
	chunk     = 32 << 10
)

// The shares of what is kept that come from the beginning: an error message is
// more likely to stand at the end.
const (
	stdoutHead = 0.5
	stderrHead = 0.25
)

// A Command is one run of a program.
type Command struct {
	Path   string
	Args   []string // beginning with the program's name
	Env    []string
	Dir    string
	Stdin  *string // nil is the null device
	Limits process.Limits

	Timeout   time.Duration // 0 is none
	MaxOutput int           // bytes kept of standard output
	MaxStderr int           // bytes kept of standard error

	Progress func(Progress)  // called at most once a second; may be nil
	Force    <-chan struct{} // closed when there is no time to be polite; may be nil
}

// A Progress says how far a run is.
type Progress struct {
	Elapsed      time.Duration
	Bytes, Lines int64  // of standard output
	Last         string // line of standard error; may be empty
}

// An Outcome is how a run ended.
type Outcome struct {
	ExitCode int    // -1 when a signal ended it
	Ended    string // "exited with status 3"
	TimedOut bool
	Canceled bool
	Stdout   Output
	Stderr   Output
	Duration time.Duration
}

// Run runs a program to its end. When ctx is done, or the time is over, its
// process group is asked to end and two seconds later killed. Nothing that it
// started is left when Run returns. The error is about starting it.
func Run(ctx context.Context, c Command) (*Outcome, error) {
	begun := time.Now()
	r := &running{stdout: newCapture(c.MaxOutput, stdoutHead), stderr: newCapture(c.MaxStderr, stderrHead)}
	if err := r.start(c); err != nil {
		return nil, err
	}
	o := &Outcome{}
	r.await(ctx, c, begun, o)
	r.drain()
	o.ExitCode, o.Ended = r.proc.ExitCode(), r.proc.Ended()
	o.Stdout, o.Stderr, o.Duration = r.stdout.output(), r.stderr.output(), time.Since(begun)
	return o, nil
}

// A running is a program that runs.
type running struct {
	proc           *process.Process
	stdout, stderr *capture
	pipes          []*os.File // our ends
	work           sync.WaitGroup
}

func (r *running) start(c Command) (err error) {
	var theirs []*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(r.pipes)
		}
	}()
	pipe := func() (read, write *os.File) {
		if err != nil {
			return nil, nil
		}
		read, write, err = os.Pipe()
		return read, write
	}
	var in, inW *os.File
	if c.Stdin != nil {
		in, inW = pipe()
	}
	out, outW := pipe()
	errs, errsW := pipe()
	theirs, r.pipes = []*os.File{in, outW, errsW}, []*os.File{inW, out, errs}
	if err != nil {
		return err
	}
	r.proc, err = process.Start(process.Command{
		Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: in, Stdout: outW, Stderr: errsW, Limits: c.Limits,
	})
	if err != nil {
		return err
	}
	if inW != nil {
		r.work.Go(func() { feed(inW, *c.Stdin) })
	}
	r.work.Go(func() { read(out, r.stdout) })
	r.work.Go(func() { read(errs, r.stderr) })
	return nil
}

// feed writes what the program is to read. One that ends without reading it all
// is nothing special.
func feed(w *os.File, text string) {
	_, _ = io.Copy(w, strings.NewReader(text))
	_ = w.Close()
}

// read reads a pipe to its end, or for a moment longer than the program ran.
func read(pipe *os.File, into *capture) {
	_, _ = io.CopyBuffer(into, process.LastWords(pipe, afterExit), make([]byte, chunk))
}

// await waits for the end of the program and sees to it that there is one.
func (r *running) await(ctx context.Context, c Command, begun time.Time, o *Outcome) {
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var ticks <-chan time.Time
	if c.Progress != nil {
		t := time.NewTicker(tick)
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-r.proc.Done():
			return
		case <-ticks:
			p := Progress{Elapsed: time.Since(begun), Last: r.stderr.lastLine()}
			p.Bytes, p.Lines = r.stdout.seen()
			c.Progress(p)
			continue
		case <-timeout:
			o.TimedOut = true
		case <-ctx.Done():
			o.Canceled = true
		}
		break
	}
	r.end(c.Force)
}

// end ends the program's group, politely first.
func (r *running) end(force <-chan struct{}) {
	r.proc.Terminate()
	t := time.NewTimer(afterTERM)
	defer t.Stop()
	select {
	case <-r.proc.Done():
		return
	case <-t.C:
	case <-force:
	}
	r.proc.Kill()
	<-r.proc.Done()
}

// drain reads what is left in the pipes, which a process that is none of ours
// any more may hold open for ever.
func (r *running) drain() {
	for _, pipe := range r.pipes {
		if pipe != nil {
			_ = pipe.SetDeadline(time.Now())
		}
	}
	r.work.Wait()
	closeAll(r.pipes)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
