package buffer

import (
	"context"
	"math"
	"runtime/debug"
	"sync"
)

const (
	// Large is the size in bytes from which a message takes a part of the budget.
	Large = 256 << 10

	programMemory = 16 << 20 // of a plugin without messages
	copies        = 2        // of a message while it grows and is sent
)

// A Budget bounds the bytes of the large messages that a process reads at one time. Messages
// that find no place wait, and their servers with them.
type Budget struct {
	most int64 // 0: no bound

	mu    sync.Mutex
	used  int64         // guarded by mu
	freed chan struct{} // guarded by mu; closed when bytes are given back
}

// NewBudget returns a budget for a process with a memory limit in bytes.
func NewBudget(limit int64) *Budget {
	r := &Budget{freed: make(chan struct{})}
	if limit < math.MaxInt64 {
		r.most = max(Large, (limit-programMemory)/copies)
	}
	return r
}

// Shared returns the budget of this process, whose limit is GOMEMLIMIT.
// A negative limit only reads it.
var Shared = sync.OnceValue(func() *Budget { return NewBudget(debug.SetMemoryLimit(-1)) })

// Take waits for a place of n bytes, until ctx is done. A message that is larger than the
// budget is read alone. leave gives the place back, and may be called several times.
func (r *Budget) Take(ctx context.Context, n int64) (leave func(), err error) {
	if r.most == 0 || n < Large {
		return func() {}, nil
	}
	n = min(n, r.most)
	for {
		r.mu.Lock()
		if r.used+n <= r.most {
			r.used += n
			r.mu.Unlock()
			return sync.OnceFunc(func() { r.give(n) }), nil
		}
		freed := r.freed
		r.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (r *Budget) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	close(r.freed)
	r.freed = make(chan struct{})
}
