package main

import (
	"errors"

	"github.com/junctor-mcp/junctor/sdk"
)

// An order is what a worker is to do, one each, as JSON on its standard input.
type order struct {
	Backend    string
	Collection string
	Do         string // get, set, delete, keys
	Key        string
	Value      []byte
}

// An answer is what became of it, as JSON on its standard output.
type answer struct {
	Value []byte
	Found bool
	Keys  []string
	Wrong *sdk.Error
}

// mostAnswer bounds what is read of a worker.
const mostAnswer = 4 << 20

// typed makes an error of the SDK's of any error.
func typed(err error) *sdk.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*sdk.Error](err); ok {
		return e
	}
	return sdk.Errorf(sdk.Unavailable, "%v", err)
}

func absent(hint, format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Unavailable, format, args...)
	e.Reason, e.Hint = "absent", hint
	return e
}

func locked(format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Denied, format, args...)
	e.Reason = "locked"
	e.Hint = "log in to the desktop, or unlock it in its own program, and try again; or choose another place: secret_store \"file\" {}"
	return e
}

func damaged(format string, args ...any) *sdk.Error {
	e := sdk.Errorf(sdk.Unavailable, format, args...)
	e.Reason = "damaged"
	return e
}
