// Package fault defines the error type that users see. A fault says what
// happened, where it happened and what to do. Its stable code is documented in
// docs/errors.md, and programs may match on it.
//
// A package returns a fault where it knows the remedy. Other errors stay ordinary
// errors, and a caller wraps them in a fault.
//
// fault.go has the type, code.go all codes, document.go the JSON form, and authplugin.go the errors
// of plugins about credentials. All packages of the host make faults; the command line, the gateway
// and the control socket print them. Codes are an interface: docs/errors.md lists them, so none is
// renamed.
package fault

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
)

// An Error is a fault. Code and Message are always set. Any other field may be
// zero, which means that the information is not available.
type Error struct {
	Code    Code
	Message string // what happened; lower case, one sentence without a period

	Server string   // where: the server block's label
	Plugin string   // where: the plugin's name
	At     string   // where: file:line:column in the configuration
	Path   string   // where: the setting in the server's block, while At is unknown
	Output []string // where: the last lines that the server or plugin printed

	Hint       string         // what to do, in the imperative
	RetryAfter time.Duration  // how long to wait before a retry
	Timeout    time.Duration  // the timeout that ended the call
	Data       map[string]any // further members of the data of its JSON-RPC error
	Err        error          // the cause, for errors.Is and errors.As
}

// New returns a fault with a formatted message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Because returns a fault that wraps err. The text of err is appended to the
// formatted message.
func Because(code Code, err error, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Err: err}
}

// WithHint sets the hint of e and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Error returns the message, prefixed with the server if there is one.
func (e *Error) Error() string {
	if e.Server != "" {
		return fmt.Sprintf("server %q: %s", e.Server, e.Message)
	}
	return e.Message
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// In returns err as a fault of the given server. It leaves err unchanged and
// keeps a server that err already names. It returns nil if err is nil.
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

// As returns the fault in the chain of err. If there is none, it wraps err in a
// fault with the code Internal.
func As(err error) *Error {
	if f, ok := errors.AsType[*Error](err); ok {
		return f
	}
	return &Error{Code: Internal, Message: err.Error(), Err: err}
}

// Is reports whether the chain of err has a fault with the given code.
func Is(err error, code Code) bool {
	f, ok := errors.AsType[*Error](err)
	return ok && f.Code == code
}

// ErrPanic is in the chain of every fault that [Recover] makes of a panic.
var ErrPanic = errors.New("a panic")

// Recover turns a panic into a fault of the server in *err and logs it with its stack.
// The fault has the code Internal, and doing completes its message. Recover leaves *err
// unchanged if there is no panic. Call it directly with defer.
func Recover(err *error, log hclog.Logger, server, doing string) {
	if p := recover(); p != nil {
		log.Error("recovered from a panic",
			"server", server, "doing", doing, "panic", p, "stack", string(debug.Stack()))
		f := New(Internal, "internal error in junctor while %s; the log has the stack", doing)
		f.Server, f.Err = server, ErrPanic
		*err = f
	}
}
