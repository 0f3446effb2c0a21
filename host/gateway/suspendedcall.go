package gateway

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/junctor-mcp/junctor/host/connpool"
	"github.com/junctor-mcp/junctor/host/era"
	"github.com/junctor-mcp/junctor/host/fault"
	"github.com/junctor-mcp/junctor/host/limit"
	"github.com/junctor-mcp/junctor/host/mcp"
	"github.com/junctor-mcp/junctor/host/policy"
	"github.com/junctor-mcp/junctor/host/seal"
	"github.com/junctor-mcp/junctor/host/subscription"
	"github.com/junctor-mcp/junctor/host/upstream"
)

// gatherTime is how long to wait for further questions after the first, so that a client is asked once.
const gatherTime = 5 * time.Millisecond

// A suspendedCall is a call of a modern client to a legacy server, from the first request to the result. When
// the server asks something, the request ends with the question. The client sends it again with its answers,
// and the call continues. Three kinds of goroutines use it: its own, which calls the server and closes done;
// the ones of the client's requests, of which one waits in await at a time; and those of the server's
// questions, which wait in ask. The fields above mu are set before the first of them starts, but for reply and
// err. finish or abandon is called once and gives everything back.
type suspendedCall struct {
	gw     *Gateway
	use    *use // with which the call began
	conn   *connpool.Exclusive[*exclusivePeer]
	cancel context.CancelCauseFunc
	done   chan struct{}   // closed when the server has answered
	reply  *upstream.Reply // valid once done is closed
	err    error           // valid once done is closed
	asked  chan struct{}   // holds a token when there is something to ask
	leave  func()          // gives back the call's place under the limits of its tool

	mu         sync.Mutex
	current    *pendingRequest          // guarded by mu; the client's, that waits; nil: none does
	unanswered map[string]*openQuestion // guarded by mu; what was not answered yet, by key
	count      int                      // guarded by mu; of questions so far
}

// An openQuestion is a question of the server that the client has not answered. It does not
// change once it is in unanswered.
type openQuestion struct {
	number int // in the order of the call
	method string
	params []byte
	answer chan []byte // takes one result
}

// relayExclusive sends the request over a connection that it has for itself. It starts the
// goroutine of the call, which is part of work of the Gateway and may outlive the request.
func relayExclusive(ctx context.Context, u *use) (response, error) {
	g, server := u.gw, u.item.Server
	held, err := reserveParams(u)
	if err != nil {
		return response{}, err
	}
	call := newCall(u, nil)
	conn, err := acquireExclusive(u.pendingRequest, server)
	if err != nil {
		held.Release()
		return response{}, fault.In(server, err)
	}
	callCtx, cancel := context.WithCancelCause(context.Background())
	c := &suspendedCall{
		gw: g, use: u, conn: conn, cancel: cancel, done: make(chan struct{}), asked: make(chan struct{}, 1),
		leave: u.keepPlace(), current: u.pendingRequest, unanswered: map[string]*openQuestion{},
	}
	u.exchange.call = c
	conn.Peer.setCall(c)
	u.setServer(server)
	u.requestLogs(ctx)
	call.upstream = conn.Upstream
	if call.sent.Progress != nil {
		call.sent.Progress = c.forwardProgress
	}
	if level := u.gw.levels.withLog(conn.Upstream.Name(), u.level); level != "" {
		conn.Upstream.SetLevel(level)
	}
	g.work.Go(func() {
		defer close(c.done)
		defer held.Release()
		defer fault.Recover(&c.err, g.opts.Log, server, "serving "+u.method)
		c.reply, c.err = call.send(callCtx)
	})
	return c.await(ctx, u)
}

// resume goes on with a suspended call for the request that brings the answers of its client. The call keeps
// its place under the limits, its connection and its permit. It ends if the policy in effect denies it.
func (p *pipeline) resume(ctx context.Context, u *use, id seal.ID) (resp response, err error) {
	if err := p.resolve(ctx, u); err != nil { // the tool may be held back by now
		return response{}, err
	}
	c := p.suspended.take(id)
	if c == nil {
		return response{}, unlessDenied(u, refusedState(seal.ErrUsed))
	}
	if !bytes.Equal(c.use.bindState(), u.bindState()) { // the name or the pins have changed
		c.abandon(errRevoked)
		return response{}, unlessDenied(u, refusedState(seal.ErrInvalid))
	}
	announced := p.announce(u)
	defer func() { announced.end(u, resp, err) }()
	err = errPanicked // until there is an outcome
	if revoked(u) {
		u.denied = true
		c.abandon(errRevoked)
		return response{}, u.notFound()
	}
	u.setServer(u.item.Server)
	u.takeProgress()
	u.requestLogs(ctx)
	c.setRequest(u.pendingRequest)
	c.takeAnswers(mcp.Member(answersForServer(u.params), "inputResponses"))
	return c.await(ctx, u)
}

var errRevoked = fault.New(fault.Refused, "the policy does not allow this call any more")

// revoked reports whether the policy in effect denies a call that was allowed when it began.
// A call that was approved stays approved.
func revoked(u *use) bool {
	q := u.query(u.item)
	q.Args = u.arguments()
	return u.generation.Policy.Decide(&q).Verdict == policy.Deny
}

// reserveParams reserves the memory of a request that may wait for its client to come back.
func reserveParams(u *use) (*limit.Hold, error) {
	if len(u.params) <= limit.Small {
		return nil, nil // MaxSuspended bounds the memory of small requests
	}
	held, err := u.gw.opts.Budget.HoldFor(u.principal.Owner(), len(u.params))
	if err != nil {
		return nil, fault.Because(fault.GatewayOverloaded, err, "the request was not sent").WithHint("try again later")
	}
	return held, nil
}

// await waits until there is a result for a request, or something to ask its client.
func (c *suspendedCall) await(ctx context.Context, u *use) (response, error) {
	for open := false; !open; {
		select {
		case <-c.done:
			return c.finish(u)
		case <-c.asked:
			open = c.hasUnanswered()
		case <-ctx.Done():
			c.abandon(context.Cause(ctx))
			return response{}, fault.Because(fault.CallCanceled, ctx.Err(), "%s was given up", u.method)
		}
	}
	state, err := c.gw.suspended.add(c, u)
	if err != nil {
		c.abandon(err)
		return response{}, err
	}
	return response{result: c.inputRequired(state)}, nil
}

// hasUnanswered waits a moment for more questions and reports whether there are any that still want an answer.
func (c *suspendedCall) hasUnanswered() bool {
	more := time.NewTimer(gatherTime)
	defer more.Stop()
	select {
	case <-c.done:
		return false
	case <-more.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.unanswered) > 0
}

// finish releases the connection and converts the reply.
func (c *suspendedCall) finish(u *use) (response, error) {
	c.cancel(nil)
	c.release(c.err == nil)
	return (&call{use: u, upstream: c.conn.Upstream}).convert(c.reply, c.err)
}

// abandon cancels the call at the server and closes the connection. It waits until the
// goroutine of the call has ended.
func (c *suspendedCall) abandon(cause error) {
	c.cancel(cause)
	<-c.done
	c.reply.Release()
	c.release(false)
}

// release gives the connection back to the pool, and the place to the limiter.
func (c *suspendedCall) release(reusable bool) {
	c.leave()
	c.conn.Peer.setCall(nil)
	c.gw.conns.Release(c.conn, reusable)
}

// ask adds a question for the client and waits for the answer. A goroutine for each question of
// the server calls it.
func (c *suspendedCall) ask(ctx context.Context, method string, params []byte) (result, rpcErr []byte) {
	q := &openQuestion{method: method, params: params, answer: make(chan []byte, 1)}
	c.mu.Lock()
	if len(c.unanswered) >= era.MaxQuestions {
		c.mu.Unlock()
		return nil, mcp.ErrorObject(mcp.CodeInternal,
			fmt.Sprintf("more than %d questions wait for the client", era.MaxQuestions), nil)
	}
	c.count++
	q.number = c.count
	key := fmt.Sprintf("q%d", q.number)
	c.unanswered[key] = q
	c.mu.Unlock()
	c.signal()
	ctx, cancel := context.WithTimeout(ctx, AskTime)
	defer cancel()
	select {
	case result := <-q.answer:
		return result, nil
	case <-c.done:
		rpcErr = mcp.ErrorObject(mcp.CodeInternal, "the call that this is about is over",
			map[string]string{"reason": "over"})
	case <-ctx.Done():
		rpcErr = mcp.ErrorObject(mcp.CodeInternal, "the client did not answer", map[string]string{"reason": "timeout"})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unanswered, key)
	return nil, rpcErr
}

// signal wakes the waiting request, because there is a question.
func (c *suspendedCall) signal() {
	select {
	case c.asked <- struct{}{}:
	default:
	}
}

// inputRequired returns the result that asks the client the open questions.
func (c *suspendedCall) inputRequired(state string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	questions := []byte("{}")
	byAge := func(a, b string) int { return cmp.Compare(c.unanswered[a].number, c.unanswered[b].number) }
	for _, key := range slices.SortedFunc(maps.Keys(c.unanswered), byAge) {
		q := c.unanswered[key]
		value := mcp.SetMember(nil, "method", mcp.AppendText(nil, q.method))
		if q.params != nil {
			value = mcp.SetMember(value, "params", q.params)
		}
		questions = mcp.SetMember(questions, key, value)
	}
	return mcp.SetMember(era.InputRequired(questions), "requestState", mcp.AppendText(nil, state))
}

// takeAnswers delivers the client's answers to their questions. Those that it left out are asked again.
func (c *suspendedCall) takeAnswers(answers []byte) {
	c.mu.Lock()
	for key, q := range c.unanswered {
		if answer := mcp.Member(answers, key); len(answer) > 0 && answer[0] == '{' {
			delete(c.unanswered, key)
			q.answer <- answer
		}
	}
	left := len(c.unanswered) > 0
	c.mu.Unlock()
	if left {
		c.signal()
	}
}

// forwardProgress passes the progress of the call on to the request that waits for it. The
// reader of the server's connection calls forwardProgress and forwardLog; they do not wait.
func (c *suspendedCall) forwardProgress(params []byte) {
	if r := c.currentRequest(); r != nil {
		r.progress.report(params)
	}
}

// forwardLog passes a log message on to the request that waits, if it wants it.
func (c *suspendedCall) forwardLog(params []byte) {
	if r := c.currentRequest(); r != nil && r.level != "" && atLeast(params, r.level) {
		subscription.Notify(r.out, mcp.NoteMessage, params)
	}
}

// setRequest sets the client's request that waits; nil: none does.
func (c *suspendedCall) setRequest(r *pendingRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = r
}

func (c *suspendedCall) currentRequest() *pendingRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}
