package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/plugins/internal/subprocess"
	"github.com/junctor-mcp/junctor/sdk"
	"github.com/junctor-mcp/junctor/sdk/process"
	"github.com/junctor-mcp/junctor/sdk/stdio"
)

const (
	maxStdout     = 64 << 10 // bytes of standard output; more is an error
	maxStderr     = 8 << 10  // bytes kept from the end of standard error
	maxErrorLines = 20       // lines of standard error that an error shows
)

// name returns the name of the program for error messages.
func (a *authorizer) name() string { return fmt.Sprintf("the program %q", filepath.Base(a.Command[0])) }

// A programRun holds the output of one run of the program. It is complete once the
// process is drained.
type programRun struct {
	proc   *subprocess.Process
	stdout limitedBuffer
	stderr tailBuffer
}

// run runs the program to its end. When run returns, no process that the program
// started is left. It fails if the program cannot be started, does not exit with
// status 0 within the timeout, or prints more than maxStdout bytes.
func (a *authorizer) run(ctx context.Context) (*programRun, error) {
	path, err := stdio.Resolve(a.Command[0], a.dir, a.env)
	if err != nil {
		return nil, err
	}
	r := &programRun{stdout: limitedBuffer{full: make(chan struct{})}}
	r.proc, err = subprocess.Start(process.Command{Path: path, Args: a.Command, Env: a.env, Dir: a.dir}, nil, nil,
		&r.stdout, &r.stderr)
	if err != nil {
		return nil, &sdk.Error{Code: sdk.Unavailable, Reason: "not_started", Path: "command",
			Message: fmt.Sprintf("starting %s: %v", path, err),
			Hint:    "check that the file may be executed, that it is for this system, and that the interpreter in its first line exists"}
	}
	problem := r.wait(ctx, a.Timeout)
	r.proc.Drain()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if r.stdout.overflowed {
		problem = "printed more than 64 KiB"
	}
	if code := r.proc.ExitCode(); problem == "" && code != 0 {
		problem = r.proc.Ended()
	}
	if problem != "" {
		return nil, &sdk.Error{
			Code: sdk.Unavailable, Reason: "command_failed", Path: "command", Message: a.name() + " " + problem,
			Output: r.errorLines(a.hidden),
			Hint:   "run the command by hand; it gets only PATH, HOME, the locale and the like, what env sets and the variables that pass_env names",
		}
	}
	return r, nil
}

// wait waits for the end of the program. It kills the program at the timeout,
// when standard output overflows and when ctx is done. problem is set only for
// the timeout.
func (r *programRun) wait(ctx context.Context, timeout time.Duration) (problem string) {
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-r.proc.Done():
		return ""
	case <-t.C:
		problem = fmt.Sprintf("had not ended after %s", timeout)
	case <-r.stdout.full:
	case <-ctx.Done():
	}
	r.proc.Kill()
	<-r.proc.Done()
	return problem
}

// A limitedBuffer keeps the first maxStdout bytes written to it and drops the
// rest.
type limitedBuffer struct {
	text       []byte
	overflowed bool
	full       chan struct{} // closed on overflow
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxStdout && !b.overflowed {
		b.overflowed = true
		close(b.full)
	}
	b.text = append(b.text, p[:min(len(p), maxStdout-len(b.text))]...)
	return len(p), nil
}

// A tailBuffer keeps the last maxStderr bytes written to it.
type tailBuffer struct{ text []byte }

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	b.text = b.text[max(0, len(b.text)-maxStderr):]
	return len(p), nil
}

const minSecret = 6 // bytes; shorter values are too common to redact

// secretLike matches text that may be a token.
var secretLike = regexp.MustCompile(`[A-Za-z0-9._~+/=-]{6,}`)

// errorLines returns the last lines of standard error. It redacts the hidden
// values and every text from standard output that may be a token, because a
// script that runs with "set -x" prints both.
func (r *programRun) errorLines(hidden []string) []string {
	text := strings.ToValidUTF8(string(r.stderr.text), "\uFFFD")
	hidden = append(slices.Clone(hidden), secretLike.FindAllString(string(r.stdout.text), -1)...)
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // a value before its parts
	for _, secret := range hidden {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	return lines[max(0, len(lines)-maxErrorLines):]
}

// values returns the values of variables of the form NAME=value.
func values(env []string) []string {
	var vs []string
	for _, kv := range env {
		_, v, _ := strings.Cut(kv, "=")
		vs = append(vs, v)
	}
	return vs
}
