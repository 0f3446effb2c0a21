package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
)

// resolveTool finds the tool that a client calls, and makes the params that its
// server gets. It is the stage resolve of tools/call, and validateCall the stage validate; both
// run on the goroutine of the request and may wait for a server's list.
func resolveTool(ctx context.Context, u *use) error {
	name, ok := mcp.TextMember(u.params, "name")
	if !ok {
		return &rpcError{code: mcp.CodeInvalidParams, message: "tools/call needs a name"}
	}
	defer reportStartOf(u.pendingRequest, name)()
	t, err := u.gw.finder.tool(ctx, u, name)
	if err != nil {
		return err
	}
	u.setTool(t)
	return nil
}

// setTool sets the item, and puts the server's own name, pins and defaults into
// the params: everything after resolve sees what the server gets.
func (u *use) setTool(t *catalog.Tool) {
	u.tool, u.item = t, policy.Item{Server: t.Server, Kind: policy.Tool, Name: t.Name}
	if u.observation != nil {
		u.observation.Found(t.Exposed)
	}
	u.requested, u.given = t.Exposed, mcp.Member(u.params, "arguments")
	if t.Exposed != t.Name {
		u.params = mcp.SetMember(u.params, "name", mcp.AppendText(nil, t.Name))
	}
	if sent := t.Arguments(u.given); !sameBytes(sent, u.given) {
		u.params = mcp.SetMember(u.params, "arguments", sent)
	}
}

// arguments returns the arguments of a tool call as the server gets them; nil for any other request.
func (u *use) arguments() []byte {
	if u.method != mcp.MethodCallTool {
		return nil
	}
	return mcp.Member(u.params, "arguments")
}

// sameBytes reports whether a and b are the same slice in memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// notFound returns the error that a client gets for an item that it may not use:
// the same as for one that does not exist.
func (u *use) notFound() error {
	switch {
	case u.task != "":
		return unknownTask()
	case u.item.Kind == policy.Tool:
		return u.gw.finder.unknown(u, policy.Tool, u.requested)
	case u.item.Kind == policy.Prompt:
		return u.gw.finder.unknown(u, policy.Prompt, u.requested)
	case u.method == mcp.MethodComplete:
		return u.generation.unlistedResource(u.requested)
	}
	return noResource(u, u.requested, u.generation.unlistedResource(u.requested))
}

// validateCall compares the tool with its pin, a call with the headers that repeat its
// arguments, and the arguments with the tool's schema.
func validateCall(ctx context.Context, u *use) error {
	if err := checkPin(ctx, u); err != nil {
		return err
	}
	if err := checkParamHeaders(u); err != nil {
		return err
	}
	if problems := validateArguments(ctx, u); len(problems) > 0 {
		return &BadArguments{Tool: u.tool.Exposed, Problems: problems}
	}
	return nil
}

// checkPin refuses the call of a tool that is held back once the server is asked for its tools.
func checkPin(ctx context.Context, u *use) error {
	g, t := u.gw, u.tool
	if !u.generation.Servers[t.Server].Pinned {
		return nil
	}
	share := u.share(t.Server)
	pinned, err := g.catalog.EnsurePinned(ctx, t.Server, share != PerTenant && share != PerSession)
	if !pinned || err != nil {
		return err
	}
	now, ok := g.catalog.Snapshot().OwnTool(t.Server, t.Name)
	if !ok {
		return g.finder.held(u, u.requested)
	}
	u.tool = now
	return nil
}

// validateArguments compares the arguments that the client gave with the schema that it was shown. Lists that
// came from disk may be old: before arguments are refused because of one, the server is asked again.
func validateArguments(ctx context.Context, u *use) []schema.Problem {
	g, t := u.gw, u.tool
	problems := g.tools.arguments(u.tool, u.given, u.warn)
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
	u.tool = now
	return g.tools.arguments(u.tool, u.given, u.warn)
}
