package gateway

import (
	"context"

	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// A clientQuestion is a request to a client: of a server, or of the gateway for an approval.
// The maker fills all fields; it is read-only from then on. This file has the loop that
// relay.go runs between a server that asks and a client that answers.
type clientQuestion struct {
	server   string // that asks; empty: the gateway
	upstream *upstream.Upstream
	method   string
	params   []byte
	to       Stream // takes the question to a legacy client
}

// settle answers a question that no client with these capabilities gets: with the configured
// roots, or with an error.
func (a *localAnswerer) settle(caps []byte, q clientQuestion) (result, rpcErr []byte, settled bool) {
	return a.filter.Settle(q.server, caps, q.method, q.params)
}

// A modern server that needs input ends the request with a result that asks for it (2026-07-28, "Multi
// Round-Trip Requests"). A legacy client is asked as legacy servers ask, and the user of the command line at
// the terminal. The request is sent again with the answers. A modern client gets the result.

// maxRounds bounds the rounds of questions in the course of one request.
const maxRounds = 10

// answers returns the params with which a call goes on after a reply that asks its client
// something. They are nil if the reply is the end of the call. It runs on the goroutine of the
// request, or of the suspended call, and blocks until the client has answered.
func (c *call) answers(ctx context.Context, reply *upstream.Reply, round int) (params []byte, err error) {
	if c.client.era() == era.Modern {
		return nil, nil
	}
	if t, ok := c.client.(*terminal); ok && t.user == nil {
		return nil, nil
	}
	switch {
	case asksForInput(reply) && round > maxRounds:
		return nil, tooManyRounds(c.item.Server)
	case asksForInput(reply):
		return c.answerAll(ctx, reply.Result)
	case c.client.era() == era.Both && asksForPages(reply) && round <= maxRounds && visitedAll(ctx, c, reply.Error):
		return c.sent.Params, nil
	}
	return nil, nil
}

// asksForInput reports whether a reply asks for something before there is a result.
func asksForInput(reply *upstream.Reply) bool {
	return reply.Error == nil && reply.Revision.Modern() && era.IsInputRequired(reply.Result)
}

// asksForPages reports whether a reply of a legacy server is an error that asks the user
// to visit pages before the call is made again.
func asksForPages(reply *upstream.Reply) bool {
	return !reply.Revision.Modern() && reply.Error != nil && era.IsURLElicitation(reply.Error)
}

// answerAll asks the client everything that a result of a modern server asks for, and
// returns the params of the request that goes on.
func (c *call) answerAll(ctx context.Context, result []byte) (params []byte, err error) {
	asked, answers, n := mcp.Member(result, "inputRequests"), []byte("{}"), 0
	for range mcp.Members(asked) {
		if n++; n > era.MaxQuestions {
			return nil, tooManyQuestions(c.item.Server)
		}
	}
	for key, one := range mcp.Members(asked) {
		method, _ := mcp.TextMember(one, "method")
		answer, rpcErr := c.put(ctx, method, mcp.Member(one, "params"))
		if ctx.Err() != nil { // the client does not wait for the result
			return nil, context.Cause(ctx)
		}
		if rpcErr != nil {
			if answer = question.Declined(method, rpcErr); answer == nil {
				return nil, noAnswer(c, method, rpcErr)
			}
		}
		answers = mcp.SetMember(answers, key, answer)
	}
	params = mcp.DeleteMember(c.sent.Params, "inputResponses") // those of the round before
	return era.WithAnswers(params, answers, result), nil
}

// put puts a question of the server to the client. The time of the request does not pass meanwhile.
func (c *call) put(ctx context.Context, method string, params []byte) (result, rpcErr []byte) {
	if c.client.era() == era.Legacy {
		params = era.QuestionToLegacy(method, params)
	}
	defer c.clock.pause()()
	return c.client.ask(ctx, clientQuestion{
		server:   c.item.Server,
		upstream: c.upstream,
		method:   method,
		params:   params,
		to:       c.out,
	})
}

// visitedAll reports whether the user went to every page that an error names.
func visitedAll(ctx context.Context, c *call, rpcErr []byte) bool {
	n := 0
	for page := range mcp.Elements(mcp.Member(rpcErr, "data", "elicitations")) {
		if n++; n > era.MaxQuestions || page[0] != '{' {
			return false
		}
		answer, err := c.put(ctx, mcp.MethodElicit, page)
		if action, _ := mcp.TextMember(answer, "action"); err != nil || action != "accept" {
			return false
		}
	}
	return n > 0
}

// noAnswer is the error of a request whose server needs an answer that the client does not give.
func noAnswer(c *call, method string, rpcErr []byte) error {
	why, _ := mcp.TextMember(rpcErr, "message")
	text := "the server wants an answer to %s, which the client did not give: %s"
	hint := "use a client that can answer %q"
	if c.client.era() == era.Both {
		text = "the server wants an answer to %s first: %s"
		hint = "run the command on a terminal, or " + hint
	}
	return fault.In(
		c.item.Server, fault.New(fault.CallInput, text, clip(method), clip(why)).WithHint(hint, clip(method)),
	)
}

func tooManyRounds(server string) error {
	return fault.In(server, fault.New(fault.CallInput, "the server asked the user more than %d times", maxRounds))
}

func tooManyQuestions(server string) error {
	return fault.In(
		server, fault.New(fault.CallInput, "the server asks for more than %d things at once", era.MaxQuestions),
	)
}
