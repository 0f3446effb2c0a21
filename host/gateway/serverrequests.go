package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/junctor-mcp/junctor/host/gateway/question"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/sendqueue"
	"github.com/junctor-mcp/junctor/host/subscription"
)

// AskTime limits the wait for a client, and for the person behind it, to answer a question of a server.
const AskTime = 10 * time.Minute

// programTime is AskTime for questions that the client's program answers, without a person.
const programTime = 5 * time.Second

// askTime limits the wait for the answer to a question of a server.
func askTime(method string) time.Duration {
	if mcp.NeedsPerson(method) {
		return AskTime
	}
	return programTime
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
// client's response. It runs on the goroutine of the server's request or of the gateway's own
// question, and blocks until the client answers, the session ends or askTime has passed.
func (s *Session) ask(ctx context.Context, q clientQuestion) (result, rpcErr []byte) {
	if result, rpcErr, settled := s.gw.local.settle(s.capabilities(), q); settled {
		return result, rpcErr
	}
	method, params, to := q.method, q.params, q.to
	ctx, cancel := context.WithTimeout(ctx, askTime(method))
	defer cancel()
	waiting := &question.Waiting{
		Answer: make(chan *mcp.Message, 1),
		Token:  progressToken(params),
		Server: q.upstream,
	}
	id := s.questions.Add(waiting)
	defer s.questions.Remove(id)
	defer s.gw.clientWaits.begin(q.upstream)()
	text := strconv.AppendUint(nil, id, 10)
	if waiting.Token != nil {
		params = mcp.SetPath(params, []string{"_meta", "progressToken"}, text)
	}
	if method == mcp.MethodElicit {
		s.pages.Remember(q.server, params)
	}
	if err := to.Send(ctx, sendqueue.Text(mcp.AppendRequest(nil, text, method, params))); err != nil {
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client cannot be asked", nil)
	}
	select {
	case m := <-waiting.Answer:
		return question.WithoutNulls(m)
	case <-s.ctx.Done():
		return nil, mcp.ErrorObject(mcp.CodeInternal, "the client has gone", nil)
	case <-ctx.Done():
		subscription.Notify(to, mcp.NoteCancelled,
			fmt.Appendf(nil, `{"requestId":%d,"reason":"the server no longer wants it"}`, id))
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
