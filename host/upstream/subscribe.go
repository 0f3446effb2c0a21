package upstream

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// Subscriptions belong to the upstream, not to a connection: they are counted,
// and made anew after a reconnect. An old server has a request for each, a
// modern one a request that stays open and lists all of them.

// relistenAfter is how long to wait before a modern server is listened to
// again after it ended that request.
const relistenAfter = time.Second

// Subscribe asks the server to say when a resource changes.
func (u *Upstream) Subscribe(ctx context.Context, permit policy.Permit, uri string) error {
	if !permit.For(u.opts.Name) {
		return fault.In(u.opts.Name, fault.New(fault.Denied, "a subscription without a permit"))
	}
	c, err := u.get(ctx)
	if err != nil {
		return err
	}
	if !u.Status().Capable("resources", "subscribe") {
		return fault.In(u.opts.Name, fault.New(fault.UpstreamUnsupported, "the server has no subscriptions"))
	}
	u.mu.Lock()
	u.subs[uri]++
	first := u.subs[uri] == 1
	u.idle.stop()
	u.mu.Unlock()
	if !first {
		return nil
	}
	if err := u.subscribe(ctx, c, uri); err != nil {
		u.drop(uri)
		return fault.In(u.opts.Name, err)
	}
	return nil
}

// Unsubscribe takes one subscription back.
func (u *Upstream) Unsubscribe(ctx context.Context, uri string) {
	if !u.drop(uri) {
		return
	}
	u.mu.Lock()
	c := u.conn
	u.mu.Unlock()
	if c == nil {
		return
	}
	if c.revision.Modern() {
		c.listen()
		return
	}
	params := mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri))
	_, _ = c.do(ctx, &pending{method: mcp.MethodUnsubscribe}, params)
}

// drop counts a subscription down and reports whether it was the last.
func (u *Upstream) drop(uri string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.subs[uri] == 0 {
		return false
	}
	u.subs[uri]--
	if u.subs[uri] > 0 {
		return false
	}
	delete(u.subs, uri)
	u.startIdle()
	return true
}

func (u *Upstream) subscribe(ctx context.Context, c *conn, uri string) error {
	if c.revision.Modern() {
		c.listen()
		return nil
	}
	a, err := c.do(ctx, &pending{method: mcp.MethodSubscribe}, mcp.SetMember(nil, "uri", mcp.AppendText(nil, uri)))
	if err == nil && a.rpcError != nil {
		message, _ := mcp.TextMember(a.rpcError, "message")
		err = fault.New(fault.UpstreamError, "subscribing to %s: %s", uri, message)
	}
	return err
}

// resubscribe makes the subscriptions anew on a new connection. One that the
// server no longer takes is not worth failing over.
func (u *Upstream) resubscribe(ctx context.Context, c *conn) error {
	if c.revision.Modern() {
		return nil // discover has listened already
	}
	u.mu.Lock()
	uris := slices.Sorted(maps.Keys(u.subs))
	u.mu.Unlock()
	for _, uri := range uris {
		if err := u.subscribe(ctx, c, uri); err != nil {
			if ended(err) || ctx.Err() != nil {
				return err
			}
			u.opts.Log.Warn("a subscription was not renewed", "server", u.opts.Name, "uri", uri, "error", err)
		}
	}
	return nil
}

// listen opens a request for everything we want to hear about, and then ends
// the one before, so that nothing is missed in between.
func (c *conn) listen() {
	u := c.up
	caps := Status{Capabilities: c.capabilities}
	filter := struct {
		Tools     bool     `json:"toolsListChanged,omitempty"`
		Prompts   bool     `json:"promptsListChanged,omitempty"`
		Resources bool     `json:"resourcesListChanged,omitempty"`
		URIs      []string `json:"resourceSubscriptions,omitempty"`
	}{
		Tools:     caps.Capable("tools", "listChanged"),
		Prompts:   caps.Capable("prompts", "listChanged"),
		Resources: caps.Capable("resources", "listChanged"),
	}
	u.mu.Lock()
	filter.URIs = slices.Sorted(maps.Keys(u.subs))
	u.mu.Unlock()
	wanted := filter.Tools || filter.Prompts || filter.Resources || len(filter.URIs) > 0

	c.mu.Lock()
	before := slices.Collect(maps.Keys(c.listens))
	c.mu.Unlock()
	if wanted {
		text, err := json.Marshal(filter)
		if err != nil {
			return
		}
		p := &pending{method: mcp.MethodListen, listens: true}
		params := c.withMeta(mcp.SetMember(nil, "notifications", text), c.revision)
		if c.start(c.ctx, p, params) != nil {
			return
		}
		u.work.Go(func() { c.relisten(p) })
	}
	for _, id := range before {
		c.endListen(id)
	}
}

// endListen ends one of our listen requests.
func (c *conn) endListen(id uint64) {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	delete(c.listens, id)
	c.mu.Unlock()
	if p != nil {
		c.cancel(c.ctx, p, "")
		p.answer <- answer{err: context.Canceled}
	}
}

// relisten listens again when the server ended a listen request that we did
// not. A server that refuses to be listened to is believed.
func (c *conn) relisten(p *pending) {
	select {
	case a := <-p.answer:
		if a.err != nil || a.rpcError != nil {
			return
		}
	case <-c.ctx.Done():
		return
	}
	select {
	case <-time.After(relistenAfter):
		c.listen()
	case <-c.ctx.Done():
	}
}
