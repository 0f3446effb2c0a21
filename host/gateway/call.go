package gateway

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A Use is one use of an item by a principal.
type Use struct {
	Principal authn.Principal
	// Params are the client's, with the item under the name the client uses.
	Params []byte
	// Over is the connection to use; nil: the one that all clients share.
	Upstream *upstream.Upstream
	// Capabilities, Level, About and Progress are as in upstream.Call.
	Capabilities []byte
	Level        string
	About        any
	Progress     func(params []byte)
	Timeout      time.Duration
	// Warn is told what is wrong with a tool that can be used all the same; the
	// log is when it is nil.
	Warn func(text string)
}

// BadArguments reports arguments that do not fit a tool's schema. The server
// was not called.
type BadArguments struct {
	Tool     string
	Problems []schema.Problem
}

func (e *BadArguments) Error() string {
	return fmt.Sprintf("the arguments do not fit the schema of %s", e.Tool)
}

// CallTool calls a tool: it decides, checks the arguments, relays the call and
// looks at the result. The error is a [*BadArguments] or a fault.
func (g *Gateway) CallTool(ctx context.Context, t *catalog.Tool, u Use) (upstream.Reply, error) {
	args := mcp.Member(u.Params, "arguments")
	permit, err := g.permit(u.Principal, policy.Tool, t.Server, t.Name, args)
	if err != nil {
		return upstream.Reply{}, err
	}
	t, problems := g.validateArguments(ctx, t, u, args)
	if len(problems) > 0 {
		return upstream.Reply{}, &BadArguments{Tool: t.Exposed, Problems: problems}
	}
	params := u.Params
	if t.Exposed != t.Name {
		params = mcp.SetMember(params, "name", mcp.AppendText(nil, t.Name))
	}
	if sent := t.Arguments(args); !sameBytes(sent, args) {
		params = mcp.SetMember(params, "arguments", sent)
	}
	repeat := g.opts.Servers[t.Server].Repeat
	reply, err := g.callUpstream(ctx, t.Server, permit, mcp.MethodCallTool, params, u, repeat != nil && repeat(t.Name))
	if err == nil && reply.Error == nil {
		g.validateOutput(t, u, reply.Result)
	}
	return reply, err
}

// sameBytes reports whether a is b itself, not merely equal.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// validateArguments compares the arguments with the tool's schema. Lists that came from
// disk may be old: before it refuses anything because of one, it asks the
// server again, and returns the tool as it is now.
func (g *Gateway) validateArguments(ctx context.Context, t *catalog.Tool, u Use, args []byte) (*catalog.Tool, []schema.Problem) {
	problems := g.argumentProblems(t, u, args)
	if len(problems) == 0 || g.catalog.Fresh(t.Server) {
		return t, problems
	}
	if failed := g.catalog.Refresh(ctx, t.Server); len(failed) > 0 {
		return t, problems
	}
	now, ok := g.catalog.Snapshot().OwnTool(t.Server, t.Name)
	if !ok {
		return t, problems
	}
	return now, g.argumentProblems(now, u, args)
}

func (g *Gateway) argumentProblems(t *catalog.Tool, u Use, args []byte) []schema.Problem {
	for _, name := range t.Pinned() {
		if mcp.Member(args, name) != nil {
			return []schema.Problem{{Path: name, Message: "is fixed by the configuration"}}
		}
	}
	if t.Input == nil {
		return nil
	}
	s, err := g.schemas.Get(t.Input)
	if err != nil {
		g.warnOnce(t, u, schemaUnusable, "consequence", "its arguments are not checked", "error", err)
		return nil
	}
	if len(args) == 0 {
		args = []byte("{}")
	}
	args, unset := t.Unset(args)
	for _, name := range unset {
		if t.Needed(name) {
			return []schema.Problem{{Path: name, Message: "is required, so its default cannot be unset"}}
		}
	}
	return s.Check(args)
}

// FindTool returns the tool that clients call by this name, and the fault of
// one that is not there or not allowed: a client cannot tell the two apart.
func (g *Gateway) FindTool(ctx context.Context, p authn.Principal, exposed string) (*catalog.Tool, error) {
	t, ok := g.catalog.Snapshot().Tool(exposed)
	if !ok {
		// It may belong to a server that was not asked yet. A name without a
		// prefix could also be that of a server further up, so all are waited for.
		g.lookUpName(ctx, exposed, func(s *catalog.Snapshot) bool { t, ok := s.Tool(exposed); return ok && t.Name != exposed })
		t, ok = g.catalog.Snapshot().Tool(exposed)
	}
	if !ok || !g.Visible(p, policy.Tool, t.Server, t.Name) {
		return nil, g.unknown("tool", exposed)
	}
	return t, nil
}

// unknown is the fault of a name that is not known: that of the server it
// belongs to by its prefix, when nobody knows what that one has.
func (g *Gateway) unknown(kind, exposed string) error {
	if server, ok := g.catalog.Unlisted(exposed); ok {
		if err := g.upstreams[server].Status().Err; err != nil {
			return fault.In(server, err)
		}
	}
	return fault.New(fault.NameUnknown, "unknown %s %q", kind, exposed)
}

// FindPrompt is FindTool for prompts.
func (g *Gateway) FindPrompt(ctx context.Context, p authn.Principal, exposed string) (*catalog.Prompt, error) {
	pr, ok := g.catalog.Snapshot().Prompt(exposed)
	if !ok {
		g.lookUpName(ctx, exposed, func(s *catalog.Snapshot) bool { pr, ok := s.Prompt(exposed); return ok && pr.Name != exposed })
		pr, ok = g.catalog.Snapshot().Prompt(exposed)
	}
	if !ok || !g.Visible(p, policy.Prompt, pr.Server, pr.Name) {
		return nil, g.unknown("prompt", exposed)
	}
	return pr, nil
}

// GetPrompt asks for a prompt's messages.
func (g *Gateway) GetPrompt(ctx context.Context, p *catalog.Prompt, u Use) (upstream.Reply, error) {
	permit, err := g.permit(u.Principal, policy.Prompt, p.Server, p.Name, mcp.Member(u.Params, "arguments"))
	if err != nil {
		return upstream.Reply{}, err
	}
	var missing []string
	for _, a := range p.Arguments {
		if a.Required && mcp.Member(u.Params, "arguments", a.Name) == nil {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		return upstream.Reply{}, fault.New(fault.CallArguments, "prompt %q needs %s", p.Exposed, strings.Join(missing, ", ")).
			WithHint("the list of prompts says what each argument is")
	}
	params := u.Params
	if p.Exposed != p.Name {
		params = mcp.SetMember(params, "name", mcp.AppendText(nil, p.Name))
	}
	return g.callUpstream(ctx, p.Server, permit, mcp.MethodGetPrompt, params, u, true)
}

// callUpstream sends a request to a server.
func (g *Gateway) callUpstream(ctx context.Context, server string, permit policy.Permit, method string, params []byte, u Use, repeat bool) (upstream.Reply, error) {
	over := u.Upstream
	if over == nil {
		over = g.upstreams[server]
	}
	return over.Call(ctx, permit, upstream.Call{
		Method: method, Params: params, Repeat: repeat, Timeout: u.Timeout, Owner: u.Principal.Key(),
		Capabilities: u.Capabilities, Level: u.Level, About: u.About, Progress: u.Progress,
	})
}
