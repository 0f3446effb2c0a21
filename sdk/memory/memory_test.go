package memory

import (
	"context"
	"runtime"
	"testing"
	"time"
)

// TestWatch checks when memory is released.
func TestWatch(t *testing.T) {
	var w watch
	total := uint64(0)
	for n, step := range []struct {
		add  uint64
		want verdict
	}{
		{1 << 20, busy}, {quiet + 1, busy}, {quiet, release}, // after the start, even if it allocated little
		{0, idle}, {quiet, idle}, // too little since the release
		{worthIt, busy}, {1, release}, {0, idle},
	} {
		total += step.add
		if got := w.look(total); got != step.want {
			t.Errorf("look %d: got %d, want %d", n, got, step.want)
		}
	}
}

// TestReleaseWhenIdle checks that the function ends with its context, and that it counts
// allocations.
func TestReleaseWhenIdle(t *testing.T) {
	before := allocated()
	kept := make([]byte, 1<<20)
	if now := allocated(); now < before+1<<20 {
		t.Errorf("allocated %d bytes, then %d", before, now)
	}
	runtime.KeepAlive(kept)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	ReleaseWhenIdle(ctx)
}
