package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/junctor-mcp/junctor/sdk"
)

// Limits for the texts of an error, so that it fits in a frame and can be
// displayed.
const (
	maxText        = 8 << 10 // bytes of each text
	maxOutputLines = 50      // lines
	maxOutputLine  = 2 << 10 // bytes of each line
)

// StatusOf converts an error to its form on the wire.
func StatusOf(err error) Status {
	if err == nil {
		return Status{}
	}
	all := flatten(err)
	first := all[0]
	s := Status{Code: cmp.Or(string(first.Code), string(sdk.Internal)), Reason: first.Reason,
		Message: clip(first.Message, maxText), Hint: clip(first.Hint, maxText)}
	for _, line := range first.Output[max(0, len(first.Output)-maxOutputLines):] {
		s.Output = append(s.Output, clip(line, maxOutputLine))
	}
	switch {
	case slices.ContainsFunc(all, func(e *sdk.Error) bool { return e.Code == sdk.Invalid }):
		s.Code = string(sdk.Invalid)
		for _, e := range all {
			s.Diags = append(s.Diags, diagnostic(e))
		}
	case len(all) > 1: // only errors about settings are sent one by one
		s.Message = clip(err.Error(), maxText)
	case first.Path != "":
		s.Diags = []Diagnostic{diagnostic(first)}
	}
	return s
}

func diagnostic(e *sdk.Error) Diagnostic {
	return Diagnostic{Path: clip(e.Path, maxText), Message: clip(e.Message, maxText), Hint: clip(e.Hint, maxText)}
}

// clip shortens s to size bytes.
func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return strings.ToValidUTF8(s[:size], "") + " …"
}

// flatten returns the errors of a tree of joined errors. Each leaf becomes an
// [sdk.Error].
func flatten(err error) []*sdk.Error {
	if e, ok := err.(*sdk.Error); ok {
		return []*sdk.Error{e}
	}
	var all []*sdk.Error
	switch u := err.(type) {
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			all = append(all, flatten(e)...)
		}
	case interface{ Unwrap() error }:
		inner := u.Unwrap()
		if inner == nil {
			break
		}
		if all = flatten(inner); len(all) == 1 {
			// The message keeps the text that the author wrapped around the
			// error.
			e := *all[0]
			e.Message = strings.Replace(err.Error(), inner.Error(), e.Message, 1)
			all[0] = &e
		}
	}
	if len(all) > 0 {
		return all
	}
	code := plainCode
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = sdk.Deadline
	case errors.Is(err, context.Canceled):
		code = sdk.Canceled
	}
	return []*sdk.Error{sdk.Errorf(code, "%v", err)}
}

// plainCode is the code of an error without one, such as that of a dial: authors return these
// for what fails outside of the plugin.
const plainCode = sdk.Unavailable

// Err converts a status to an error: nil, an *sdk.Error, or several joined if
// several settings are wrong.
func (s Status) Err() error {
	if s.Code == "" {
		return nil
	}
	if len(s.Diags) > 1 {
		var errs []error
		for _, d := range s.Diags {
			errs = append(errs, &sdk.Error{Code: sdk.Code(s.Code), Path: d.Path, Message: d.Message, Hint: d.Hint})
		}
		return errors.Join(errs...)
	}
	e := &sdk.Error{Code: sdk.Code(s.Code), Reason: s.Reason, Message: s.Message, Hint: s.Hint, Output: s.Output}
	if len(s.Diags) == 1 {
		e.Path = s.Diags[0].Path
	}
	return e
}

// A panicError reports a panic that withRecover recovered.
type panicError struct{ status Status }

func (e *panicError) Error() string { return e.status.Message }

// Unwrap returns an [sdk.Error] of code Panicked.
func (e *panicError) Unwrap() error { return e.status.Err() }

// withRecover calls f and returns a panic as a *panicError, so that a bug in
// the author's code does not end the process. It logs the panic to log, which
// may be nil.
func withRecover(log hclog.Logger, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			if log != nil {
				log.Error("panic", "value", v, "stack", string(stack))
			}
			err = &panicError{status: panicked(v, stack)}
		}
	}()
	return f()
}

// panicked returns the status of a call that panicked.
func panicked(value any, stack []byte) Status {
	return Status{
		Code: string(sdk.Panicked), Message: clip(fmt.Sprintf("panic: %v", value), maxText),
		Hint: "this is a mistake in the plugin; its log has the stack", Stack: string(stack[:min(len(stack), 8<<10)]),
	}
}
