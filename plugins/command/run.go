package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

const (
	maxOutput = 64 << 10               // of standard output; more is an error
	maxSaid   = 8 << 10                // kept of the end of standard error
	saidLines = 20                     // of those, shown
	afterExit = 300 * time.Millisecond // for output that a stranger may hold open
)

// name is the program as errors name it.
func (a *authorizer) name() string { return fmt.Sprintf("the program %q", filepath.Base(a.Command[0])) }

// run runs the program to its end. Nothing that it started is left then.
func (a *authorizer) run(ctx context.Context) (*running, error) {
	path, err := stdio.Resolve(a.Command[0], a.dir, a.env)
	if err != nil {
		return nil, err
	}
	r := &running{full: make(chan struct{})}
	if err := r.start(process.Command{Path: path, Args: a.Command, Env: a.env, Dir: a.dir}); err != nil {
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "not_started", Path: "command", Message: fmt.Sprintf("starting %s: %v", path, err)}
	}
	problem := r.await(ctx, a.Timeout)
	r.drain()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.toolong {
		problem = "printed more than 64 KiB"
	}
	if code := r.proc.ExitCode(); problem == "" && code != 0 {
		problem = r.proc.Ended()
	}
	if problem != "" {
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "command_failed", Path: "command", Message: a.name() + " " + problem, Output: r.said(a.hidden),
			Hint: "run the command by hand; it gets only PATH, HOME, the locale and the like, what env sets and the variables that pass_env names",
		}
	}
	return r, nil
}

// A running is one run of the program.
type running struct {
	proc    *process.Process
	pipes   [2]*os.File // our ends
	work    sync.WaitGroup
	full    chan struct{} // closed when there is too much on standard output
	stdout  []byte        // these two belong to their readers until drain
	stderr  []byte
	toolong bool
}

func (r *running) start(c process.Command) error {
	out, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errs, errsW, err := os.Pipe()
	if err != nil {
		_, _ = out.Close(), outW.Close()
		return err
	}
	c.Stdout, c.Stderr = outW, errsW
	r.proc, err = process.Start(c)
	_, _ = outW.Close(), errsW.Close()
	r.pipes = [2]*os.File{out, errs}
	if err != nil {
		_, _ = out.Close(), errs.Close()
		return err
	}
	r.work.Go(func() {
		read(out, func(b []byte) {
			if len(r.stdout)+len(b) <= maxOutput {
				r.stdout = append(r.stdout, b...)
			} else if !r.toolong {
				r.toolong = true
				close(r.full)
			}
		})
	})
	r.work.Go(func() {
		read(errs, func(b []byte) {
			r.stderr = append(r.stderr, b...)
			r.stderr = r.stderr[max(0, len(r.stderr)-maxSaid):]
		})
	})
	return nil
}

// read reads a pipe to its end, or for a moment longer than the program ran.
func read(pipe *os.File, take func([]byte)) {
	words, b := process.LastWords(pipe, afterExit), make([]byte, 4<<10)
	for {
		n, err := words.Read(b)
		take(b[:n])
		if err != nil {
			return
		}
	}
}

// await waits for the end of the program and sees to it that there is one. It
// says why it had to.
func (r *running) await(ctx context.Context, timeout time.Duration) (problem string) {
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-r.proc.Done():
		return ""
	case <-t.C:
		problem = fmt.Sprintf("had not ended after %s", timeout)
	case <-r.full:
	case <-ctx.Done():
	}
	r.proc.Kill()
	<-r.proc.Done()
	return problem
}

// drain reads what is left in the pipes, which a process that is none of ours
// any more may hold open for ever.
func (r *running) drain() {
	for _, pipe := range r.pipes {
		_ = pipe.SetReadDeadline(time.Now())
	}
	r.work.Wait()
	for _, pipe := range r.pipes {
		_ = pipe.Close()
	}
}

// secretLooking is what a token is made of.
var secretLooking = regexp.MustCompile(`[A-Za-z0-9._~+/=-]{6,}`)

// said are the last lines of standard error, without what the program was given
// in confidence and without anything that stands on standard output: a script
// that is being debugged prints both.
func (r *running) said(hidden []string) []string {
	text := strings.ToValidUTF8(string(r.stderr), "\uFFFD")
	hidden = append(slices.Clone(hidden), secretLooking.FindAllString(string(r.stdout), -1)...)
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // the whole before its parts
	for _, secret := range hidden {
		if len(secret) >= 6 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	return lines[max(0, len(lines)-saidLines):]
}

// values are those of NAME=value.
func values(env []string) []string {
	var vs []string
	for _, kv := range env {
		_, v, _ := strings.Cut(kv, "=")
		vs = append(vs, v)
	}
	return vs
}
