package source

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/console"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
)

// tools are the tools of a process.
type tools struct{ *Process }

// List implements [console.Tools].
func (a tools) List() []*catalog.Tool { return a.Catalog.Snapshot().Tools }

// Find implements [console.Tools].
func (a tools) Find(exposed string) (*catalog.Tool, bool) {
	return a.Catalog.Snapshot().Tool(exposed)
}

// Call implements [console.Tools].
func (a tools) Call(ctx context.Context, c console.Caller, t *catalog.Tool, args []byte) (console.Result, error) {
	return askFor(ctx, a.Process, c, t.Server, mcp.MethodCallTool, map[string]any{
		"name":      t.Exposed,
		"arguments": json.RawMessage(args),
	})
}

// items are the resources and prompts of a process.
type items struct{ *Process }

// Items implements [console.ItemSource].
func (a items) Items() console.Items {
	s := a.Catalog.Snapshot()
	return console.Items{Resources: s.Resources, Templates: s.Templates, Prompts: s.Prompts}
}

// Read implements [console.ItemSource].
func (a items) Read(ctx context.Context, c console.Caller, server, uri string) (console.Result, error) {
	return askFor(ctx, a.Process, c, server, mcp.MethodReadResource, map[string]any{"uri": uri})
}

// Prompt implements [console.ItemSource].
func (a items) Prompt(
	ctx context.Context,
	c console.Caller,
	p *catalog.Prompt,
	args map[string]string,
) (console.Result, error) {
	return askFor(ctx, a.Process, c, p.Server, mcp.MethodGetPrompt, map[string]any{
		"name":      p.Exposed,
		"arguments": args,
	})
}

// askFor makes a request that passes all stages of the gateway, as one of a client with the
// principal does. server is the server whose item it is about. It blocks until the server has
// answered. The caller must release the Hold of the result.
func askFor(
	ctx context.Context,
	a *Process,
	c console.Caller,
	server, method string,
	params map[string]any,
) (console.Result, error) {
	params["_meta"] = map[string]any{
		mcp.MetaVersion: mcp.Revision20260728, mcp.MetaClientCaps: struct{}{},
		mcp.MetaClientInfo: map[string]string{"name": "junctor-console", "version": a.Version},
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return console.Result{}, err
	}
	m, err := mcp.Parse(text)
	if err != nil {
		return console.Result{}, fault.Because(fault.CallArguments, err, "the arguments cannot be sent")
	}
	x := gateway.Exchange{Out: silent{}, Principal: &c.Principal, Address: c.Address}
	answer := a.Gateway.Answer(ctx, m, x)
	return heldResult(a.Messages, c.Principal.Owner(), server, &answer.Message)
}

// resultCopies is how often the memory of a page has a result: as it came, as JSON that is
// masked and indented, as the parts that are shown, and as HTML.
const resultCopies = 4

// heldResult reads an answer, whose memory it gives back. The memory of the page with the result
// counts as that of other answers until the result's Hold is released.
func heldResult(
	memory *limit.Memory,
	owner limit.Owner,
	server string,
	m *sendqueue.Message,
) (r console.Result, err error) {
	defer m.Hold.Release()
	size := len(m.Head) + len(m.Body) + len(m.Tail)
	var held *limit.Hold
	if size > limit.Small { // the number of calls at a time bounds smaller ones
		if held, err = memory.HoldFor(owner, resultCopies*size); err != nil {
			return r, fault.In(server, gateway.DroppedAnswer(err))
		}
	}
	if r, err = resultOf(server, slices.Concat(m.Head, m.Body, m.Tail)); err != nil {
		held.Release()
		return r, err
	}
	r.Hold = held
	return r, nil
}

// resultOf reads the response to a request.
func resultOf(server string, response []byte) (console.Result, error) {
	if rpcError := mcp.Member(response, "error"); rpcError != nil {
		message, _ := mcp.TextMember(rpcError, "message")
		hint, _ := mcp.TextMember(rpcError, "data", "hint")
		return console.Result{}, fault.In(server, fault.New(fault.UpstreamError, "%s", message).WithHint("%s", hint))
	}
	result := mcp.Member(response, "result")
	if kind, _ := mcp.TextMember(result, "resultType"); kind == "input_required" {
		return console.Result{}, fault.In(server, fault.New(
			fault.CallInput, "the server asks its client something, which the console cannot answer",
		))
	}
	return console.Result{JSON: result, Failed: string(mcp.Member(result, "isError")) == "true"}, nil
}

// silent is the stream of a request whose progress is not shown.
type silent struct{}

func (silent) Send(_ context.Context, m sendqueue.Message) error { m.Hold.Release(); return nil }
func (silent) TrySend(m sendqueue.Message) bool                  { m.Hold.Release(); return true }
func (silent) Push(m sendqueue.Message) error                    { m.Hold.Release(); return nil }
func (silent) WaitForSpace(context.Context) error                { return nil }
