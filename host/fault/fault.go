// Package fault is the one error that people see: what happened, where, what
// to do, and a stable code that programs may look at and docs/errors.md
// explains.
//
// A room makes a fault where it knows what the user can do about it. Anything
// else stays an ordinary error and is wrapped into one further out.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// An Error is a fault. The zero value of every field but Code and Message
// means that there is nothing to say.
type Error struct {
	Code    Code
	Message string // what happened; lower case, one sentence without a full stop

	Server string   // where: the server block's label
	Plugin string   // where: the plugin's name
	At     string   // where: file:line:column in the configuration
	Path   string   // where: the setting of the server's block, before At is known
	Output []string // where: the last lines that the server or plugin printed

	Hint       string        // what to do
	RetryAfter time.Duration // when it may work again
	Err        error         // what caused it, for errors.Is
}

// New makes a fault.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because makes a fault of another error, whose text becomes part of the
// message.
func Because(code Code, err error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Err: err}
}

// WithHint sets what to do.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error is what happened, without the rest.
func (e *Error) Error() string {
	if e.Server != "" {
		return fmt.Sprintf("server %q: %s", e.Server, e.Message)
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// In returns err as a fault of the given server, without changing err.
func In(server string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Error](err); ok {
		if f.Server != "" {
			return err
		}
		copied := *f
		copied.Server = server
		return &copied
	}
	return &Error{Code: Internal, Message: err.Error(), Server: server, Err: err}
}

// As returns the fault that err is or wraps; any other error becomes an
// internal one.
func As(err error) *Error {
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return &Error{Code: Internal, Message: err.Error(), Err: err}
}

// Is reports whether err is or wraps a fault of the given code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Error](err)
	return ok && f.Code == code
}
