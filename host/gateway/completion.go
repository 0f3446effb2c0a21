package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
)

// resolveReference finds the prompt, the resource or the template whose argument
// is to be completed.
func resolveReference(ctx context.Context, r *request) error {
	kind, _ := mcp.TextMember(r.params, "ref", "type")
	switch kind {
	case "ref/prompt":
		r.requested, _ = mcp.TextMember(r.params, "ref", "name")
		p, err := r.gw.finder.prompt(ctx, r.generation, r.requested)
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
	g.finder.ensure(ctx, lookUpTime, nil)
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
	server := r.item.Server
	up, err := r.completionUpstream(server)
	if err != nil {
		return response{}, err
	}
	defer up.done()
	if err := up.Connect(ctx); err != nil {
		return response{}, err
	}
	if !up.Status().Capable("completions") && up.Status().Revision >= mcp.Revision20250326 {
		return response{result: r.emptyCompletion()}, nil
	}
	r.setServer(server)
	r.requestLogs(ctx)
	return r.convert(r.send(ctx, up.Upstream, r.call()))
}

// completionUpstream returns the connection for requests in whose course a server
// asks nothing: for a modern client the one that all clients share.
func (r *request) completionUpstream(server string) (connection, error) {
	if r.modern && r.generation.Servers[server].Share == PerSession {
		return r.generation.sharedConnection(server), nil
	}
	return r.upstreamFor(server)
}

func (r *request) emptyCompletion() []byte {
	if r.modern {
		return []byte(`{"completion":{"values":[],"total":0,"hasMore":false},"resultType":"complete"}`)
	}
	return []byte(`{"completion":{"values":[],"total":0,"hasMore":false}}`)
}
