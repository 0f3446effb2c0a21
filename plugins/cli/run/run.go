// Package run builds the argument list of a tool call, runs the program with it
// and turns its output into a tool result.
//
// [Argv] takes only values from the model. The [tool.Tool] alone decides which
// options exist, how they are spelled and in which order they come. Each value
// stays within one element of the list and no shell ever reads it. Argv joins a
// value that begins with a dash to its option, places it after "--", or rejects
// it.
//
// [Run] starts the program in its own process group, keeps the beginning and the
// end of its output, and leaves no process behind.
//
// Files, from the top: argv.go, template.go, whole.go, programs.go, builder.go, decode.go,
// expression.go, check.go, result.go, run.go, files.go, call.go, decoder.go, parse.go, table.go,
// form.go, json.go, progress.go, capture.go.
//
// decode.go, decoder.go and check.go read and check the arguments of a call. argv.go and
// template.go build the list for a discovered tool and for a tool block; builder.go, expression.go,
// programs.go and whole.go are their parts, and call.go is the result. run.go runs the program with
// capture.go, files.go and progress.go. result.go makes the tool result in the form of form.go;
// parse.go, json.go, table.go are the kinds of output.
//
// Package main of the plugin calls [Prepare], [Run] and [Form.Result] in this order, on the
// goroutine of the request. A decoder, builder, [Call] and [Outcome] belong to one call and have no
// lock; only capture is written by another goroutine. No error of Prepare contains a value of an
// argument.
package run

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/subprocess"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/sandbox"
)

const (
	termGrace        = 2 * time.Second // between SIGTERM and SIGKILL
	progressInterval = time.Second     // between two progress reports
)

// The share of the kept output that comes from the beginning of a stream. It is
// smaller for standard error, because an error message is usually at the end.
const (
	stdoutHead = 0.5
	stderrHead = 0.25
)

// A Command describes one run of a program.
type Command struct {
	Path   string
	Args   []string // beginning with the program's name
	Env    []string
	Dir    string
	Stdin  *string        // the text of standard input; nil is the null device
	Limits process.Limits // ignored if there are Rules
	Rules  *sandbox.Rules // what the program may reach; nil is everything

	Timeout   time.Duration // 0 is no timeout
	MaxOutput int           // bytes kept of standard output
	MaxStderr int           // bytes kept of standard error

	Progress func(Progress)  // called at most once a second; may be nil
	Force    <-chan struct{} // when closed, a run that is being ended is killed at once; may be nil
}

// An Outcome describes a run that has ended.
type Outcome struct {
	ExitCode int    // -1 if a signal ended the program
	Ended    string // "exited with status 3"
	TimedOut bool
	Canceled bool
	Stdout   Output
	Stderr   Output
	Written  *Written // the file that the program was to write; nil if there was none to write
	Duration time.Duration
}

// Run runs a program to its end. When ctx is done or the timeout expires, Run
// sends SIGTERM to the process group, and SIGKILL two seconds later. When Run
// returns, no process that the program started is left. Run fails only if the
// program cannot be started.
func Run(ctx context.Context, c Command) (*Outcome, error) {
	begun := time.Now()
	r := &running{stdout: newCapture(c.MaxOutput, stdoutHead), stderr: newCapture(c.MaxStderr, stderrHead)}
	var err error
	r.proc, err = subprocess.Start(
		process.Command{Path: c.Path, Args: c.Args, Env: c.Env, Dir: c.Dir, Limits: c.Limits}, c.Rules, c.Stdin,
		r.stdout, r.stderr,
	)
	if err != nil {
		return nil, err
	}
	o := &Outcome{}
	r.wait(ctx, c, begun, o)
	r.proc.Drain()
	o.ExitCode, o.Ended = r.proc.ExitCode(), r.proc.Ended()
	o.Stdout, o.Stderr, o.Duration = r.stdout.output(), r.stderr.output(), time.Since(begun)
	return o, nil
}

// Shrink reduces the kept part of standard output, and of a file that the program has
// written, to at most most bytes.
func (o *Outcome) Shrink(most int) {
	if w := o.Written; w != nil && len(w.Head) > most {
		w.Omitted += int64(len(w.Head) - most)
		w.Head = w.Head[:most]
		cut := cutRune(w.Head)
		w.Head = w.Head[:most-cut]
		w.Omitted += int64(cut)
	}
	c := newCapture(most, stdoutHead)
	_, _ = c.Write(o.Stdout.Head)
	_, _ = c.Write(o.Stdout.Tail)
	left := o.Stdout.Omitted
	o.Stdout = c.output()
	o.Stdout.Omitted += left
}

// A running is a program that runs.
type running struct {
	proc           *subprocess.Process
	stdout, stderr *capture
}

// wait reports progress until the program ends. It ends the program at the
// timeout and when ctx is done, and records that in o.
func (r *running) wait(ctx context.Context, c Command, begun time.Time, o *Outcome) {
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	var ticks <-chan time.Time
	if c.Progress != nil {
		t := time.NewTicker(progressInterval)
		defer t.Stop()
		ticks = t.C
	}
	for {
		select {
		case <-r.proc.Done():
			return
		case <-ticks:
			c.Progress(r.progress(begun))
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

// progress returns the state of the run.
func (r *running) progress(begun time.Time) Progress {
	p := Progress{Elapsed: time.Since(begun), Last: r.stderr.lastLine()}
	p.Bytes, p.Lines = r.stdout.seen()
	if p.Percent = percentOf(p.Last); p.Percent >= 0 {
		return p
	}
	line := r.stdout.lastLine()
	if p.Percent = percentOf(line); p.Percent >= 0 {
		p.Last = line
	}
	return p
}

// end sends SIGTERM to the process group. It sends SIGKILL if the group has not
// ended two seconds later, or as soon as force is closed.
func (r *running) end(force <-chan struct{}) {
	r.proc.Terminate()
	t := time.NewTimer(termGrace)
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
