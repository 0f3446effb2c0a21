package gateway

import (
	"context"
	"sync"
	"sync/atomic"
)

// maxIdleWorkers bounds the goroutines of a session that wait for a request.
const maxIdleWorkers = 64

// workers are the goroutines that answer the requests of a session. They are used again: the stack of a new
// goroutine is too small for a request, and would be copied for each. A Session has one. do may be called
// concurrently. The goroutines end with ctx; Close waits for work.
type workers struct {
	jobs chan func() // unbuffered: only a waiting goroutine takes a job
	idle atomic.Int32
	work sync.WaitGroup
}

func newWorkers() *workers { return &workers{jobs: make(chan func())} }

// do runs a job in a waiting goroutine, or in a new one that ends with ctx.
func (w *workers) do(ctx context.Context, job func()) {
	select {
	case w.jobs <- job:
	default:
		w.work.Go(func() { w.run(ctx, job) })
	}
}

func (w *workers) run(ctx context.Context, job func()) {
	for {
		job()
		if w.idle.Add(1) > maxIdleWorkers {
			w.idle.Add(-1)
			return
		}
		select {
		case job = <-w.jobs:
			w.idle.Add(-1)
		case <-ctx.Done():
			return
		}
	}
}
