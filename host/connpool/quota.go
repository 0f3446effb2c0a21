package connpool

import (
	"errors"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
)

var (
	errTooManyOf = fault.New(fault.UpstreamOverloaded,
		"connection limit reached: the clients of this tenant have its share of the connections open").
		WithHint("the operator of the gateway can raise connections in limits { per_tenant }")
	errTooManyOwn = fault.New(fault.UpstreamOverloaded,
		"connection limit reached: this client has its share of the connections open").
		WithHint("the operator of the gateway can raise connections in limits { per_principal }")
)

// errLimit is the cause of errTooMany.
var errLimit = errors.New("the limit of all clients")

// errTooMany returns the error of a connection above the limit.
func errTooMany(most int) error {
	return fault.Because(fault.UpstreamOverloaded, errLimit, "connection limit reached: %d connections are open", most).
		WithHint("the operator of the gateway can raise connections in limits")
}

// counts counts the open connections. The pool's mu guards it. Pool.connect and Pool.close are
// the users.
type counts struct {
	servers map[string]*limit.Quota
	most    int          // connections to each server
	shares  limit.Shares // of the connections to each server
}

func newCounts() counts {
	return counts{servers: map[string]*limit.Quota{}, most: limit.DefaultConnections}
}

// setLimits sets the number of connections to each server, and the shares in it.
func (c *counts) setLimits(most int, s limit.Shares) {
	c.most, c.shares = most, s
	for _, q := range c.servers {
		q.Resize(int64(most), s)
	}
}

// add counts a new connection. It fails if a limit is reached.
func (c *counts) add(server string, o limit.Owner) error {
	q := c.servers[server]
	if q == nil {
		q = limit.NewQuota(int64(c.most))
		q.Resize(int64(c.most), c.shares)
		c.servers[server] = q
	}
	err := q.Acquire(o, 1)
	switch {
	case errors.Is(err, limit.ErrTenantShare):
		return errTooManyOf
	case errors.Is(err, limit.ErrPrincipalShare):
		return errTooManyOwn
	case err != nil:
		return errTooMany(c.most)
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
