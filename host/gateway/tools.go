package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

// resolveTool finds the tool that a client calls, and makes the params that its
// server gets.
func resolveTool(ctx context.Context, r *request) error {
	if r.local != nil {
		r.setTool(r.local.Tool)
		return nil
	}
	name, ok := mcp.TextMember(r.params, "name")
	if !ok {
		return &rpcError{code: mcp.CodeInvalidParams, message: "tools/call needs a name"}
	}
	defer r.reportStartOf(name)()
	t, err := r.gw.finder.tool(ctx, r, name)
	if err != nil {
		return err
	}
	r.setTool(t)
	return nil
}

// setTool sets the item, and puts the server's own name, pins and defaults into
// the params: everything after resolve sees what the server gets.
func (r *request) setTool(t *catalog.Tool) {
	r.tool, r.item = t, policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}
	if r.observation != nil {
		r.observation.Found(t.Exposed)
	}
	r.requested, r.given = t.Exposed, mcp.Member(r.params, "arguments")
	if t.Exposed != t.Name {
		r.params = mcp.SetMember(r.params, "name", mcp.AppendText(nil, t.Name))
	}
	if sent := t.Arguments(r.given); !sameBytes(sent, r.given) {
		r.params = mcp.SetMember(r.params, "arguments", sent)
	}
}

// sameBytes reports whether a and b are the same slice in memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// notFound returns the error that a client gets for an item that it may not use:
// the same as for one that does not exist.
func (r *request) notFound() error {
	switch {
	case r.task != "":
		return unknownTask()
	case r.item.Kind == policy.Tool:
		return r.gw.finder.unknown(r, policy.Tool, r.requested)
	case r.item.Kind == policy.Prompt:
		return r.gw.finder.unknown(r, policy.Prompt, r.requested)
	case r.method == mcp.MethodComplete:
		return r.generation.unlistedResource(r.requested)
	}
	return r.noResource(r.requested, r.generation.unlistedResource(r.requested))
}

// validateCall compares the tool with its pin, a call with the headers that repeat its
// arguments, and the arguments with the tool's schema.
func validateCall(ctx context.Context, r *request) error {
	if err := r.checkPin(ctx); err != nil {
		return err
	}
	if err := r.checkParamHeaders(); err != nil {
		return err
	}
	if problems := r.validateArguments(ctx); len(problems) > 0 {
		return &BadArguments{Tool: r.tool.Exposed, Problems: problems}
	}
	return nil
}

// checkPin refuses the call of a tool that is held back once the server is asked for its tools.
func (r *request) checkPin(ctx context.Context) error {
	g, t := r.gw, r.tool
	of := r.generation.Servers[t.Server]
	if !of.Pinned {
		return nil
	}
	pinned, err := g.catalog.EnsurePinned(ctx, t.Server, r.local != nil || of.Share != PerTenant && of.Share != PerSession)
	if !pinned || err != nil {
		return err
	}
	now, ok := g.catalog.Snapshot().OwnTool(t.Server, t.Name)
	if !ok {
		return g.finder.held(r, r.requested)
	}
	r.tool = now
	return nil
}

// validateArguments compares the arguments that the client gave with the schema
// that it was shown. Lists that came from disk may be old: before arguments are
// refused because of one, the server is asked again.
func (r *request) validateArguments(ctx context.Context) []schema.Problem {
	g, t := r.gw, r.tool
	problems := g.tools.arguments(r.tool, r.given, r.warner())
	if len(problems) == 0 || g.catalog.Fresh(t.Server) {
		return problems
	}
	if failed := g.catalog.RefreshLists(ctx, toolLists, t.Server); len(failed) > 0 {
		return problems
	}
	now, ok := g.catalog.Snapshot().OwnTool(t.Server, t.Name)
	if !ok {
		return problems
	}
	r.tool = now
	return g.tools.arguments(r.tool, r.given, r.warner())
}

// warner returns the function that is told of a tool's defects; nil: the log is.
func (r *request) warner() func(text string) {
	if r.local == nil {
		return nil
	}
	return r.local.Warn
}
