package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// resolveReference finds the prompt, the resource or the template whose argument
// is to be completed.
func resolveReference(ctx context.Context, r *request) error {
	kind, _ := mcp.TextMember(r.params, "ref", "type")
	switch kind {
	case "ref/prompt":
		r.requested, _ = mcp.TextMember(r.params, "ref", "name")
		p, err := r.gw.finder.prompt(ctx, r, r.requested)
		if err != nil {
			return err
		}
		r.item = policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name}
		r.setReference("name")
		return nil
	case "ref/resource":
		return r.resolveResourceReference(ctx)
	}
	return &rpcError{code: mcp.CodeInvalidParams, message: "ref needs a type: ref/prompt or ref/resource"}
}

// resolveResourceReference finds a template by its own text or a resource by its
// URI.
func (r *request) resolveResourceReference(ctx context.Context) error {
	g := r.gw
	r.requested, _ = mcp.TextMember(r.params, "ref", "uri")
	g.finder.ensure(ctx, lookUpTime, resourceLists, nil)
	if t, ok := g.catalog.Snapshot().Template(r.requested); ok {
		r.item = policy.Item{Server: t.Server, Kind: policy.Template, Name: t.Name}
	} else {
		at, err := g.finder.locate(ctx, r.generation, r.principal, r.requested)
		if err != nil {
			return err
		}
		r.item = policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}
	}
	r.setReference("uri")
	return nil
}

// setReference puts the server's own name of the item into the reference.
func (r *request) setReference(member string) {
	if r.item.Name != r.requested {
		r.params = mcp.SetPath(r.params, []string{"ref", member}, mcp.AppendText(nil, r.item.Name))
	}
}

// complete asks the server of the item. A server without the capability has no
// completions.
func complete(ctx context.Context, r *request) (response, error) {
	up, release, err := r.completionUpstream(r.item.Server)
	if err != nil {
		return response{}, err
	}
	reply, err := r.askCompletion(ctx, up)
	release(err == nil)
	if reply == nil && err == nil {
		return response{result: r.emptyCompletion()}, nil
	}
	return r.convert(reply, err)
}

// askCompletion returns the reply of a server, or nil if it has no completions.
func (r *request) askCompletion(ctx context.Context, up *upstream.Upstream) (*upstream.Reply, error) {
	if err := up.Connect(ctx); err != nil {
		return nil, err
	}
	if !up.Status().Capable("completions") && up.Status().Revision >= mcp.Revision20250326 {
		return nil, nil
	}
	r.setServer(r.item.Server)
	r.requestLogs(ctx)
	return r.send(ctx, up, r.call())
}

// completionUpstream returns the connection for a completion, and a function that ends
// the use. A modern request has one for itself where share = "session": other connections
// have the credentials of another principal.
func (r *request) completionUpstream(server string) (_ *upstream.Upstream, release func(answered bool), _ error) {
	if !r.modern || r.generation.Servers[server].Share != PerSession {
		c, err := r.upstreamFor(server)
		return c.Upstream, func(bool) { c.done() }, err
	}
	c, err := r.acquireExclusive(server)
	if err != nil {
		return nil, nil, fault.In(server, err)
	}
	if level := r.gw.levels.withLog(c.Upstream.Name(), r.level); level != "" {
		c.Upstream.SetLevel(level)
	}
	return c.Upstream, func(answered bool) { r.gw.conns.Release(c, answered) }, nil
}

func (r *request) emptyCompletion() []byte {
	if r.modern {
		return []byte(`{"completion":{"values":[],"total":0,"hasMore":false},"resultType":"complete"}`)
	}
	return []byte(`{"completion":{"values":[],"total":0,"hasMore":false}}`)
}
