package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/plugins/cli/confine"
	"github.com/junctor-mcp/junctor/plugins/cli/run"
	"github.com/junctor-mcp/junctor/plugins/cli/tool"
	"github.com/junctor-mcp/junctor/plugins/cli/wall"
)

// call answers tools/call. A failed run is a tool result, so that the model can
// read the error. Only an unknown tool is a protocol error.
func (s *server) call(r *request) (any, *rpcError) {
	name, ok := r.params.text("name")
	if !ok {
		return nil, &rpcError{Code: invalidParams, Message: "params.name must be a string"}
	}
	t := s.catalog.find(r.ctx, name)
	if t == nil {
		return nil, &rpcError{Code: invalidParams, Message: fmt.Sprintf("unknown tool: %.100q", name)}
	}
	result := s.run(r, t)
	if result == nil {
		return nil, nil
	}
	return modernResult(r, result, ""), nil
}

// run runs the program for one call, on the goroutine of the request. It waits for
// a slot and for the end of the program. It returns nil if the request was cancelled.
func (s *server) run(r *request, t *tool.Tool) json.RawMessage {
	checks, err := s.checks(t)
	if err != nil {
		return run.ErrorResult(err.Error())
	}
	call, err := run.Prepare(t, r.params["arguments"], checks...)
	if err != nil {
		return run.ErrorResult(err.Error())
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.ctx.Done():
		return nil
	}
	n, err := s.newTurn(t, call)
	if err != nil {
		return run.ErrorResult(err.Error())
	}
	defer n.end()
	args := call.Argv(n.temp)
	p := s.programs.of(t)
	o, err := run.Run(r.ctx, run.Command{
		Path: p.path, Args: slices.Concat(p.command, args), Env: n.env, Dir: p.dir,
		Stdin: call.Stdin, Limits: s.limits(t), Rules: n.rules, Timeout: s.timeout(t), MaxOutput: s.maxOutput(t),
		MaxStderr: s.set.MaxStderr,
		Progress:  s.progress(r), Force: s.force,
	})
	if err != nil {
		return run.ErrorResult(fmt.Sprintf("starting %s: %s", filepath.Base(p.command[0]), errorWithoutPath(err)))
	}
	s.log.Debug("ran", "tool", t.Name, "exit_code", o.ExitCode, "duration", o.Duration.Round(time.Millisecond))
	if r.ctx.Err() != nil {
		return nil
	}
	if n.files != nil {
		o.Written = n.files.Read(s.maxOutput(t))
	}
	return s.runResult(t, o, n.explain(o, args))
}

// checks returns the checks for the values of a call.
func (s *server) checks(t *tool.Tool) ([]run.Check, error) {
	if !t.Confined {
		return nil, nil
	}
	cwd := s.programs.of(t).dir
	dir, err := confine.New(cwd)
	if err != nil {
		return nil, fmt.Errorf("the working directory %s: %s", cwd, errorWithoutPath(err))
	}
	return []run.Check{run.Within(dir)}, nil
}

// envelopeSize bounds the bytes of a message around its result.
const envelopeSize = 4 << 10

// runResult returns the tool result for a run, with what the wall may have refused. It
// shrinks the output until the result fits into a message.
func (s *server) runResult(t *tool.Tool, o *run.Outcome, refused []wall.Refusal) json.RawMessage {
	form := s.form(t)
	form.Refused = refused
	result := form.Result(o)
	for most := s.maxOutput(t) / 2; len(result) > s.maxMessage-envelopeSize && most > 0; most /= 2 {
		o.Shrink(most)
		result = form.Result(o)
	}
	return result
}

// progress returns a function that sends progress notifications, or nil if the
// call does not ask for them.
func (s *server) progress(r *request) func(run.Progress) {
	token := r.params.members("_meta")["progressToken"]
	if isNull(token) {
		return nil
	}
	var meter run.Meter
	return func(p run.Progress) {
		message := fmt.Sprintf("%d s, %d bytes in %d lines", int(p.Elapsed.Seconds()), p.Bytes, p.Lines)
		if p.Last != "" {
			message += ": " + p.Last
		}
		value, total := meter.Next(p)
		s.push(notification("notifications/progress", struct {
			Token    json.RawMessage `json:"progressToken"`
			Progress float64         `json:"progress"`
			Total    float64         `json:"total,omitempty"`
			Message  string          `json:"message"`
		}{token, value, total, message}))
	}
}
