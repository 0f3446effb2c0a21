package httpconn

import (
	"sync"
	"time"
)

// slowPrecision is how much later than its limit a slow response is noticed at
// most.
const slowPrecision = 250 * time.Millisecond

// A SlowResponse is a response that SlowResponses watches.
type SlowResponse interface {
	comparable
	// Slow is called once if the response takes too long.
	Slow()
}

// SlowResponses calls the method Slow of each response that takes longer than a
// limit. All responses share one timer. Its methods may be called concurrently. There is
// nothing to close.
type SlowResponses[R SlowResponse] struct {
	after time.Duration

	mu    sync.Mutex
	begun map[R]time.Time // guarded by mu
	timer *time.Timer     // guarded by mu
	armed bool            // guarded by mu; the timer runs
}

// NewSlowResponses returns SlowResponses with a limit of after.
func NewSlowResponses[R SlowResponse](after time.Duration) *SlowResponses[R] {
	return &SlowResponses[R]{after: after, begun: map[R]time.Time{}}
}

// Begin starts the time of a response.
func (s *SlowResponses[R]) Begin(r R) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun[r] = now
	switch {
	case s.timer == nil:
		s.timer = time.AfterFunc(slowPrecision, s.check)
	case !s.armed:
		s.timer.Reset(slowPrecision)
	}
	s.armed = true
}

// End removes a response. Slow may still be running.
func (s *SlowResponses[R]) End(r R) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.begun, r)
}

// Len returns the number of responses that have begun and not ended, without
// those that were slow.
func (s *SlowResponses[R]) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}

// check calls Slow for the responses above the limit. The timer runs only while
// there are responses to check. It is the timer's function; it calls Slow without the lock.
func (s *SlowResponses[R]) check() {
	now := time.Now()
	var slow []R
	s.mu.Lock()
	for r, begun := range s.begun {
		if now.Sub(begun) >= s.after {
			slow = append(slow, r)
			delete(s.begun, r)
		}
	}
	if s.armed = len(s.begun) > 0; s.armed {
		s.timer.Reset(slowPrecision)
	}
	s.mu.Unlock()
	for _, r := range slow {
		r.Slow()
	}
}
