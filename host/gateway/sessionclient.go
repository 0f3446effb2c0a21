package gateway

import (
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Session is the client of legacy requests. A nil one is that of a request without a session.

// era implements client, as the other methods of this file do. They may be called concurrently.
func (*Session) era() era.Era { return era.Legacy }

func (s *Session) program() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

// capabilities returns the capabilities of the client of a legacy session, or nil without a session.
func (s *Session) capabilities() []byte {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.caps
}

func (*Session) absent() string { return "" }

// describe sets the log level and the capabilities. A legacy client stated its capabilities at
// initialize and set the level for its session; a modern server is told both with each request.
func (s *Session) describe(c *upstream.Call) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Level, c.Capabilities = s.level, s.caps
}
