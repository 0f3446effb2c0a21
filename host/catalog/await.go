package catalog

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/upstream"
)

// An attempt says when this process asked a server for its lists first, and
// whether that has ever failed.
type attempt struct {
	first  time.Time
	failed bool
}

// attempted takes note of a question for lists that begins, or of how it ended.
// The caller holds mu.
func (c *Catalog) attempted(server string, err error) {
	a := c.attempts[server]
	if a.first.IsZero() {
		a.first = time.Now()
	}
	a.failed = a.failed || err != nil
	c.attempts[server] = a
}

// Want is Ensure for one server that a call waits for: it is started before
// servers that only lists wait for.
func (c *Catalog) Want(ctx context.Context, server string) error {
	for _, s := range c.servers {
		if s.Name == server {
			s.Upstream.Raise(upstream.ForCall)
		}
	}
	return c.Ensure(ctx, server)[server]
}

// AwaitLists asks all servers whose lists are unknown and waits for them until
// soon ends. It waits longer for a server that has not failed so far: until the
// moment that patience returns for the time at which the server was asked first.
// It returns what went wrong by server.
func (c *Catalog) AwaitLists(ctx, soon context.Context, patience func(asked time.Time) time.Time) map[string]error {
	unknown, _ := c.beginAll(nil, (*lists).stale)
	failed := c.wait(soon, unknown, nil)
	for _, a := range unknown {
		c.mu.Lock()
		at := c.attempts[a.server]
		c.mu.Unlock()
		until := patience(at.first)
		if failed[a.server] == nil || at.failed || !until.After(time.Now()) {
			continue
		}
		patient, cancel := context.WithDeadline(ctx, until)
		err := c.wait(patient, []*ask{a}, nil)[a.server]
		cancel()
		if failed[a.server] = err; err == nil {
			delete(failed, a.server)
		}
	}
	return failed
}
