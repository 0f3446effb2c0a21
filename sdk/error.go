package sdk

import (
	"errors"
	"fmt"
)

// A Code is the class of an [Error]. The host decides by it what to do next.
type Code string

const (
	Invalid       Code = "invalid_config" // the settings cannot be used
	Unavailable   Code = "unavailable"    // the server cannot be reached now
	AuthRequired  Code = "auth_required"  // the server wants credentials, or better ones
	NeedsLogin    Code = "needs_login"    // only a person can obtain the credentials
	Denied        Code = "denied"         // policy or the user rejected the request
	Canceled      Code = "canceled"       // the caller canceled the request
	Deadline      Code = "deadline"       // the request timed out
	Unimplemented Code = "unimplemented"  // the other side does not offer this
	Internal      Code = "internal"       // a bug in the plugin
	Panicked      Code = "panic"          // a bug in the plugin that caused a panic
)

// An Error keeps all its fields across the process boundary. Any other error
// reaches the host as text of code Unavailable. The two errors of package context
// become Canceled and Deadline.
type Error struct {
	Code    Code
	Reason  string   // stable word for programs, such as "command_not_found"; may be empty
	Message string   // what failed and why, without the name of the server
	Hint    string   // what the user can do about it; may be empty
	Path    string   // setting that caused the error, such as headers["Host"] or retry[0].max; may be empty
	Output  []string // last lines that the server printed, oldest first; may be empty
	Err     error    // cause, for [errors.Is] in the plugin: it does not reach the host; may be nil
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string {
	if e.Path != "" {
		return e.Path + ": " + e.Message
	}
	return e.Message
}

// Errorf returns an Error with a code and a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AttrErrorf returns an Error of code Invalid for one setting. path is written
// as in the configuration: url, headers["Host"], retry[0].max.
func AttrErrorf(path, format string, args ...any) *Error {
	return &Error{Code: Invalid, Path: path, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first [*Error] that err wraps, or Internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// Dropped is the error that Recv of a [Conn] returns for a message that it
// could not deliver. The connection stays usable: the host calls Recv again. If
// Prefix shows which call the message belonged to, the host fails that call.
//
// The reason "gap" reports the loss of an unknown number of notifications and
// requests of the server. The host then fetches again everything that may have
// changed.
type Dropped struct {
	Reason string // stable word, such as "message_too_large" or "gap"
	Size   int64  // size of the message in bytes, if known
	Limit  int64  // exceeded limit in bytes, if there is one
	Prefix []byte // first bytes of the message, at most 4 KiB
}

// Failed is the error that Recv of a [Conn] returns for a request of the host
// that gets no response. It is for transports whose requests can fail one by
// one, for example with one HTTP request each. The connection stays usable
// unless Ends is set: the host calls Recv again.
type Failed struct {
	ID  []byte // id of the request, with the bytes that it had there
	Err *Error // reason of the failure
	// Delivered is true if the server may have begun to process the request.
	// The host then sends the request again only if that is harmless.
	Delivered bool
	// Ends is true if the failure makes the connection unusable; the next Recv
	// returns its end. The host sends a request that was not delivered again on
	// another connection.
	Ends bool
}

func (f *Failed) Error() string { return f.Unwrap().Error() }

// Unwrap returns Err, or an Error of code Internal if Err is nil.
func (f *Failed) Unwrap() error {
	if f.Err == nil {
		return Errorf(Internal, "the transport did not say why the request failed")
	}
	return f.Err
}

func (d *Dropped) Error() string {
	return fmt.Sprintf("message of %d bytes dropped: %s", d.Size, d.Reason)
}
