package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
)

// limitError returns an error of the limiter as the client of a tool call gets it.
func (r *request) limitError(err error) error {
	if e, ok := errors.AsType[*limit.RateError](err); ok {
		f := fault.New(fault.LimitRate, "rate limit reached: %s", e).WithHint("try again after retry_after_ms, or raise rate in limits")
		f.Server, f.RetryAfter = r.item.Server, roundUp(e.RetryAfter)
		return f
	}
	if e, ok := errors.AsType[*limit.BusyError](err); ok {
		f := fault.New(fault.LimitConcurrent, "concurrency limit reached: %s", e).WithHint("try again later, or raise concurrent or wait in limits")
		f.Server = r.item.Server
		told := faultError(f, r.modern)
		for name, value := range map[string]int64{"max_in_flight": int64(e.Max), "queue_wait_ms_exceeded": e.Waited.Milliseconds()} {
			number, err := json.Marshal(value)
			if err != nil {
				panic(err) // integers can always be rendered
			}
			told.raw = mcp.SetPath(told.raw, []string{"data", name}, number)
		}
		return told
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.Because(fault.CallTimeout, err, "waiting for other calls of the tool took too long")
	}
	return fault.Because(fault.CallCanceled, err, "the call was cancelled while it waited for others")
}

// roundUp returns at least one whole millisecond, so that a client which waits that long
// does not come too early.
func roundUp(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
