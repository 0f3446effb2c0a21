package upstream

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Subscriptions belong to the upstream, not to a connection: they are counted,
// and made anew after a reconnect. An old server has a request for each, a
// modern one a request that stays open and lists all of them (listen.go).

// A subscription is one resource that somebody wants to hear about.
type subscription struct {
	count int           // guarded by the upstream's mu
	ready chan struct{} // closed when the server answered
	err   error         // valid once ready is closed
}

// Subscribe asks the server to say when a resource changes.
func (u *Upstream) Subscribe(ctx context.Context, permit policy.Permit, uri string) error {
	if !permit.For(u.opts.Name) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a subscription without a permit"))
	}
	c, err := u.get(ctx)
	if err != nil {
		return err
	}
	defer u.put()
	if !capable(c.capabilities, "resources", "subscribe") {
		return fault.In(u.opts.Name, fault.New(fault.UpstreamUnsupported, "the server has no subscriptions"))
	}
	s := u.subscribe(c, uri)
	select {
	case <-s.ready:
		return fault.In(u.opts.Name, s.err)
	case <-ctx.Done():
		u.Unsubscribe(uri)
		return fault.In(u.opts.Name, gaveUp(ctx, mcp.MethodSubscribe))
	}
}

// subscribe counts a subscription, and asks the server when it is the first to
// the resource. That goes on when whoever was first gives up.
func (u *Upstream) subscribe(c *conn, uri string) *subscription {
	u.mu.Lock()
	s := u.subs[uri]
	first := s == nil
	if first {
		s = &subscription{ready: make(chan struct{})}
		u.subs[uri] = s
	}
	s.count++
	var p *pending
	if first && !c.revision.Modern() && !u.closed {
		p = c.ask(mcp.MethodSubscribe, uri)
		u.work.Go(func() { u.subscribed(c, uri, s, p) })
	}
	u.mu.Unlock()
	if first && c.revision.Modern() {
		c.listen()
	}
	if first && p == nil {
		close(s.ready)
	}
	return s
}

// ask queues a request about a resource. It does not wait, so that requests
// leave in the order in which the subscriptions were counted: the caller holds
// the upstream's mu.
func (c *conn) ask(method, uri string) *pending {
	p := &pending{method: method}
	if err := c.register(p); err != nil {
		p.answer <- answer{err: errEnding}
		return p
	}
	c.push(p, mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri)))
	return p
}

// subscribed waits for the server's answer. What it refuses is not subscribed
// to.
func (u *Upstream) subscribed(c *conn, uri string, s *subscription, p *pending) {
	if s.err = u.answered(c, p); s.err != nil {
		u.mu.Lock()
		if u.subs[uri] == s {
			delete(u.subs, uri)
			u.rest()
		}
		u.mu.Unlock()
	}
	close(s.ready)
}

// answered waits for the answer to a request of ask.
func (u *Upstream) answered(c *conn, p *pending) error {
	ctx, cancel := context.WithTimeout(c.ctx, u.opts.Call)
	defer cancel()
	a, err := c.wait(ctx, p)
	switch {
	case err != nil && c.ctx.Err() != nil:
		return c.gone()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.CallTimeout, "%s was not answered", p.method)
	case err != nil:
		return err
	case a.rpcError != nil:
		message, _ := mcp.TextMember(a.rpcError, "message")
		return fault.New(fault.UpstreamError, "%s: %s", p.method, message)
	}
	return nil
}

// Unsubscribe takes one subscription back. It does not wait for the server.
func (u *Upstream) Unsubscribe(uri string) {
	u.mu.Lock()
	s := u.subs[uri]
	if s == nil {
		u.mu.Unlock()
		return
	}
	if s.count--; s.count > 0 {
		u.mu.Unlock()
		return
	}
	delete(u.subs, uri)
	c := u.conn
	if c != nil && !c.revision.Modern() && !u.closed {
		p := c.ask(mcp.MethodUnsubscribe, uri)
		u.work.Go(func() { u.unsubscribed(c, p) })
	}
	u.rest()
	u.mu.Unlock()
	if c != nil && c.revision.Modern() {
		c.listen()
	}
}

// unsubscribed waits for the server's answer, which changes nothing.
func (u *Upstream) unsubscribed(c *conn, p *pending) {
	_ = u.answered(c, p)
	u.settle()
}

// resubscribe makes the subscriptions anew on a new connection. One that the
// server no longer takes is not worth failing over.
func (u *Upstream) resubscribe(c *conn) error {
	if c.revision.Modern() {
		return nil // the handshake has listened already
	}
	u.mu.Lock()
	asked := map[string]*pending{}
	for _, uri := range slices.Sorted(maps.Keys(u.subs)) {
		asked[uri] = c.ask(mcp.MethodSubscribe, uri)
	}
	u.mu.Unlock()
	for uri, p := range asked {
		err := u.answered(c, p)
		switch {
		case err != nil && !c.alive():
			return err
		case err != nil:
			u.opts.Log.Warn("a subscription was not renewed", "server", u.opts.Name, "uri", uri, "error", err)
		}
	}
	return nil
}
