package upstream

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// A startClock is the context of one attempt to start a server. It ends when the
// time for the start is over.
//
// A start that may install the server first has the time for installations. Any
// other one has the time for starts, anew with each line that the server prints
// on standard error, and the time for installations in total.
type startClock struct {
	parent  context.Context
	begun   time.Time
	limit   time.Duration // between lines on standard error
	most    time.Duration // in total
	done    chan struct{}
	release func() bool // lets go of parent

	mu       sync.Mutex
	deadline time.Time   // guarded by mu
	timer    *time.Timer // guarded by mu
	err      error       // guarded by mu; why done is closed
	line     string      // guarded by mu; the last one on standard error
}

func newStartClock(parent context.Context, limit, most time.Duration) *startClock {
	now := time.Now()
	s := &startClock{parent: parent, begun: now, limit: limit, most: max(limit, most), deadline: now.Add(limit), done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(limit, s.expire)
	s.release = context.AfterFunc(parent, func() { s.end(parent.Err()) })
	return s
}

// Deadline returns when the time is over, as things are now.
func (s *startClock) Deadline() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline, true
}

// Done is closed when the time is over, or the attempt.
func (s *startClock) Done() <-chan struct{} { return s.done }

// Err says why Done is closed.
func (s *startClock) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Value is the parent's.
func (s *startClock) Value(key any) any { return s.parent.Value(key) }

func (s *startClock) expire() {
	s.mu.Lock()
	late := !time.Now().Before(s.deadline)
	s.mu.Unlock()
	if late {
		s.end(context.DeadlineExceeded)
	}
}

func (s *startClock) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		s.timer.Stop()
		close(s.done)
	}
}

// stop ends the attempt and says how its time ended before that: nil when it did
// not.
func (s *startClock) stop() error {
	s.mu.Lock()
	before := s.err
	s.mu.Unlock()
	s.release()
	s.end(context.Canceled)
	return before
}

// heard takes note of a line on standard error and extends the time.
func (s *startClock) heard(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = line
	deadline := time.Now().Add(s.limit)
	if last := s.begun.Add(s.most); deadline.After(last) {
		deadline = last
	}
	if s.err == nil && deadline.After(s.deadline) {
		s.deadline = deadline
		s.timer.Reset(time.Until(deadline))
	}
}

// allowed is how long the start may take, as things are now.
func (s *startClock) allowed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline.Sub(s.begun)
}

// lastLine is the last one that the server printed on standard error.
func (s *startClock) lastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// observeEvery is how often a starting server is asked for what it printed.
const observeEvery = 500 * time.Millisecond

// observe extends the time of a start as long as the server prints lines on
// standard error. It returns when the attempt, or the connection, is over.
func (s *startClock) observe(c *conn) {
	w, ok := c.link.(Diagnoser)
	if !ok {
		return
	}
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	var before []string
	for {
		select {
		case <-tick.C:
		case <-s.done:
			return
		case <-c.done:
			return
		}
		ctx, cancel := context.WithTimeout(s, testifyTime)
		stderr, _ := w.Said(ctx)
		cancel()
		stderr = slices.DeleteFunc(stderr, func(line string) bool { return strings.HasPrefix(line, "(stdout)") })
		if len(stderr) > 0 && !slices.Equal(stderr, before) {
			before = stderr
			s.heard(stderr[len(stderr)-1])
		}
	}
}
