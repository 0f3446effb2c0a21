package upstream

import (
	"sync"
	"time"
)

// mostExtended bounds how often progress may begin the time of a call anew.
const mostExtended = 1000

// A clock is the time that a call has. It stands still while the server waits
// for an answer to a question of its own.
type clock struct {
	d time.Duration

	mu       sync.Mutex
	timer    *time.Timer   // guarded by mu
	end      time.Time     // guarded by mu; when the time is over, unless held
	left     time.Duration // guarded by mu; when held
	held     int           // guarded by mu; questions that wait for an answer
	extended int           // guarded by mu
	stopped  bool          // guarded by mu
}

func newClock(d time.Duration, over func()) *clock {
	return &clock{d: d, timer: time.AfterFunc(d, over), end: time.Now().Add(d)}
}

// hold stops the clock until release.
func (k *clock) hold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held++; k.held == 1 && k.timer.Stop() {
		k.left = time.Until(k.end)
	}
}

func (k *clock) release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held--; k.held == 0 {
		k.begin(k.left)
	}
}

// begin makes the time end after d. The caller holds mu.
func (k *clock) begin(d time.Duration) {
	if !k.stopped {
		k.end = time.Now().Add(d)
		k.timer.Reset(d)
	}
}

// extending makes progress begin the time anew, and passes it on.
func (k *clock) extending(progress func([]byte)) func([]byte) {
	return func(params []byte) {
		k.extend()
		if progress != nil {
			progress(params)
		}
	}
}

func (k *clock) extend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == 0 && k.extended < mostExtended && k.timer.Stop() {
		k.extended++
		k.begin(k.d)
	}
}

func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	k.timer.Stop()
}
