package gateway

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

// TestWorkersAreReused: requests one after the other need one goroutine, many at
// once as many as there are requests, of which a bounded number waits for more. All
// of them end with the session.
func TestWorkersAreReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		w := newWorkers()
		for range 10 {
			w.do(ctx, func() {})
			synctest.Wait()
		}
		if n := w.idle.Load(); n != 1 {
			t.Errorf("%d goroutines wait after requests one at a time, want 1", n)
		}
		var running sync.WaitGroup
		release := make(chan struct{})
		for range 2 * maxIdleWorkers {
			running.Add(1)
			w.do(ctx, func() { running.Done(); <-release })
		}
		running.Wait() // none waits for another
		close(release)
		synctest.Wait()
		if n := w.idle.Load(); n != maxIdleWorkers {
			t.Errorf("%d goroutines wait after many requests, want %d", n, maxIdleWorkers)
		}
		end()
		w.work.Wait()
	})
}
