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

// Subscriptions belong to the upstream, not to a connection. They are counted and
// renewed after a reconnect. A legacy server needs one request per subscription; a
// modern server needs a listen request, which stays open (listen.go).

// A topic is the subject of a subscription: a resource or a task.
type topic struct{ uri, task string }

func (t topic) compare(other topic) int {
	return cmp.Or(cmp.Compare(t.uri, other.uri), cmp.Compare(t.task, other.task))
}

func (t topic) name() string { return cmp.Or(t.uri, t.task) }

// A subscription is one topic with its number of subscribers.
type subscription struct {
	count int           // guarded by the upstream's mu
	asked bool          // the request is sent; guarded by the upstream's mu
	ready chan struct{} // closed when the server has answered
	err   error         // valid after ready is closed
	// listen is the listen request to a modern server. The upstream's mu guards it.
	listen *listenRequest
}

// subscriptions are those of an upstream. Its mu guards them, because requests are queued in the
// order of the changes, and a subscription keeps the connection open.
type subscriptions struct {
	up      *Upstream
	byTopic map[topic]*subscription // guarded by the upstream's mu
	leaving map[topic]*pending      // guarded by the upstream's mu; requests to unsubscribe without an answer
}

// Subscribe subscribes to the changes of a resource. The permit must cover the
// resource. Each call needs one Unsubscribe. It blocks until the server has answered.
func (u *Upstream) Subscribe(ctx context.Context, permit policy.Permit, uri string) error {
	if !permit.CoversItem(policy.Item{Server: u.opts.Name, Kind: policy.Resource, Name: uri}) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a subscription without a permit for it"))
	}
	return u.subs.subscribeTo(ctx, topic{uri: uri})
}

func (ss *subscriptions) subscribeTo(ctx context.Context, t topic) error {
	c, err := ss.up.get(ctx, ForCall)
	if err != nil {
		return err
	}
	defer ss.up.put()
	if !c.canSubscribe(t) {
		err := fault.New(fault.UpstreamUnsupported, "the server has no subscriptions").WithHint(subscriptionHint)
		return fault.In(ss.up.opts.Name, err)
	}
	s := ss.subscribe(c, t)
	select {
	case <-s.ready:
		return fault.In(ss.up.opts.Name, s.err)
	case <-ctx.Done():
		ss.abandon(t, s)
		return fault.In(ss.up.opts.Name, contextError(ctx, mcp.MethodSubscribe))
	}
}

// canSubscribe reports whether the server supports subscriptions to the topic.
func (c *conn) canSubscribe(t topic) bool {
	if t.task != "" {
		return c.revision.Modern() && capable(c.capabilities, "extensions", mcp.ExtensionTasks)
	}
	return capable(c.capabilities, "resources", "subscribe")
}

// subscribe adds a subscriber, and sends the request for the first one. The request
// continues if that subscriber gives up.
func (ss *subscriptions) subscribe(c *conn, t topic) *subscription {
	ss.up.mu.Lock()
	s := ss.byTopic[t]
	first := s == nil
	if first {
		s = &subscription{ready: make(chan struct{})}
		ss.byTopic[t] = s
	}
	s.count++
	switch {
	case !first:
	case ss.up.closed:
		s.err = ss.up.err
		close(s.ready)
	case ss.leaving[t] == nil:
		ss.requestUpdates(c, t, s)
	}
	ss.up.mu.Unlock()
	return s
}

// requestUpdates sends the request of a new subscription. The caller holds mu.
func (ss *subscriptions) requestUpdates(c *conn, t topic, s *subscription) {
	s.asked = true
	if c.revision.Modern() {
		s.listen = c.listener.listenTo(t, func(err error) { ss.subscribed(t, s, err) })
		return
	}
	p := c.ask(mcp.MethodSubscribe, "uri", t.uri)
	c.spawn("subscribing", func() { ss.subscribed(t, s, c.awaitAnswer(p)) })
}

// ask queues a small request with one parameter and does not block. The caller holds
// the upstream's mu, so that requests are queued in the order of the changes.
func (c *conn) ask(method, name, value string) *pending {
	p := &pending{method: method}
	if err := c.writer.register(p); err != nil {
		p.answer <- answer{err: errEnding}
		return p
	}
	c.writer.pushRequest(p, mcp.SetMember(nil, name, mcp.AppendText(nil, value)))
	return p
}

// awaitAnswer waits for the response to a request of ask.
func (c *conn) awaitAnswer(p *pending) error {
	ctx, cancel := context.WithTimeout(c.ctx, c.up.opts.Call)
	defer cancel()
	reply, err := c.wait(ctx, p)
	switch {
	case err != nil && c.ctx.Err() != nil:
		return c.endError()
	case errors.Is(err, context.DeadlineExceeded):
		return timeoutError(p.method+" was not answered", serverTimeout(c.up.opts.Call))
	case err != nil:
		return err
	case reply.Error != nil:
		message, _ := mcp.TextMember(reply.Error, "message")
		return fault.New(fault.UpstreamError, "%s: %s", p.method, message)
	}
	return nil
}

// subscribed records the response of the server. It removes a rejected
// subscription.
func (ss *subscriptions) subscribed(t topic, s *subscription, err error) {
	if s.err = err; err != nil {
		ss.up.mu.Lock()
		if ss.byTopic[t] == s {
			delete(ss.byTopic, t)
			if s.listen != nil {
				close(s.listen.stop) // stop the renewal of the listen request
			}
			ss.up.settleLocked()
		}
		ss.up.mu.Unlock()
	}
	close(s.ready)
}

// subscriptionHint is the hint for a server without subscriptions.
const subscriptionHint = "read the resource again to see changes"

// Unsubscribe removes one subscriber of a resource. It does not wait for the server.
func (u *Upstream) Unsubscribe(uri string) { u.subs.unsubscribe(topic{uri: uri}) }

func (ss *subscriptions) unsubscribe(t topic) {
	ss.up.mu.Lock()
	defer ss.up.mu.Unlock()
	ss.release(t, ss.byTopic[t])
}

// abandon removes a subscriber that has stopped waiting for s. It does nothing if the
// server has rejected s: the topic may have a new subscription.
func (ss *subscriptions) abandon(t topic, s *subscription) {
	ss.up.mu.Lock()
	defer ss.up.mu.Unlock()
	if ss.byTopic[t] == s {
		ss.release(t, s)
	}
}

// release removes one subscriber from a subscription, which may be nil. The caller
// holds mu.
func (ss *subscriptions) release(t topic, s *subscription) {
	if s == nil {
		return
	}
	if s.count--; s.count > 0 {
		return
	}
	delete(ss.byTopic, t)
	c := ss.up.conn
	switch {
	case s.listen != nil:
		close(s.listen.stop)
	case c != nil && !ss.up.closed && t.uri != "" && s.asked:
		p := c.ask(mcp.MethodUnsubscribe, "uri", t.uri)
		ss.leaving[t] = p
		c.spawn("unsubscribing", func() { ss.awaitUnsubscribed(c, t, p) })
	}
	ss.up.settleLocked()
}

// awaitUnsubscribed waits for the server's response and ignores it. Then it sends the
// request of a subscriber that came meanwhile: servers handle requests concurrently, so
// the request to unsubscribe could otherwise end the new subscription.
func (ss *subscriptions) awaitUnsubscribed(c *conn, t topic, p *pending) {
	_ = c.awaitAnswer(p)
	ss.up.mu.Lock()
	var ended *subscription
	if ss.leaving[t] == p {
		delete(ss.leaving, t)
		switch s := ss.byTopic[t]; {
		case s == nil || s.asked:
		case ss.up.conn != nil && ss.up.conn.table.alive():
			ss.requestUpdates(ss.up.conn, t, s)
		default:
			ended = s
		}
	}
	ss.up.mu.Unlock()
	if ended != nil {
		ss.subscribed(t, ended, c.endError())
	}
	ss.up.settle()
}

// resubscribe renews the subscriptions on a new connection, before any other
// request. It does not wait for the responses. A rejected subscription is only logged. The
// goroutine of the attempt calls it.
func (ss *subscriptions) resubscribe(c *conn) {
	renewed := func(t topic, err error) {
		switch {
		case err != nil && c.table.alive():
			ss.up.opts.Log.Warn("a subscription was not renewed",
				"server", ss.up.opts.Name, "to", t.name(), "error", err)
			if t.task != "" {
				c.taskLost(t.task)
			}
		case err == nil && t.task != "":
			c.pollTask(t.task) // the task may have changed meanwhile
		}
	}
	ss.up.mu.Lock()
	defer ss.up.mu.Unlock()
	for _, t := range slices.SortedFunc(maps.Keys(ss.byTopic), topic.compare) {
		s := ss.byTopic[t]
		if !s.asked {
			continue // awaitUnsubscribed sends its request or ends it
		}
		if l := s.listen; l != nil && l.taskEnded.Load() {
			continue
		}
		s.listen = nil
		switch {
		case c.revision.Modern():
			s.listen = c.listener.listenTo(t, func(err error) { renewed(t, err) })
		case t.uri != "": // legacy servers have no tasks
			p := c.ask(mcp.MethodSubscribe, "uri", t.uri)
			c.spawn("subscribing again", func() { renewed(t, c.awaitAnswer(p)) })
		}
	}
}
