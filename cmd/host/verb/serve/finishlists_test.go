package serve

import (
	"context"
	"testing"
	"time"
)

// TestLeftEarly: lists are read on for a client that has left, and not after a person has ended
// a process that ran for a while.
func TestLeftEarly(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		ctx  context.Context
		ran  time.Duration
		want bool
	}{
		{t.Context(), time.Hour, true}, {t.Context(), time.Second, true},
		{ended, time.Second, true}, {ended, leavingTime + time.Second, false}, {ended, time.Hour, false},
	} {
		if got := leftEarly(c.ctx, time.Now().Add(-c.ran)); got != c.want {
			t.Errorf("signal %v after %s: %v", c.ctx.Err() != nil, c.ran, got)
		}
	}
}
