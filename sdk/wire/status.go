package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/junctor-mcp/junctor/sdk"
)

// What an error may carry across, so that it fits in a frame and in a message to
// a person.
const (
	textKept    = 8 << 10 // bytes of each text
	outputKept  = 50      // lines
	outputShown = 2 << 10 // bytes of each line
)

// StatusOf turns an error into what crosses the wire.
func StatusOf(err error) Status {
	if err == nil {
		return Status{}
	}
	all := flatten(err)
	first := all[0]
	s := Status{Code: cmp.Or(string(first.Code), string(sdk.Internal)), Reason: first.Reason, Message: clip(first.Message, textKept), Hint: clip(first.Hint, textKept)}
	for _, line := range first.Output[max(0, len(first.Output)-outputKept):] {
		s.Output = append(s.Output, clip(line, outputShown))
	}
	switch {
	case slices.ContainsFunc(all, func(e *sdk.Error) bool { return e.Code == sdk.Invalid }):
		s.Code = string(sdk.Invalid)
		for _, e := range all {
			s.Diags = append(s.Diags, diagnostic(e))
		}
	case len(all) > 1: // and not about settings: one message has to do
		s.Message = clip(err.Error(), textKept)
	case first.Path != "":
		s.Diags = []Diagnostic{diagnostic(first)}
	}
	return s
}

func diagnostic(e *sdk.Error) Diagnostic {
	return Diagnostic{Path: clip(e.Path, textKept), Message: clip(e.Message, textKept), Hint: clip(e.Hint, textKept)}
}

func clip(s string, size int) string {
	if len(s) <= size {
		return s
	}
	return strings.ToValidUTF8(s[:size], "") + " …"
}

// flatten lists what a tree of joined errors says, each part as an sdk error.
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
			// What the author wrote around it belongs to the message.
			e := *all[0]
			e.Message = strings.Replace(err.Error(), inner.Error(), e.Message, 1)
			all[0] = &e
		}
	}
	if len(all) > 0 {
		return all
	}
	code := sdk.Internal
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = sdk.Deadline
	case errors.Is(err, context.Canceled):
		code = sdk.Canceled
	}
	return []*sdk.Error{sdk.Errorf(code, "%v", err)}
}

// Err turns a status back into an error: nil, an *sdk.Error, or several
// joined when settings are wrong in several places.
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

// panicked is the status of a call whose code panicked.
func panicked(value any, stack []byte) Status {
	return Status{
		Code: string(sdk.Panicked), Message: clip(fmt.Sprintf("panic: %v", value), textKept),
		Hint: "this is a mistake in the plugin; its log has the stack", Stack: string(stack[:min(len(stack), 8<<10)]),
	}
}
