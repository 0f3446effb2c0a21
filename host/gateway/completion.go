package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// resolveReference finds the prompt, the resource or the template whose argument is to be completed. This file
// serves completion/complete. Its functions run on the goroutine of the request.
func resolveReference(ctx context.Context, u *use) error {
	kind, _ := mcp.TextMember(u.params, "ref", "type")
	switch kind {
	case "ref/prompt":
		u.requested, _ = mcp.TextMember(u.params, "ref", "name")
		p, err := u.gw.finder.prompt(ctx, u, u.requested)
		if err != nil {
			return err
		}
		u.item = policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name}
		setReference(u, "name")
		return nil
	case "ref/resource":
		return resolveResourceReference(ctx, u)
	}
	return &rpcError{code: mcp.CodeInvalidParams, message: "ref needs a type: ref/prompt or ref/resource"}
}

// resolveResourceReference finds a template by its own text or a resource by its URI.
func resolveResourceReference(ctx context.Context, u *use) error {
	g := u.gw
	u.requested, _ = mcp.TextMember(u.params, "ref", "uri")
	g.finder.ensure(ctx, lookUpTime, resourceLists, nil)
	if t, ok := g.catalog.Snapshot().Template(u.requested); ok {
		u.item = policy.Item{Server: t.Server, Kind: policy.Template, Name: t.Name}
	} else {
		at, err := g.finder.locate(ctx, u.generation, u.principal, u.requested)
		if err != nil {
			return err
		}
		u.item = policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}
	}
	setReference(u, "uri")
	return nil
}

// setReference puts the server's own name of the item into the reference.
func setReference(u *use, member string) {
	if u.item.Name != u.requested {
		u.params = mcp.SetPath(u.params, []string{"ref", member}, mcp.AppendText(nil, u.item.Name))
	}
}

// complete asks the server of the item. A server without the capability has no completions.
func complete(ctx context.Context, u *use) (response, error) {
	up, release, err := completionUpstream(u.pendingRequest, u.item.Server)
	if err != nil {
		return response{}, err
	}
	c := newCall(u, up)
	reply, err := c.askCompletion(ctx)
	release(err == nil)
	if reply == nil && err == nil {
		return response{result: emptyCompletion(u)}, nil
	}
	return c.convert(reply, err)
}

// askCompletion returns the reply of a server, or nil if it has no completions.
func (c *call) askCompletion(ctx context.Context) (*upstream.Reply, error) {
	if err := c.upstream.Connect(ctx); err != nil {
		return nil, err
	}
	if s := c.upstream.Status(); !s.Capable("completions") && s.Revision >= mcp.Revision20250326 {
		return nil, nil
	}
	c.setServer(c.item.Server)
	c.requestLogs(ctx)
	return c.send(ctx)
}

// completionUpstream returns the connection for a completion, and a function that ends
// the use. A modern request has one for itself where share = "session": other connections
// have the credentials of another principal. The caller must call release once.
func completionUpstream(r *pendingRequest, server string) (
	_ *upstream.Upstream, release func(answered bool), _ error,
) {
	if !r.modern() || r.share(server) != PerSession {
		c, err := r.upstreamFor(server)
		return c.Upstream, func(bool) { c.done() }, err
	}
	c, err := acquireExclusive(r, server)
	if err != nil {
		return nil, nil, fault.In(server, err)
	}
	if level := r.gw.levels.withLog(c.Upstream.Name(), r.level); level != "" {
		c.Upstream.SetLevel(level)
	}
	return c.Upstream, func(answered bool) { r.gw.conns.Release(c, answered) }, nil
}

func emptyCompletion(u *use) []byte {
	if u.modern() {
		return []byte(`{"completion":{"values":[],"total":0,"hasMore":false},"resultType":"complete"}`)
	}
	return []byte(`{"completion":{"values":[],"total":0,"hasMore":false}}`)
}
