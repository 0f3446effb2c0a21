package sessionstore

import (
	"errors"
	"fmt"
)

var (
	// ErrUnknown is a session that is not there: it never was, it has ended, or
	// it belongs to somebody else. Nobody can tell which.
	ErrUnknown = errors.New("there is no such session")
	// ErrFull is what a FullError is.
	ErrFull = errors.New("there is no room for another session")
	// ErrClosed is returned by a store that was closed.
	ErrClosed = errors.New("the session store is closed")
	// ErrNoStream is a stream that never was, or a position that nothing was
	// sent at.
	ErrNoStream = errors.New("there is no such stream, or it never got that far")
)

// A FullError says that there are as many sessions as there may be: at all or,
// with Owner, of the one who wants another.
type FullError struct {
	Max   int
	Owner bool
}

func (e *FullError) Error() string {
	if e.Owner {
		return "the client has as many sessions as one may have"
	}
	return fmt.Sprintf("there are %d sessions already, which is as many as there may be", e.Max)
}

func (e *FullError) Is(target error) bool { return target == ErrFull }

// A PurgedError says that something behind a reader's position is no longer
// there. A reader that accepts this goes on from Resume.
type PurgedError struct {
	Missed uint64 // events, at most; at least one
	Resume uint64
}

func (e *PurgedError) Error() string {
	return fmt.Sprintf("up to %d events that were not read are no longer kept", e.Missed)
}
