package upstream

import (
	"sync"
	"time"
)

// maxExtensions is how often progress notifications can restart the timeout of a call.
const maxExtensions = 1000

// A callClock measures the timeout of a call. It is paused while the server waits
// for the response to one of its own requests. It is part of a pending. Its methods may be
// called concurrently.
type callClock struct {
	d time.Duration // 0: there is no timeout

	mu       sync.Mutex
	timer    *time.Timer   // guarded by mu; nil before start
	end      time.Time     // guarded by mu; the deadline, unless paused
	left     time.Duration // guarded by mu; time left while paused
	paused   int           // guarded by mu; unanswered requests of the server
	extended int           // guarded by mu
	stopped  bool          // guarded by mu
}

// start starts the clock, which calls over in a goroutine of its own when the time has
// passed.
func (c *callClock) start(over func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer, c.end = time.AfterFunc(c.d, over), time.Now().Add(c.d)
}

// pause stops the clock until resume is called as often as pause.
func (c *callClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && c.timer.Stop() {
		c.left = time.Until(c.end)
	}
}

func (c *callClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused--; c.paused == 0 {
		c.restart(c.left)
	}
}

// restart sets the deadline to d from now. The caller holds mu.
func (c *callClock) restart(d time.Duration) {
	if !c.stopped {
		c.end = time.Now().Add(d)
		c.timer.Reset(d)
	}
}

// extending returns a progress function that restarts the timeout and calls
// progress.
func (c *callClock) extending(progress func([]byte)) func([]byte) {
	return func(params []byte) {
		c.extend()
		if progress != nil {
			progress(params)
		}
	}
}

func (c *callClock) extend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil && c.paused == 0 && c.extended < maxExtensions && c.timer.Stop() {
		c.extended++
		c.restart(c.d)
	}
}

func (c *callClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped = true; c.timer != nil {
		c.timer.Stop()
	}
}
