package gateway

import (
	"sync"

	"github.com/junctor-mcp/junctor/host/authn"
)

// defaultLevel is the log level of a legacy client that has set none, on a connection that several principals
// use. It keeps what one of them sees independent of the levels of other principals.
const defaultLevel = "info"

// callers records which principals have used a connection. A server may still work for a principal that has
// left, so a principal is never removed. It is part of a serverPeer and may be used concurrently.
type callers struct {
	mu    sync.Mutex
	first authn.Principal // guarded by mu; valid if used
	used  bool            // guarded by mu
	more  bool            // guarded by mu; a second principal has used the connection
}

// add records that a principal uses the connection. It reports whether the
// connection has just got its second principal.
func (c *callers) add(p authn.Principal) (second bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.used:
		c.first, c.used = p, true
		return false
	case c.more || c.first.Same(p):
		return false
	}
	c.more = true
	return true
}

// several reports whether more than one principal has used the connection.
func (c *callers) several() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.more
}

// serves reports whether the connection serves several principals. It counts those that have used the
// connection and those of the given sessions, because a notification without a request may be for any of them.
func (c *callers) serves(sessions []*Session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	one, known := c.first, c.used
	for _, s := range sessions {
		switch p := s.Principal(); {
		case !known:
			one, known = p, true
		case !one.Same(p):
			return true
		}
	}
	return c.more
}
