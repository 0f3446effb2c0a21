package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/schema"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/subscription"
)

// AskTime limits the wait for a client, and for the person behind it, to answer a
// question of a server.
const AskTime = 10 * time.Minute

// programTime is AskTime for questions that the client's program answers, without a
// person.
const programTime = 5 * time.Second

// askTime limits the wait for the answer to a question of a server.
func askTime(method string) time.Duration {
	if mcp.NeedsPerson(method) {
		return AskTime
	}
	return programTime
}

// relayedMethods holds the methods of server requests that are relayed to clients, with
// the client capability that each needs.
var relayedMethods = map[string]string{
	mcp.MethodSample: "sampling",
	mcp.MethodElicit: "elicitation",
	mcp.MethodRoots:  "roots",
}

// noCapability is the reason in the error of a question that the client lacks the
// capability for.
const noCapability = "no_capability"

// serverFacingCapabilities returns a client's capabilities without those that servers
// must not use. It keeps roots, sampling, elicitation and the extensions.
func serverFacingCapabilities(caps []byte) []byte {
	out := []byte("{}")
	for _, name := range []string{"roots", "sampling", "elicitation", "extensions"} {
		if v := mcp.Member(caps, name); v != nil {
			out = mcp.SetMember(out, name, v)
		}
	}
	return out
}

// checkQuestion returns a JSON-RPC error if a client with these capabilities cannot
// answer a question, and nil otherwise.
func checkQuestion(caps []byte, method string, params []byte) (rpcErr []byte) {
	capability, known := relayedMethods[method]
	switch {
	case !known:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, "method not found: "+clip(method), nil)
	case mcp.Member(caps, capability) == nil:
		return mcp.ErrorObject(mcp.CodeMethodNotFound, fmt.Sprintf("the client does not have the capability %q", capability),
			map[string]string{"reason": noCapability})
	}
	if err := missingSubCapability(mcp.Member(caps, capability), method, params); err != "" {
		return mcp.ErrorObject(mcp.CodeInvalidParams, err, map[string]string{"reason": noCapability})
	}
	if method == mcp.MethodElicit {
		if asked := mcp.Member(params, "requestedSchema"); asked != nil {
			if err := schema.VetElicitation(asked); err != nil {
				return mcp.ErrorObject(mcp.CodeInvalidParams, "requestedSchema: "+err.Error(), nil)
			}
		}
	}
	return nil
}

// missingSubCapability returns the member of a capability that a question needs and the
// client lacks, or "".
func missingSubCapability(capability []byte, method string, params []byte) string {
	has := func(name string) bool { return mcp.Member(capability, name) != nil }
	mode, _ := mcp.TextMember(params, "mode")
	switch {
	case method == mcp.MethodElicit && mode == "url" && !has("url"):
		return "the client does not have the capability \"elicitation.url\""
	case method == mcp.MethodElicit && mode != "url" && has("url") && !has("form"):
		return "the client does not have the capability \"elicitation.form\""
	case method == mcp.MethodSample && !has("tools") && (mcp.Member(params, "tools") != nil || mcp.Member(params, "toolChoice") != nil):
		return "the client does not have the capability \"sampling.tools\""
	}
	return ""
}

// noClient returns the error of a question that no client can answer.
func noClient(method string) (rpcErr []byte) {
	return mcp.ErrorObject(mcp.CodeMethodNotFound, "there is no client that could answer "+clip(method), map[string]string{"reason": "no_client"})
}

// streamFor returns the stream for a message of a server: that of the request that the
// message is about, of a request that the server answers, or of the session.
func streamFor(s *Session, about any, server string) Stream {
	if r, ok := about.(*pendingRequest); ok && r.session == s {
		return r.out
	}
	if r := s.inFlight.find(func(r *pendingRequest) bool { return r.serverName() == server }); r != nil {
		return r.out
	}
	return s.client.Out
}

// ask sends a question to a legacy client, on the stream that it belongs to, and returns the
// client's response.
func (s *Session) ask(ctx context.Context, q question) (result, rpcErr []byte) {
	if result, rpcErr, settled := s.gw.local.settle(s.capabilities(), q); settled {
		return result, rpcErr
	}
	method, params, to := q.method, q.params, q.to
	ctx, cancel := context.WithTimeout(ctx, askTime(method))
	defer cancel()
	pending := &pendingQuestion{answer: make(chan *mcp.Message, 1), token: progressToken(params), server: q.upstream}
	id := s.questions.add(pending)
	defer s.questions.remove(id)
	defer s.gw.clientWaits.begin(q.upstream)()
	text := strconv.AppendUint(nil, id, 10)
	if pending.token != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, text)
	}
	if method == mcp.MethodElicit {
		s.pendingURLs.remember(q.server, params)
	}
	if err := to.Send(ctx, sendqueue.Text(mcp.AppendRequest(nil, text, method, params))); err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client cannot be asked", nil)
	}
	select {
	case m := <-pending.answer:
		return withoutNullAnswer(m)
	case <-s.ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client has gone", nil)
	case <-ctx.Done():
		subscription.Notify(to, mcp.NoteCancelled, fmt.Appendf(nil, `{"requestId":%d,"reason":"the server no longer wants it"}`, id))
		return nil, unansweredBy(ctx, method)
	}
}

// unansweredBy returns the error of a question whose context has ended.
func unansweredBy(ctx context.Context, method string) (rpcErr []byte) {
	message := "the client did not answer"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message += fmt.Sprintf(" within %s", askTime(method))
	}
	return mcp.ErrorObject(mcp.CodeInternal, message, map[string]string{"reason": "timeout"})
}
