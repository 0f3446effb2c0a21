package event

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/junctor-mcp/junctor/host/feed"
)

// A callFeed keeps the newest events of calls while a program follows them: a busy process
// makes thousands a second, which would push out the other events.
type callFeed struct {
	now atomic.Pointer[feed.Feed[Event]] // nil: they are not followed

	mu        sync.Mutex
	followers int // guarded by mu
}

// CallsFollowed reports whether AddCall has an effect. It does not wait.
func (s *Stream) CallsFollowed() bool { return s != nil && s.calls.now.Load() != nil }

// AddCall adds an event of a call with the time of now, if calls are followed. It never
// waits: a reader that is too slow misses events.
func (s *Stream) AddCall(e Event) {
	if s == nil {
		return
	}
	f := s.calls.now.Load()
	if f == nil {
		return
	}
	e.Time = time.Now()
	e.Client, e.Item = s.hide(e.Client), s.hide(e.Item)
	e.Item = e.Item[:min(len(e.Item), maxError)]
	f.Add(e)
}

// FollowCalls returns a reader of the events of calls from now on, until stop is called.
// They have numbers of their own.
func (s *Stream) FollowCalls() (r *feed.Reader[Event], stop func()) {
	c := &s.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followers++; c.followers == 1 {
		c.now.Store(feed.New(maxEvents, maxBytes, sizeOf))
	}
	return c.now.Load().Read(), sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.followers--; c.followers == 0 {
			c.now.Store(nil)
		}
	})
}
