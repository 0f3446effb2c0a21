package gateway

import (
	"context"
	"time"

	"github.com/junctor-mcp/junctor/host/authn"
	"github.com/junctor-mcp/junctor/host/catalog"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A LocalClient is the command line as the client of servers. Its methods may be
// called concurrently.
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

// A LocalCall is a request of the command line. The item is known already.
type LocalCall struct {
	Method string
	Params []byte // with the item under its exposed name

	// One of these is what the call is about.
	Tool     *catalog.Tool
	Prompt   *catalog.Prompt
	Resource catalog.Location

	Timeout  time.Duration       // 0: the server's own
	Progress func(params []byte) // called with progress notifications; nil asks for none; must not wait
	// Warn is called with a defect of a tool that can be used all the same; nil: the
	// log has it.
	Warn func(text string)
	// Limited is set for a call that the limits of tools apply to, as to those of clients.
	Limited bool
}

// A localAnswerer answers questions of servers without a client of the gateway.
type localAnswerer struct {
	client    LocalClient // nil: there is none
	roots     []byte      // the result of roots/list for clients without roots; nil: none
	questions questionChecker
}

// absent says why no person of the command line can approve a call, or "".
func (a *localAnswerer) absent() string {
	if a.client == nil {
		return "there is no terminal"
	}
	return a.client.Absent()
}

// capabilities are those of the command line, with the configured roots.
func (a *localAnswerer) capabilities() []byte {
	caps := []byte("{}")
	if a.client != nil {
		caps = a.client.Capabilities()
	}
	return a.withRoots(caps)
}

// withRoots adds to the capabilities of a client that it has roots, when it has
// none itself and the gateway was given some.
func (a *localAnswerer) withRoots(caps []byte) []byte {
	if a.roots == nil || mcp.Member(caps, "roots") != nil {
		return caps
	}
	return mcp.SetMember(caps, "roots", []byte("{}"))
}

// givesRoots reports whether the gateway answers a question for roots in place
// of a client with these capabilities.
func (a *localAnswerer) givesRoots(caps []byte, method string) bool {
	return method == mcp.MethodRoots && a.roots != nil && mcp.Member(caps, "roots") == nil
}

// answer answers what a server asks the command line.
func (a *localAnswerer) answer(ctx context.Context, server, method string, params []byte) (result, rpcErr []byte) {
	caps := a.client.Capabilities()
	if a.givesRoots(caps, method) {
		return a.roots, nil
	}
	if err := a.questions.check(server, caps, method, params); err != nil {
		why, _ := mcp.TextMember(err, "message")
		a.client.Refused(server, method, why)
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, AskTime)
	defer cancel()
	return a.client.Answer(ctx, server, method, params)
}

// OfferLocal tells the catalog what servers are offered before any client came.
func (g *Gateway) OfferLocal() {
	if caps := g.shared.offer(); len(caps) > len("{}") {
		g.catalog.Offer(caps)
	}
}

// CallLocally sends a request of the command line through the stages to its
// server. The error is a [*BadArguments] or a fault.
func (g *Gateway) CallLocally(ctx context.Context, c LocalCall) (*upstream.Reply, error) {
	r := &pendingRequest{
		request: request{
			gw:         g,
			generation: g.generations.enter(),
			route:      routes[c.Method],
			principal:  authn.Local(),
			method:     c.Method,
			params:     c.Params,
			local:      &c,
		},
		cancel: func(error) {},
	}
	defer r.leaveGeneration()
	resp, err := g.serve(ctx, newUse(r))
	return resp.reply, err
}

// relayLocal sends the request, and again with the answers of the person at the
// terminal, until there is a result.
func (u *use) relayLocal(ctx context.Context) (response, error) {
	g, server := u.gw, u.item.Server
	c := newCall(u, u.generation.upstream(server))
	for round := 1; ; round++ {
		reply, err := c.send(ctx)
		if err != nil || g.local.client == nil {
			return response{reply: reply}, err
		}
		again, params := false, c.sent.Params
		switch {
		case asksForInput(reply) && round > maxRounds:
			err = tooManyRounds(server)
		case asksForInput(reply):
			again = true
			params, err = g.local.answerAll(ctx, server, params, reply.Result)
		case asksForVisits(reply) && round <= maxRounds:
			again = g.local.visitedAllPages(ctx, server, reply.Error)
		}
		if err == nil && !again {
			return response{reply: reply}, nil
		}
		reply.Release()
		if err != nil {
			return response{}, err
		}
		c.sent.Params = params
	}
}

// asksForVisits reports whether a reply of a legacy server is an error that asks the user
// to visit pages before the call is made again.
func asksForVisits(reply *upstream.Reply) bool {
	return !reply.Revision.Modern() && reply.Error != nil && era.IsURLElicitation(reply.Error)
}

// answerAll answers everything that a result of a modern server asks for, and
// returns the params of the request that goes on.
func (a *localAnswerer) answerAll(ctx context.Context, server string, params, result []byte) ([]byte, error) {
	answers, n := []byte("{}"), 0
	for key, question := range mcp.Members(mcp.Member(result, "inputRequests")) {
		if n++; n > era.MaxQuestions {
			return nil, tooManyQuestions(server)
		}
		method, _ := mcp.TextMember(question, "method")
		answer, rpcErr := a.answer(ctx, server, method, mcp.Member(question, "params"))
		if rpcErr != nil {
			if answer = declined(method, rpcErr); answer == nil {
				why, _ := mcp.TextMember(rpcErr, "message")
				return nil, fault.In(server, fault.New(fault.CallInput, "the server wants an answer to %s first: %s", clip(method), clip(why)).
					WithHint("run the command on a terminal, or use a client that can answer %q", clip(method)))
			}
		}
		answers = mcp.SetMember(answers, key, answer)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return era.WithAnswers(params, answers, result), nil
}

// visitedAllPages reports whether the user went to every page that an error names.
func (a *localAnswerer) visitedAllPages(ctx context.Context, server string, rpcErr []byte) bool {
	n := 0
	for page := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		if n++; n > era.MaxQuestions || page[0] != '{' {
			return false
		}
		answer, err := a.answer(ctx, server, mcp.MethodElicit, page)
		if action, _ := mcp.TextMember(answer, "action"); err != nil || action != "accept" {
			return false
		}
	}
	return n > 0
}
