package sdk

import (
	"errors"
	"fmt"
)

// A Code is the class of an [Error]: it decides what the host does next.
type Code string

const (
	Invalid       Code = "invalid_config" // the settings cannot be used
	Unavailable   Code = "unavailable"    // the server cannot be reached now
	AuthRequired  Code = "auth_required"  // the server wants credentials, or better ones
	NeedsLogin    Code = "needs_login"    // only a person can obtain the credentials
	Denied        Code = "denied"         // somebody decided against it
	Canceled      Code = "canceled"       // the caller gave up
	Deadline      Code = "deadline"       // the time given was not enough
	Unimplemented Code = "unimplemented"  // the other side does not offer this
	Internal      Code = "internal"       // a mistake in the plugin
	Panicked      Code = "panic"          // a mistake in the plugin, found the hard way
)

// An Error crosses the process boundary with its meaning intact. Any other
// error arrives at the host as text with the code Internal (or Canceled or
// Deadline, for the two errors of package context).
type Error struct {
	Code    Code
	Reason  string   // one stable word that programs may look at, such as "command_not_found"; may be empty
	Message string   // what happened, without the name of the server
	Hint    string   // what the user can do about it; may be empty
	Path    string   // which setting is at fault, such as headers["Host"] or retry[0].max; may be empty
	Output  []string // the last lines that the server printed, oldest first; may be empty
}

func (e *Error) Error() string {
	if e.Path != "" {
		return e.Path + ": " + e.Message
	}
	return e.Message
}

// Errorf makes an Error with a class and a message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AttrErrorf makes an Error of code Invalid that points at one setting. Path
// is written as in the configuration: url, headers["Host"], retry[0].max.
func AttrErrorf(path, format string, args ...any) *Error {
	return &Error{Code: Invalid, Path: path, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the class of err: that of the first [*Error] it wraps, or
// Internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Dropped is what Recv of a [Conn] returns for a message that it could not
// deliver. The connection goes on: Recv is called again. The host answers the
// call that the message belonged to, where Prefix tells which. The reason "gap"
// says that it is not known what was lost of what the server sends on its own
// account: the host then asks for what may have changed.
type Dropped struct {
	Reason string // one stable word, such as "message_too_large" or "gap"
	Size   int64  // of the message in bytes, where known
	Limit  int64  // that it went beyond, where there is one
	Prefix []byte // how the message began, at most 4 KiB
}

// Failed is what Recv of a [Conn] returns for a request of the host's that will
// not be answered, where one request can fail alone: each is an HTTP request of
// its own, say. The connection goes on: Recv is called again.
type Failed struct {
	ID  []byte // of the request, as it stood there
	Err *Error // why
	// Delivered is true when the server may have begun to act on the request,
	// which then is not sent again unless that is harmless.
	Delivered bool
	// Ends is true when the connection is of no further use because of it:
	// what Recv returns next is its end. The host sends a request that was not
	// delivered again, on another connection.
	Ends bool
}

func (f *Failed) Error() string { return f.Unwrap().Error() }

// Unwrap returns why.
func (f *Failed) Unwrap() error {
	if f.Err == nil {
		return Errorf(Internal, "the transport did not say why the request failed")
	}
	return f.Err
}

func (d *Dropped) Error() string {
	return fmt.Sprintf("message of %d bytes dropped: %s", d.Size, d.Reason)
}
