package upstream

import (
	"sync"
	"time"
)

// maxExtensions is how often progress notifications can restart the timeout of a call.
const maxExtensions = 1000

// A callClock measures the timeout of a call. It is paused while the server waits
// for the response to one of its own requests.
type callClock struct {
	d time.Duration

	mu       sync.Mutex
	timer    *time.Timer   // guarded by mu
	end      time.Time     // guarded by mu; the deadline, unless paused
	left     time.Duration // guarded by mu; time left while paused
	paused   int           // guarded by mu; unanswered requests of the server
	extended int           // guarded by mu
	stopped  bool          // guarded by mu
}

func newCallClock(d time.Duration, over func()) *callClock {
	return &callClock{d: d, timer: time.AfterFunc(d, over), end: time.Now().Add(d)}
}

// pause stops the clock until resume is called as often as pause.
func (k *callClock) pause() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.paused++; k.paused == 1 && k.timer.Stop() {
		k.left = time.Until(k.end)
	}
}

func (k *callClock) resume() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.paused--; k.paused == 0 {
		k.restart(k.left)
	}
}

// restart sets the deadline to d from now. The caller holds mu.
func (k *callClock) restart(d time.Duration) {
	if !k.stopped {
		k.end = time.Now().Add(d)
		k.timer.Reset(d)
	}
}

// extending returns a progress function that restarts the timeout and calls
// progress.
func (k *callClock) extending(progress func([]byte)) func([]byte) {
	return func(params []byte) {
		k.extend()
		if progress != nil {
			progress(params)
		}
	}
}

func (k *callClock) extend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.paused == 0 && k.extended < maxExtensions && k.timer.Stop() {
		k.extended++
		k.restart(k.d)
	}
}

func (k *callClock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	k.timer.Stop()
}
