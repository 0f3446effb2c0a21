package gateway

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
)

// A requestClock measures the request timeout of the gateway. It is paused while a person is
// asked. A nil clock never ends. dispatch starts and stops it. Its methods may be called
// concurrently: a question of a server pauses it from another goroutine.
type requestClock struct {
	limit  time.Duration
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	timer  *time.Timer   // guarded by mu
	end    time.Time     // guarded by mu; the deadline, unless paused
	left   time.Duration // guarded by mu; time left while paused
	paused int           // guarded by mu; persons who are asked
	over   bool          // guarded by mu; the time has passed
}

// startClock returns a context that ends when the clock does. The clock is nil without a limit.
func startClock(ctx context.Context, limit time.Duration) (context.Context, *requestClock) {
	if limit == 0 {
		return ctx, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &requestClock{limit: limit, cancel: cancel, end: time.Now().Add(limit)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.expire)
	return ctx, c
}

// expire ends the request, unless the clock was paused at the same moment.
func (c *requestClock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == 0 {
		c.over = true
		c.cancel(context.DeadlineExceeded)
	}
}

// pause stops the clock until resume is called.
func (c *requestClock) pause() (resume func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 {
		c.timer.Stop()
		c.left = max(0, time.Until(c.end))
	}
	return c.resume
}

func (c *requestClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 && !c.over {
		c.end = time.Now().Add(c.left)
		c.timer.Reset(c.left)
	}
}

// stop ends the clock with its request.
func (c *requestClock) stop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.cancel(nil)
}

// explain returns the error of a request that the clock has ended, and any other error as it is.
func (c *requestClock) explain(err error, u *use) error {
	if c == nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || !c.over {
		return err
	}
	return &fault.Error{Code: fault.CallTimeout, Message: fmt.Sprintf(
		"%s did not finish within %s", u.method, c.limit,
	), Server: cmp.Or(u.item.Server, u.serverName()),
		Hint: "raise request_timeout in the gateway block", Timeout: c.limit}
}

// pauseFor pauses the clock of the request that a message of a server is about; nil: it is
// about none that is known.
func pauseFor(about any) (resume func()) {
	if r, ok := about.(*pendingRequest); ok && r != nil {
		return r.clock.pause()
	}
	return func() {}
}
