package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
)

// limitError returns an error of the limiter as the client of a tool call gets it. A client cannot change the
// limit, so the hint says when to try again; the limiter's warning in the log names the block of the limit. The
// functions of this file are pure. The limits themselves are in package limit.
func limitError(u *use, err error) error {
	if e, ok := errors.AsType[*limit.RateError](err); ok {
		f := fault.New(fault.LimitRate, "rate limit reached: %s", e)
		f.Server, f.RetryAfter, f.Hint = u.item.Server, roundUp(e.RetryAfter), tryAgain(e.RetryAfter)
		f.Data = map[string]any{"limit": e.Scope}
		return f
	}
	if e, ok := errors.AsType[*limit.BusyError](err); ok {
		f := fault.New(fault.LimitConcurrent, "concurrency limit reached: %s", e)
		f.Server, f.RetryAfter, f.Hint = u.item.Server, roundUp(e.RetryAfter), tryAgain(e.RetryAfter)
		f.Data = map[string]any{
			"limit": e.Scope, "max_in_flight": e.Max, "queue_wait_ms_exceeded": e.Waited.Milliseconds(),
		}
		return f
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Because(fault.CallTimeout, err, "waiting for other calls of the tool took too long")
	}
	return fault.Because(fault.CallCanceled, err, "the call was cancelled while it waited for others")
}

// tryAgain returns the hint of a call that may succeed after a time.
func tryAgain(after time.Duration) string {
	if after = roundUp(after); after > 0 {
		return "try again in " + after.String()
	}
	return "try again later"
}

// limitScope returns whose limit of calls refused a request; empty: no limit did.
func limitScope(err error) limit.Scope {
	if e, ok := errors.AsType[*limit.RateError](err); ok {
		return e.Scope
	}
	if e, ok := errors.AsType[*limit.BusyError](err); ok {
		return e.Scope
	}
	return ""
}

// roundUp returns at least one whole millisecond, so that a client which waits that long
// does not come too early.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
