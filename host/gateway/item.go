package gateway

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/upstream"
)

func callTool(r *request) ([]byte, *rpcError) {
	name, ok := mcp.TextMember(r.params, "name")
	if !ok {
		return nil, &rpcError{code: mcp.CodeInvalidParams, message: "tools/call needs a name"}
	}
	g := r.session.gw
	t, err := r.findTool(name)
	if err != nil {
		return nil, r.fault(err)
	}
	if wrong := r.checkParamHeaders(t); wrong != nil {
		return nil, wrong
	}
	return r.withUpstream(t.Server, func(ctx context.Context, u Use) (upstream.Reply, error) {
		reply, err := g.CallTool(ctx, t, u)
		if err == nil {
			err = r.recordTask(t, reply)
		}
		return reply, err
	})
}

// invalidArguments is the result of a call whose arguments do not fit: one that a model
// can read and do better after.
func (r *request) invalidArguments(bad *BadArguments) []byte {
	var text strings.Builder
	text.WriteString(bad.Error() + ":\n")
	for _, p := range bad.Problems {
		if p.Path != "" {
			text.WriteString(p.Path + " ")
		}
		text.WriteString(p.Message + "\n")
	}
	result := map[string]any{
		"content": []map[string]string{{"type": "text", "text": strings.TrimSpace(text.String())}},
		"isError": true,
		"_meta":   map[string]any{"junctor/reason": "arguments"},
	}
	if r.modern {
		result["resultType"] = "complete"
	}
	b, err := json.Marshal(result)
	if err != nil {
		panic(err) // strings can always be rendered
	}
	return b
}

func getPrompt(r *request) ([]byte, *rpcError) {
	name, ok := mcp.TextMember(r.params, "name")
	if !ok {
		return nil, &rpcError{code: mcp.CodeInvalidParams, message: "prompts/get needs a name"}
	}
	g := r.session.gw
	p, err := r.findPrompt(name)
	if err != nil {
		return nil, r.fault(err)
	}
	return r.withUpstream(p.Server, func(ctx context.Context, u Use) (upstream.Reply, error) { return g.GetPrompt(ctx, p, u) })
}

func readResource(r *request) ([]byte, *rpcError) {
	uri, ok := mcp.TextMember(r.params, "uri")
	if !ok {
		return nil, &rpcError{code: mcp.CodeInvalidParams, message: "resources/read needs a uri"}
	}
	g := r.session.gw
	at, err := g.Locate(r.ctx, r.session.Principal(), uri)
	if err != nil {
		return nil, r.noResource(uri, err)
	}
	return r.withUpstream(at.Server, func(ctx context.Context, u Use) (upstream.Reply, error) { return g.ReadResource(ctx, at, u) })
}

// noResource is the error of a resource that cannot be located. For one that
// there is not it has the URI as data, and a code of its own in the legacy era.
func (r *request) noResource(uri string, err error) *rpcError {
	if !fault.Is(err, fault.NameUnknown) {
		return r.fault(err)
	}
	code := mcp.CodeResourceNotFound
	if r.modern {
		code = mcp.CodeInvalidParams
	}
	if len(uri) > maxURI {
		uri = clip(uri)
	}
	return &rpcError{code: code, message: err.Error(), data: map[string]string{
		"reason": "unknown_name", "code": string(fault.NameUnknown), "uri": uri,
	}}
}

// complete completes an argument of a prompt or of a resource template.
func complete(r *request) ([]byte, *rpcError) {
	g := r.session.gw
	kind, _ := mcp.TextMember(r.params, "ref", "type")
	var item policy.Item
	params := r.params
	switch kind {
	case "ref/prompt":
		name, _ := mcp.TextMember(r.params, "ref", "name")
		p, err := g.FindPrompt(r.ctx, r.session.Principal(), name)
		if err != nil {
			return nil, r.fault(err)
		}
		item = policy.Item{Server: p.Server, Kind: policy.Prompt, Name: p.Name}
		if p.Name != name {
			params = mcp.SetPath(params, []string{"ref", "name"}, mcp.AppendText(nil, p.Name))
		}
	case "ref/resource":
		uri, _ := mcp.TextMember(r.params, "ref", "uri")
		g.ensure(r.ctx, lookUpTime, nil)
		if t, ok := g.catalog.Snapshot().Template(uri); ok && g.Visible(r.session.Principal(), policy.Template, t.Server, t.Name) {
			item = policy.Item{Server: t.Server, Kind: policy.Template, Name: t.Name}
		} else {
			at, err := g.Locate(r.ctx, r.session.Principal(), uri)
			if err != nil {
				return nil, r.fault(err)
			}
			item = policy.Item{Server: at.Server, Kind: policy.Resource, Name: at.URI}
		}
		if item.Name != uri {
			params = mcp.SetPath(params, []string{"ref", "uri"}, mcp.AppendText(nil, item.Name))
		}
	default:
		return nil, &rpcError{code: mcp.CodeInvalidParams, message: "ref needs a type: ref/prompt or ref/resource"}
	}
	return r.completeAt(item, params)
}

func (r *request) completeAt(item policy.Item, params []byte) ([]byte, *rpcError) {
	g := r.session.gw
	permit, err := g.permit(r.session.Principal(), item.Kind, item.Server, item.Name, nil)
	if err != nil {
		return nil, r.fault(err)
	}
	over, done, err := r.completionUpstream(item.Server)
	if err != nil {
		return nil, r.fault(err)
	}
	defer done()
	if err := over.Connect(r.ctx); err != nil {
		return nil, r.fault(err)
	}
	if !over.Status().Capable("completions") && over.Status().Revision >= mcp.Revision20250326 {
		return r.emptyCompletion(), nil
	}
	r.params = params
	u := r.newUse(item.Server)
	u.Upstream = over
	return r.convertReply(g.callUpstream(r.ctx, item.Server, permit, mcp.MethodComplete, u.Params, u, true))
}

// completionUpstream is the connection to ask for completions, in the course of which no
// server asks anything: for a modern client the one that all share.
func (r *request) completionUpstream(server string) (up *upstream.Upstream, done func(), err error) {
	if r.modern && r.session.gw.opts.Servers[server].Share == PerSession {
		return r.session.gw.upstreams[server], func() {}, nil
	}
	return r.session.upstreamFor(server)
}

func (r *request) emptyCompletion() []byte {
	if r.modern {
		return []byte(`{"completion":{"values":[],"total":0,"hasMore":false},"resultType":"complete"}`)
	}
	return []byte(`{"completion":{"values":[],"total":0,"hasMore":false}}`)
}
