package limit

import (
	"context"
	"fmt"
	"time"
)

// A Call identifies the limits that a call counts against.
type Call struct {
	Tenant       string
	Roles        []string // of the principal
	Server, Tool string   // Tool is the server's own name
}

// A Limiter bounds the rate and the concurrency of calls. Its methods may be called
// concurrently. [Tools] is one.
type Limiter interface {
	// Acquire takes a place for a call. It waits for it as long as the limit allows. The
	// error is a [*RateError], a [*BusyError] or that of ctx. The caller calls release
	// once.
	Acquire(ctx context.Context, c Call) (release func(), err error)
}

// Unlimited is the limiter without limits.
type Unlimited struct{}

// Acquire returns at once.
func (Unlimited) Acquire(context.Context, Call) (release func(), err error) { return nothing, nil }

func nothing() {}

// A RateError means that a tenant calls a tool too often.
type RateError struct {
	Rate       float64 // calls per second that are allowed
	RetryAfter time.Duration
}

func (e *RateError) Error() string {
	return fmt.Sprintf("the tool may be called %g times a second", e.Rate)
}

// A BusyError means that too many calls of a tool by a tenant are in progress.
type BusyError struct {
	Max    int           // calls at a time that are allowed
	Waited time.Duration // that the call has waited
}

func (e *BusyError) Error() string {
	if e.Waited == 0 {
		return fmt.Sprintf("%d calls of the tool are in progress", e.Max)
	}
	return fmt.Sprintf("%d calls of the tool were in progress for %s", e.Max, e.Waited)
}
