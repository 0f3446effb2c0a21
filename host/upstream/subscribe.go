package upstream

import (
	"cmp"
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
// modern one a request that stays open (listen.go).

// A topic is what somebody wants to hear about: a resource or a task.
type topic struct{ uri, task string }

func (t topic) compare(other topic) int {
	return cmp.Or(cmp.Compare(t.uri, other.uri), cmp.Compare(t.task, other.task))
}

func (t topic) name() string { return cmp.Or(t.uri, t.task) }

// A subscription is one topic, and how many want to hear about it.
type subscription struct {
	count int           // guarded by the upstream's mu
	ready chan struct{} // closed when the server answered
	err   error         // valid once ready is closed
	// heard is how a modern server is listened to; guarded by the upstream's mu.
	heard *listening
}

// Subscribe asks the server to say when a resource changes. The permit has to
// cover the resource.
func (u *Upstream) Subscribe(ctx context.Context, permit policy.Permit, uri string) error {
	if !permit.CoversItem(policy.Item{Server: u.opts.Name, Kind: policy.Resource, Name: uri}) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a subscription without a permit for it"))
	}
	return u.subscribeTo(ctx, topic{uri: uri})
}

func (u *Upstream) subscribeTo(ctx context.Context, t topic) error {
	c, err := u.get(ctx, ForCall)
	if err != nil {
		return err
	}
	defer u.put()
	if !c.tells(t) {
		return fault.In(u.opts.Name, fault.New(fault.UpstreamUnsupported, "the server has no subscriptions"))
	}
	s := u.subscribe(c, t)
	select {
	case <-s.ready:
		return fault.In(u.opts.Name, s.err)
	case <-ctx.Done():
		u.giveUp(t, s)
		return fault.In(u.opts.Name, gaveUp(ctx, mcp.MethodSubscribe))
	}
}

// tells reports whether the server may tell about a topic at all.
func (c *conn) tells(t topic) bool {
	if t.task != "" {
		return c.revision.Modern() && capable(c.capabilities, "extensions", mcp.ExtensionTasks)
	}
	return capable(c.capabilities, "resources", "subscribe")
}

// subscribe counts a subscription, and asks the server when it is the first to
// the topic. That goes on when whoever was first gives up.
func (u *Upstream) subscribe(c *conn, t topic) *subscription {
	u.mu.Lock()
	s := u.subs[t]
	first := s == nil
	if first {
		s = &subscription{ready: make(chan struct{})}
		u.subs[t] = s
	}
	s.count++
	switch {
	case !first:
	case u.closed:
		s.err = u.err
		close(s.ready)
	case c.revision.Modern():
		s.heard = c.listenTo(t, func(err error) { u.subscribed(t, s, err) })
	default:
		p := c.ask(mcp.MethodSubscribe, "uri", t.uri)
		c.goes("subscribing", func() { u.subscribed(t, s, u.answered(c, p)) })
	}
	u.mu.Unlock()
	return s
}

// ask queues a small request with one parameter. It does not wait, so that
// requests leave in the order of what they are about: the caller holds the
// upstream's mu.
func (c *conn) ask(method, name, value string) *pending {
	p := &pending{method: method}
	if err := c.register(p); err != nil {
		p.answer <- answer{err: errEnding}
		return p
	}
	c.push(p, mcp.SetMember(nil, name, mcp.AppendText(nil, value)))
	return p
}

// subscribed takes note of the server's answer. What it refuses is not
// subscribed to.
func (u *Upstream) subscribed(t topic, s *subscription, err error) {
	if s.err = err; err != nil {
		u.mu.Lock()
		if u.subs[t] == s {
			delete(u.subs, t)
			if s.heard != nil {
				close(s.heard.over) // or it would be tried again and again for nobody
			}
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
func (u *Upstream) Unsubscribe(uri string) { u.unsubscribe(topic{uri: uri}) }

func (u *Upstream) unsubscribe(t topic) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.release(t, u.subs[t])
}

// giveUp takes back one subscription that nobody waits for any longer, unless the
// server has refused it meanwhile: there may be another one in its place.
func (u *Upstream) giveUp(t topic, s *subscription) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.subs[t] == s {
		u.release(t, s)
	}
}

// release gives back one share of a subscription; nil is none. The caller holds
// mu.
func (u *Upstream) release(t topic, s *subscription) {
	if s == nil {
		return
	}
	if s.count--; s.count > 0 {
		return
	}
	delete(u.subs, t)
	c := u.conn
	switch {
	case s.heard != nil:
		close(s.heard.over)
	case c != nil && !u.closed && t.uri != "":
		p := c.ask(mcp.MethodUnsubscribe, "uri", t.uri)
		c.goes("unsubscribing", func() { u.unsubscribed(c, p) })
	}
	u.rest()
}

// unsubscribed waits for the server's answer, which changes nothing.
func (u *Upstream) unsubscribed(c *conn, p *pending) {
	_ = u.answered(c, p)
	u.settle()
}

// resubscribe makes the subscriptions anew on a new connection, before anything
// else is asked there. It does not wait for the answers; a subscription that the
// server no longer takes is not worth failing over.
func (u *Upstream) resubscribe(c *conn) {
	renewed := func(t topic, err error) {
		switch {
		case err != nil && c.alive():
			u.opts.Log.Warn("a subscription was not renewed", "server", u.opts.Name, "to", t.name(), "error", err)
			if t.task != "" {
				c.loseTask(t.task)
			}
		case err == nil && t.task != "":
			c.askAbout(t.task) // it may have ended meanwhile
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range slices.SortedFunc(maps.Keys(u.subs), topic.compare) {
		if l := u.subs[t].heard; l != nil && l.ended.Load() {
			continue
		}
		u.subs[t].heard = nil
		switch {
		case c.revision.Modern():
			u.subs[t].heard = c.listenTo(t, func(err error) { renewed(t, err) })
		case t.uri != "": // an old server has no tasks
			p := c.ask(mcp.MethodSubscribe, "uri", t.uri)
			c.goes("subscribing again", func() { renewed(t, u.answered(c, p)) })
		}
	}
}
