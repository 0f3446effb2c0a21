package gateway

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/testdata/bubble"
)

// TestRequestClockIsPausedWhilePersonsAreAsked asks two persons for an hour in turn. The
// time before and after them counts.
func TestRequestClockIsPausedWhilePersonsAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, c := startClock(t.Context(), 3*time.Second)
		defer c.stop()
		bubble.Sleep(time.Second)
		first := c.pause()
		bubble.Sleep(time.Hour)
		second := c.pause()
		first()
		bubble.Sleep(time.Hour)
		second()
		bubble.Sleep(1900 * time.Millisecond)
		why := errors.New("refused")
		if err := c.explain(why, newUse(&pendingRequest{request: request{method: "tools/call"}})); ctx.Err() != nil ||
			err != why {
			t.Fatalf("after 2.9 seconds: %v, %v", ctx.Err(), err)
		}
		bubble.Sleep(200 * time.Millisecond)
		err := c.explain(why, newUse(&pendingRequest{request: request{method: "tools/call"}}))
		if f := fault.As(err); ctx.Err() == nil || f.Code != fault.CallTimeout || f.Timeout != 3*time.Second ||
			f.Hint != "raise request_timeout in the gateway block" {
			t.Errorf("after 3.1 seconds: %v, %+v", ctx.Err(), f)
		}
		if err := c.explain(nil, newUse(&pendingRequest{})); err != nil {
			t.Errorf("a request with a result: %v", err)
		}
		c.pause()() // too late
		if ctx.Err() == nil {
			t.Error("a pause has restarted the clock")
		}
		var none *requestClock
		none.pause()()
	})
}
