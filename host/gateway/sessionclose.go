package gateway

import (
	"context"
	"time"
)

// Close ends the session: requests in flight have grace to end, as long as ctx
// has not ended, then they are cancelled. It returns when every answer is in the
// outbox.
func (s *Session) Close(ctx context.Context, grace time.Duration) {
	s.mu.Lock()
	s.closing = true
	if s.stopRenewing != nil {
		s.stopRenewing()
	}
	for _, l := range s.listens {
		l.stop()
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { defer close(done); s.work.Wait() }()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		s.giveUp()
	}
	s.end()
	<-done
	s.gw.unregister(s)
}

// giveUp cancels what is being answered because junctor stops.
func (s *Session) giveUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for _, r := range s.inFlight {
		r.stopped = true
		r.cancel(errStopping)
	}
}
