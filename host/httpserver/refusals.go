package httpserver

import (
	"maps"
	"sync"
)

// refusals counts the requests of clients that were refused before they were parsed, by
// reason. The reasons are words of this program, so there are few. The admission has one. It
// may be used concurrently.
type refusals struct {
	mu sync.Mutex
	by map[string]uint64 // guarded by mu
}

func (c *refusals) add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]uint64{}
	}
	c.by[reason]++
}

// all returns the numbers by reason.
func (c *refusals) all() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}

// Refused returns how many requests were refused since the start, by reason: because of the
// credential, the Origin or Host header, or a limit of an address or a client.
func (srv *Server) Refused() map[string]uint64 {
	return srv.admission.refused.all()
}
