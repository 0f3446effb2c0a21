package connpool

import "github.com/junctor-mcp/junctor/host/fault"

const (
	// MaxPerServer limits the connections of a pool to one server.
	MaxPerServer = 256
	// MaxPerPrincipal limits those of each of several principals.
	MaxPerPrincipal = MaxPerServer / 2
)

var (
	errTooMany    = fault.New(fault.UpstreamOverloaded, "connection limit reached: %d connections are open", MaxPerServer)
	errTooManyOwn = fault.New(fault.UpstreamOverloaded, "connection limit reached: this client has %d connections open", MaxPerPrincipal)
)

// A countKey identifies the connections of one principal to one server.
type countKey struct{ server, principal string }

// counts counts the open connections. The pool's mu guards it.
type counts struct {
	servers      map[string]int
	principals   map[countKey]int
	perPrincipal bool // MaxPerPrincipal is in effect
}

func newCounts() counts {
	return counts{servers: map[string]int{}, principals: map[countKey]int{}}
}

// add counts a new connection. It fails if a limit is reached.
func (c *counts) add(key countKey) error {
	switch {
	case c.servers[key.server] >= MaxPerServer:
		return errTooMany
	case c.perPrincipal && c.principals[key] >= MaxPerPrincipal:
		return errTooManyOwn
	}
	c.servers[key.server]++
	c.principals[key]++
	return nil
}

// remove removes a closed connection from the counts.
func (c *counts) remove(key countKey) {
	if c.servers[key.server]--; c.servers[key.server] == 0 {
		delete(c.servers, key.server)
	}
	if c.principals[key]--; c.principals[key] == 0 {
		delete(c.principals, key)
	}
}
