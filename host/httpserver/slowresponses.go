package httpserver

import (
	"sync"
	"time"
)

const (
	// streamAfter is how long an answer may take before its client gets a stream
	// to wait on: one that can be kept alive and, in a session, taken up again.
	streamAfter = time.Second
	// lookAgain is how much longer it may take.
	lookAgain = 250 * time.Millisecond
)

// An slowResponses finds the exchanges that take long. They share one timer: one of
// its own for each would wake a thread each time, for the sake of one exchange
// in thousands.
type slowResponses struct {
	mu    sync.Mutex
	since map[*exchange]time.Time // guarded by mu
	timer *time.Timer             // guarded by mu
	armed bool                    // guarded by mu; the timer runs
}

func newSlowResponses() *slowResponses { return &slowResponses{since: map[*exchange]time.Time{}} }

// begin counts the time of an exchange.
func (p *slowResponses) begin(x *exchange) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since[x] = now
	switch {
	case p.timer == nil:
		p.timer = time.AfterFunc(lookAgain, p.look)
	case !p.armed:
		p.timer.Reset(lookAgain)
	}
	p.armed = true
}

// end forgets it.
func (p *slowResponses) end(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.since, x)
}

// look makes streams of what has taken long. The timer runs on only while
// there is something to look at.
func (p *slowResponses) look() {
	now := time.Now()
	var long []*exchange
	p.mu.Lock()
	for x, since := range p.since {
		if now.Sub(since) >= streamAfter {
			long = append(long, x)
			delete(p.since, x)
		}
	}
	if p.armed = len(p.since) > 0; p.armed {
		p.timer.Reset(lookAgain)
	}
	p.mu.Unlock()
	for _, x := range long {
		x.await()
	}
}
