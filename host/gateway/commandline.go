package gateway

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A LocalClient is the command line as the client of servers. Its methods may be called concurrently. Package
// invocation of the command line implements it. The gateway never ends it.
type LocalClient interface {
	// Capabilities are what servers may ask it for: a JSON object.
	Capabilities() []byte
	// Answer answers a question that the capabilities allow.
	Answer(ctx context.Context, server, method string, params []byte) (result, rpcErr []byte)
	// Absent says why its person cannot approve a call, or "".
	Absent() string
	// Refused reports a question that was declined, and why.
	Refused(server, method, why string)
}

// A LocalCall is a request of the command line. The item is known already. The caller fills it,
// and must not change it until CallLocally has returned.
type LocalCall struct {
	Method string
	Params []byte // with the item under its exposed name

	// One of these is what the call is about.
	Tool     *catalog.Tool
	Prompt   *catalog.Prompt
	Resource catalog.Location

	Timeout  time.Duration       // 0: the server's own
	Progress func(params []byte) // called with progress notifications; nil asks for none; must not wait
	// Warn is called with a defect of a tool that can be used all the same; nil: the log has it.
	Warn func(text string)
	// Limited is set for a call that the limits of tools apply to, as to those of clients.
	Limited bool
}

// resolve sets the item, which the command knows already.
func (c *LocalCall) resolve(_ context.Context, u *use) error {
	switch {
	case c.Tool != nil:
		u.setTool(c.Tool)
	case c.Prompt != nil:
		u.setPrompt(c.Prompt)
	default:
		u.setResource(c.Resource)
	}
	return nil
}

// A localAnswerer answers questions of servers without a client of the gateway. It is immutable
// after New and may be used concurrently.
type localAnswerer struct {
	user   LocalClient // nil: there is none
	filter question.Filter
}

// absent says why no person of the command line can approve a call, or "".
func (a *localAnswerer) absent() string {
	if a.user == nil {
		return "there is no terminal"
	}
	return a.user.Absent()
}

// capabilities are those of the command line, with the configured roots.
func (a *localAnswerer) capabilities() []byte {
	caps := []byte("{}")
	if a.user != nil {
		caps = a.user.Capabilities()
	}
	return a.filter.Offer(caps)
}

// answer puts a question to the user of the command line. A question of the gateway may wait
// for as long as the user needs.
func (a *localAnswerer) answer(ctx context.Context, q clientQuestion) (result, rpcErr []byte) {
	result, rpcErr, settled := a.settle(a.user.Capabilities(), q)
	if rpcErr != nil {
		why, _ := mcp.TextMember(rpcErr, "message")
		a.user.Refused(q.server, q.method, why)
	}
	if settled {
		return result, rpcErr
	}
	if q.server != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, AskTime)
		defer cancel()
	}
	return a.user.Answer(ctx, q.server, q.method, q.params)
}

// OfferLocal tells the catalog what servers are offered before any client came.
func (g *Gateway) OfferLocal() {
	if caps := g.shared.offer(); len(caps) > len("{}") {
		g.catalog.Offer(caps)
	}
}

// CallLocally sends a request of the command line through the stages to its
// server. The error is a [*BadArguments] or a fault. It blocks until the server has answered or
// ctx ends, and may be called concurrently. The caller owns the reply and releases it.
func (g *Gateway) CallLocally(ctx context.Context, c LocalCall) (*upstream.Reply, error) {
	how := routes[c.Method]
	how.resolve, how.login = c.resolve, false
	r := &pendingRequest{
		request: request{
			gw:         g,
			generation: g.generations.enter(),
			route:      how,
			principal:  authn.Local(),
			client:     &terminal{g.local, &c},
			method:     c.Method,
			params:     c.Params,
			transport:  "cli",
			seesAll:    true,
			limited:    c.Limited,
			warn:       c.Warn,
		},
		cancel: func(error) {},
	}
	defer r.leaveGeneration()
	resp, err := g.serve(ctx, newUse(r))
	return resp.reply, err
}
