package connpool

import (
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
)

// MaxPerServer limits the connections of a pool to one server.
const MaxPerServer = 256

var (
	errTooMany    = fault.New(fault.UpstreamOverloaded, "connection limit reached: %d connections are open", MaxPerServer)
	errTooManyOf  = fault.New(fault.UpstreamOverloaded, "connection limit reached: the clients of this tenant have its share of the connections open")
	errTooManyOwn = fault.New(fault.UpstreamOverloaded, "connection limit reached: this client has its share of the connections open")
)

// counts counts the open connections. The pool's mu guards it.
type counts struct {
	servers map[string]*limit.Quota
	shares  limit.Shares // of the connections to each server
}

func newCounts() counts { return counts{servers: map[string]*limit.Quota{}} }

// setShares sets the shares of the connections to each server.
func (c *counts) setShares(s limit.Shares) {
	c.shares = s
	for _, q := range c.servers {
		q.Resize(MaxPerServer, s)
	}
}

// add counts a new connection. It fails if a limit is reached.
func (c *counts) add(server string, o limit.Owner) error {
	q := c.servers[server]
	if q == nil {
		q = limit.NewQuota(MaxPerServer)
		q.Resize(MaxPerServer, c.shares)
		c.servers[server] = q
	}
	err := q.Acquire(o, 1)
	switch {
	case errors.Is(err, limit.ErrTenantShare):
		return errTooManyOf
	case errors.Is(err, limit.ErrPrincipalShare):
		return errTooManyOwn
	case err != nil:
		return errTooMany
	}
	return nil
}

// remove removes a closed connection from the counts.
func (c *counts) remove(server string, o limit.Owner) {
	q := c.servers[server]
	if q.Release(o, 1); q.Used() == 0 {
		delete(c.servers, server)
	}
}

// of returns the number of connections to a server.
func (c *counts) of(server string) int {
	if q := c.servers[server]; q != nil {
		return int(q.Used())
	}
	return 0
}
