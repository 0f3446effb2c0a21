package upstream

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// A startClock is the context of one attempt to start a server. It ends when the
// timeout of the start expires.
//
// A start with a launcher has the install timeout. Any other start has the start
// timeout, which restarts with each line on standard error, but at most the install
// timeout in total. The goroutine of the attempt makes and stops it. The methods may be called
// concurrently.
type startClock struct {
	parent  context.Context
	begun   time.Time
	limit   time.Duration // between lines on standard error
	total   time.Duration // in total
	done    chan struct{}
	release func() bool // detaches from parent

	mu       sync.Mutex
	deadline time.Time   // guarded by mu
	timer    *time.Timer // guarded by mu
	err      error       // guarded by mu; the reason for closing done
	line     string      // guarded by mu; the last line on standard error
}

func newStartClock(parent context.Context, limit, most time.Duration) *startClock {
	now := time.Now()
	s := &startClock{parent: parent, begun: now, limit: limit, total: max(limit, most), deadline: now.Add(limit),
		done: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(limit, s.expire)
	s.release = context.AfterFunc(parent, func() { s.end(parent.Err()) })
	return s
}

// Deadline returns the current deadline.
func (s *startClock) Deadline() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline, true
}

// Done returns a channel that is closed when the timeout expires or the attempt ends.
func (s *startClock) Done() <-chan struct{} { return s.done }

// Err returns why Done is closed, or nil.
func (s *startClock) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Value returns the value of the parent context.
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

// stop ends the attempt. It returns the error with which the clock ended before, or
// nil.
func (s *startClock) stop() error {
	s.mu.Lock()
	before := s.err
	s.mu.Unlock()
	s.release()
	s.end(context.Canceled)
	return before
}

// extend records a line on standard error and extends the deadline.
func (s *startClock) extend(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = line
	deadline := time.Now().Add(s.limit)
	if last := s.begun.Add(s.total); deadline.After(last) {
		deadline = last
	}
	if s.err == nil && deadline.After(s.deadline) {
		s.deadline = deadline
		s.timer.Reset(time.Until(deadline))
	}
}

// allowed returns the current timeout of the start.
func (s *startClock) allowed() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deadline.Sub(s.begun)
}

// lastLine returns the last line on standard error, or "".
func (s *startClock) lastLine() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.line
}

// observeEvery is the interval between queries for a starting server's output.
const observeEvery = 500 * time.Millisecond

// observe extends the deadline while the server prints lines on standard error. It
// returns when the attempt or the connection ends. It runs on a goroutine of its own.
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
		ctx, cancel := context.WithTimeout(s, outputTime)
		stderr, _ := w.Output(ctx)
		cancel()
		stderr = slices.DeleteFunc(stderr, func(line string) bool { return strings.HasPrefix(line, "(stdout)") })
		if len(stderr) > 0 && !slices.Equal(stderr, before) {
			before = stderr
			s.extend(stderr[len(stderr)-1])
		}
	}
}

// A StartStatus describes a running start. The zero value means that there is none.
type StartStatus struct {
	Queued   bool          // waiting in the start queue, or for the previous process to exit
	Launcher string        // the program that may install the server, or ""
	Taken    time.Duration // time since the start left the queue
	Allowed  time.Duration // current timeout of the start
	Line     string        // last line on standard error, or ""
}

// status returns the status of the start. s is nil while the start is queued.
func (s *startClock) status(launcher string) StartStatus {
	if s == nil {
		return StartStatus{Queued: true, Launcher: launcher}
	}
	return StartStatus{
		Launcher: launcher,
		Taken:    time.Since(s.begun),
		Allowed:  s.allowed(),
		Line:     s.lastLine(),
	}
}
