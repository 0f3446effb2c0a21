package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/junctor-mcp/junctor/sdk"
)

// StatusOf turns an error into what crosses the wire.
func StatusOf(err error) Status {
	if err == nil {
		return Status{}
	}
	all := flatten(err, nil)
	var s Status
	for _, e := range all {
		if e.Code == sdk.Invalid {
			s.Diags = append(s.Diags, Diagnostic{Path: e.Path, Message: e.Message, Hint: e.Hint})
		}
	}
	if len(all) > 0 {
		e := all[0]
		s.Code, s.Reason, s.Message, s.Hint, s.Output = string(e.Code), e.Reason, e.Message, e.Hint, e.Output
		if len(s.Diags) > 0 {
			s.Code = string(sdk.Invalid)
		}
		if e.Code != sdk.Invalid && e.Path != "" {
			s.Diags = append(s.Diags, Diagnostic{Path: e.Path, Message: e.Message, Hint: e.Hint})
		}
		return s
	}
	s.Message = err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.Code = string(sdk.Deadline)
	case errors.Is(err, context.Canceled):
		s.Code = string(sdk.Canceled)
	default:
		s.Code = string(sdk.Internal)
	}
	return s
}

// flatten collects the sdk errors in a tree of joined errors.
func flatten(err error, into []*sdk.Error) []*sdk.Error {
	if e, ok := err.(*sdk.Error); ok {
		return append(into, e)
	}
	switch u := err.(type) {
	case interface{ Unwrap() []error }:
		for _, e := range u.Unwrap() {
			into = flatten(e, into)
		}
	case interface{ Unwrap() error }:
		if inner := u.Unwrap(); inner != nil {
			into = flatten(inner, into)
		}
	}
	return into
}

// Err turns a status back into an error: nil, an *sdk.Error, or several
// joined when settings are wrong in several places.
func (s Status) Err() error {
	if s.Code == "" {
		return nil
	}
	if s.Code == string(sdk.Invalid) && len(s.Diags) > 0 {
		var errs []error
		for _, d := range s.Diags {
			errs = append(errs, &sdk.Error{Code: sdk.Invalid, Path: d.Path, Message: d.Message, Hint: d.Hint})
		}
		return errors.Join(errs...)
	}
	e := &sdk.Error{Code: sdk.Code(s.Code), Reason: s.Reason, Message: s.Message, Hint: s.Hint, Output: s.Output}
	if len(s.Diags) == 1 {
		e.Path = s.Diags[0].Path
	}
	return e
}

// panicked is the status of a call whose code panicked.
func panicked(value any, stack []byte) Status {
	return Status{
		Code: string(sdk.Panicked), Message: fmt.Sprintf("panic: %v", value),
		Hint: "this is a mistake in the plugin; its log has the stack", Stack: string(stack[:min(len(stack), 8<<10)]),
	}
}
